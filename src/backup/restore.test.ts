// Restores of small folders of backups: into folders that exist or not, killed at each late step.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { addBackup, newBackupFolder } from "../../test/support/backup-folder.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace } from "../../test/support/process.ts";
import { lockDataFolder, restoreMarkName, StartRefused } from "../data-folder.ts";
import { uploadTable } from "../resources/files/schema.ts";
import { copyDataFolder } from "./copy-data-folder.ts";
import { lockForReading, lockForRemoval } from "./folder-locks.ts";
import { FolderPlace } from "./folder-place.ts";
import { ListingWriter } from "./listing.ts";
import { manifestPath, Repository } from "./repository.ts";
import { chooseBackup, requireKept, restoreBackup, writeFiles } from "./restore.ts";

let backups: string;
before(async () => {
  backups = (await newBackupFolder()).folder;
});
after(endLeftProcesses);

const restoreTo = async (target: string) =>
  restoreBackup(await chooseBackup(new FolderPlace(backups), {}), target, () => undefined);

function requireRestored(target: string): void {
  assert.deepEqual(readdirSync(target).sort(), ["blobs", "catalog.db", "points", "secret"]);
  assert.equal(readFileSync(join(target, "blobs/1/7"), "utf8"), "a file");
  const database = new DatabaseSync(join(target, "catalog.db"));
  assert.equal(database.prepare(`SELECT received FROM "${uploadTable.name}"`).get()!["received"], 0);
  database.close();
}

test("a folder that exists, such as a mount point, is filled in place", async () => {
  const target = temporaryFolder();
  const { ino } = statSync(target);
  await restoreTo(target);
  assert.equal(statSync(target).ino, ino);
  requireRestored(target);
  await assert.rejects(restoreTo(target), /is not empty/);
});

test("a folder with an interrupted restore is refused by servers, and restored again", async () => {
  const target = temporaryFolder();
  writeFileSync(join(target, restoreMarkName), "");
  mkdirSync(join(target, "points"));
  writeFileSync(join(target, "points", "half"), "");
  assert.throws(() => lockDataFolder(target), /restore was interrupted/);
  await restoreTo(target);
  requireRestored(target);
  lockDataFolder(target)();
});

test("an error of a file is a refusal that names the target", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await assert.rejects(
    restoreTo(join(file, "data")),
    (problem) => problem instanceof StartRefused && problem.message.includes(file),
  );
});

test("killed at any of its last steps, a restore leaves nothing that a server would open", async () => {
  const killer = new URL("../../test/support/kill-at-step.ts", import.meta.url).pathname;
  const folder = temporaryFolder();
  const steps = join(folder, "steps");
  const run = async (target: string, at: number) => {
    writeFileSync(steps, "");
    const environment = { NODE_OPTIONS: `--import ${killer}`, KILL_STEPS: steps, KILL_AT: String(at) };
    return await runMillrace(["restore", backups, "--to", target], environment, folder).ended;
  };
  const whole = await run(join(folder, "whole"), 0);
  assert.equal(whole.status, 0, whole.errors);
  const last = readFileSync(steps).length;
  for (const at of [3, last - 3, last - 1, last]) {
    const target = join(folder, `killed-${at}`);
    assert.equal((await run(target, at)).signal, "SIGKILL");
    const isMarked = existsSync(join(target, restoreMarkName));
    // Killed after the mark is gone, it is complete.
    assert.equal(isMarked, at === last - 1);
    assert.equal(existsSync(target), at >= last - 1);
    if (isMarked) assert.throws(() => lockDataFolder(target), /restore was interrupted/);
    if (at < last) await restoreTo(target);
    requireRestored(target);
  }
});

test("a large file that is not wanted counts once, though the listing has several lines of it", async () => {
  const folder = temporaryFolder();
  const repository = await Repository.openOrMake(new FolderPlace(folder), undefined);
  const chunk = await repository.pool.add(Buffer.from("x"));
  const listing = new ListingWriter(repository.pool);
  await listing.add({ path: "blobs/1/1", bytes: 2_001, chunks: new Array<string>(2_001).fill(chunk) });
  const manifest = {
    ...{ id: "1", snapshotMs: 1, version: "1", files: 1, bytes: 2_001, counts: { series: 0, files: 1 } },
    ...{ missing: [], sample: [], listing: await listing.end() },
  };
  const options = { isWanted: () => false, report: () => undefined };
  await writeFiles({ repository, manifest }, temporaryFolder(), options);
});

test("the refusal of a damaged manifest names the backup before it", async () => {
  const { folder, id } = await newBackupFolder();
  const repository = await Repository.open(new FolderPlace(folder), undefined);
  const newest = await addBackup(repository, Date.UTC(2026, 0, 2), new Map());
  writeFileSync(join(folder, manifestPath(newest)), "damaged");
  await assert.rejects(chooseBackup(new FolderPlace(folder), {}), new RegExp(`damaged\\. .*--backup ${id}$`));
  writeFileSync(join(folder, manifestPath(id)), "damaged");
  await assert.rejects(chooseBackup(new FolderPlace(folder), { id }), /damaged$/);
});

test("the newest backup with a snapshot not after a time", async () => {
  const { folder, id: first } = await newBackupFolder();
  const repository = await Repository.open(new FolderPlace(folder), undefined);
  const noonMs = Date.UTC(2026, 0, 2, 12);
  const noon = await addBackup(repository, noonMs, new Map());
  const idUntil = async (untilMs: number) =>
    (await chooseBackup(new FolderPlace(folder), { untilMs })).manifest.id;
  assert.equal(await idUntil(noonMs + 86_400_000), noon);
  assert.equal(await idUntil(noonMs), noon);
  assert.equal(await idUntil(noonMs - 1), first);
  await assert.rejects(
    idUntil(Date.UTC(2025, 0, 1)),
    new RegExp(`as old as that; its oldest one is ${first}$`),
  );
});

test("while a backup is read, none is removed, and others may be read", async () => {
  const { folder, id } = await newBackupFolder();
  const readers = [lockForReading(folder), lockForReading(folder)];
  for (const reader of readers) {
    assert.throws(() => lockForRemoval(folder), /is being verified or restored/);
    reader[Symbol.dispose]();
  }
  {
    using _ = lockForRemoval(folder);
    assert.throws(() => lockForReading(folder), /are being removed/);
  }
  const chosen = await chooseBackup(new FolderPlace(folder), { id });
  await requireKept(chosen);
  rmSync(join(folder, manifestPath(id)));
  await assert.rejects(requireKept(chosen), /was removed while it was read/);
});

test("a backup older than one of the folder is refused before it copies, with the remedy", async () => {
  const repository = await Repository.open(new FolderPlace(backups), undefined);
  const snapshot = { snapshotMs: Date.UTC(2025, 0, 1), journal: "", sample: [] };
  const task = { data: temporaryFolder(), place: backups, snapshot, repository };
  await assert.rejects(
    copyDataFolder({ ...task, catalog: undefined as never }, () => undefined),
    /clock is or was wrong.*move backups\/20260101T000000\.000Z\.manifest out of /,
  );
});
