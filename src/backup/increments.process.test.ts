// Restores to any time between backups: each has the requests of every client up to one time, the last one of
// an increment or a backup, also after kills and removals.
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../test/support/connector.ts";
import { adminKey, newPlace, type Place, served } from "../../test/support/copies.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { PlantWriter, readPlant } from "../../test/support/plant-writers.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";
import { randomFrom, seed, times } from "../../test/support/proof.ts";
import { FolderPlace } from "./folder-place.ts";
import { pruneAt } from "./prune.ts";
import { idOf, Repository, snapshotOf } from "./repository.ts";
import { chooseBackup, restoreBackup } from "./restore.ts";
import { verifyBackup } from "./verify.ts";
import { VerifyFolder } from "./verify-folder.ts";

after(endLeftProcesses);

const backups = join(temporaryFolder(), "backups");
const place = newPlace({
  MILLRACE_BACKUP_TO: backups,
  MILLRACE_BACKUP_JOURNAL: "1",
  MILLRACE_BACKUP_SCHEDULE: "0 0 1 1 * UTC",
});
const random = randomFrom(seed);
const reach = (baseUrl: string) => ({ baseUrl, project: "default", key: adminKey });
/** With the time from which on the data of each is in a restored copy. */
const writers: { readonly writer: PlantWriter; readonly sinceMs: number }[] = [];

const namesIn = (folder: string): string[] =>
  existsSync(join(backups, folder)) ? readdirSync(join(backups, folder)).sort() : [];
const idsIn = (folder: string) => namesIn(folder).map((name) => name.replace(".manifest", ""));

async function startWriters(baseUrl: string): Promise<readonly PlantWriter[]> {
  const started = [0, 1].map((number) => new PlantWriter(reach(baseUrl), writers.length + number));
  await Promise.all(started.map((writer) => writer.start()));
  writers.push(...started.map((writer) => ({ writer, sinceMs: Date.now() })));
  return started;
}

async function restored(untilMs?: number): Promise<{ readonly copy: Place; readonly snapshotMs: number }> {
  const backup = await chooseBackup(new FolderPlace(backups), { untilMs });
  const copy = newPlace();
  await restoreBackup(backup, copy.data, () => undefined);
  return { copy, snapshotMs: backup.manifest.snapshotMs };
}

/** A restore has the newest backup or increment before the time, and the requests up to its snapshot. */
async function requireRestorable(untilMs: number): Promise<void> {
  const { copy, snapshotMs } = await restored(untilMs);
  const all = [...idsIn("backups"), ...idsIn("increments")].sort();
  assert.equal(idOf(snapshotMs), all.filter((id) => id <= idOf(untilMs)).at(-1));
  await served(copy, async (_ask, url) => {
    for (const [client, { writer, sinceMs }] of writers.entries())
      if (sinceMs < snapshotMs) writer.requireSnapshot(await readPlant(reach(url), client), snapshotMs);
  });
}

test(`a restore reaches any time, also before and after a kill, PROOF_SEED=${seed}`, async () => {
  const rounds = times(2, 12);
  for (let round = 0; round < rounds; round++) {
    const wholes = idsIn("backups").length;
    const server = await serveMillrace(place.settings, place.folder);
    if (round === 0) {
      const words = ["backup", "--server", server.baseUrl];
      const first = await runMillrace(words, place.settings, place.folder).ended;
      assert.equal(first.status, 0, first.errors);
    } else await until(() => idsIn("backups").length > wholes, "a backup after the start", 5);
    const before = idsIn("increments").length;
    const started = await startWriters(server.baseUrl);
    const enough = 3 + Math.floor(random() * 4);
    await until(() => idsIn("increments").length >= before + enough, "increments", 5);
    await delay(random() * 500);
    server.child.kill(round % 2 === 0 ? "SIGKILL" : "SIGTERM");
    await server.ended;
    for (const writer of started) await writer.stop().catch(() => undefined);
  }
  const increments = idsIn("increments");
  const [fromMs, toMs] = [snapshotOf(idsIn("backups")[0]!), snapshotOf(increments.at(-1)!)];
  for (let time = 0; time < times(4, 30); time++)
    await requireRestorable(fromMs + random() * (toMs - fromMs));
  for (const untilMs of [toMs, toMs - 1, fromMs, Date.now()]) await requireRestorable(untilMs);
  assert.equal((await restored()).snapshotMs, toMs, "without a time, it is the newest one");
});

test("an increment is verified like a backup, and a damaged one is found", async () => {
  const repository = await Repository.open(new FolderPlace(backups), undefined);
  const id = idsIn("increments").at(-1)!;
  const backup = await chooseBackup(new FolderPlace(backups), { id });
  using folder = VerifyFolder.make(temporaryFolder());
  const verify = async () => await verifyBackup(backup, { folder: folder.path, report: () => undefined });
  assert.deepEqual((await verify()).findings, []);
  const { listing } = await repository.manifest(id);
  const path = join(backups, "pool", listing.at(-1)!.slice(0, 2), listing.at(-1)!);
  const whole = await repository.place.read(`pool/${listing.at(-1)!.slice(0, 2)}/${listing.at(-1)!}`);
  writeFileSync(path, "damaged");
  assert.match((await verify()).findings.join("\n"), /checksum is wrong/);
  writeFileSync(path, whole!);
});

test("increments of the last two days stay, and what stays is whole without older backups", async () => {
  const place = new FolderPlace(backups);
  const keep = { days: 1, weeks: 0, months: 0 };
  const before = idsIn("increments");
  await pruneAt(place, { keep });
  assert.equal(idsIn("backups").length, 1);
  assert.deepEqual(idsIn("increments"), before, "they are of today");
  await requireRestorable(snapshotOf(before[0]!) + 1);
  const old = join(backups, "increments", `${idOf(Date.now() - 3 * 86_400_000)}.manifest`);
  writeFileSync(old, "");
  await pruneAt(place, { keep });
  assert.ok(!existsSync(old));
  rmSync(backups, { recursive: true });
});
