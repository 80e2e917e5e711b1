// Pruning keeps the chosen backups whole. It removes all chunks that only removed backups had.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { addBackup } from "../../test/support/backup-folder.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { randomFrom, seed, times } from "../../test/support/proof.ts";
import { FolderPlace } from "./folder-place.ts";
import { keptIds, parseKeep } from "./keep.ts";
import { readListing } from "./listing.ts";
import { prune } from "./prune.ts";
import { idOf, Repository } from "./repository.ts";

const idAt = (text: string) => idOf(Date.parse(text));

test("the newest of each of the last days, weeks and months stays", () => {
  const days = Array.from({ length: 100 }, (_, day) => Date.UTC(2026, 0, 1 + day));
  const ids = days.flatMap((ms) => [idOf(ms + 1000), idOf(ms + 43_200_000)]);
  const kept = [...keptIds(ids, { days: 3, weeks: 3, months: 3 })].sort();
  assert.deepEqual(
    kept,
    [
      "2026-02-28T12:00Z",
      "2026-03-29T12:00Z", // A Sunday.
      "2026-03-31T12:00Z",
      "2026-04-05T12:00Z", // A Sunday.
      "2026-04-08T12:00Z",
      "2026-04-09T12:00Z",
      "2026-04-10T12:00Z",
    ].map(idAt),
  );
  assert.deepEqual([...keptIds(ids, { days: 0, weeks: 0, months: 1 })], [ids.at(-1)]);
  assert.deepEqual([...keptIds([], { days: 1, weeks: 1, months: 1 })], []);
});

test("days without a backup do not count", () => {
  const ids = ["2026-01-01T00:00Z", "2026-01-05T00:00Z", "2026-03-01T00:00Z"].map(idAt);
  assert.deepEqual([...keptIds(ids, { days: 2, weeks: 0, months: 0 })].sort(), ids.slice(1));
});

test("a backup that is not verified stays, and pushes none out that was found in order", () => {
  const ids = ["2026-01-04T02:00Z", "2026-01-05T02:00Z", "2026-01-05T09:00Z"].map(idAt);
  const [older, good, byHand] = ids;
  const kept = (days: number) => [...keptIds(ids, { days, weeks: 0, months: 0 }, good)].sort();
  assert.deepEqual(kept(1), [good, byHand]);
  assert.deepEqual(kept(2), [older, good, byHand]);
});

test("a backup that was found damaged goes, and the good one of its day stays", async () => {
  const folder = temporaryFolder();
  const repository = await Repository.openOrMake(new FolderPlace(folder), undefined);
  const ids: string[] = [];
  for (const time of ["2026-01-04T02:00Z", "2026-01-04T09:00Z", "2026-01-05T02:00Z"])
    ids.push(await addBackup(repository, Date.parse(time), new Map([["file", Buffer.from(time)]])));
  const [good, damaged, newest] = ids as [string, string, string];
  await prune(repository, { keep: { days: 2, weeks: 0, months: 0 }, good: newest, damaged: [damaged] });
  assert.deepEqual(await repository.ids(), [good, newest]);
});

test("`--keep` is three numbers, of which one is not 0", () => {
  assert.deepEqual(parseKeep("7,4,12"), { days: 7, weeks: 4, months: 12 });
  for (const wrong of ["", "7", "7,4", "7,4,-1", "0,0,0", "7,4,12,1", "7, 4, 12"])
    assert.equal(parseKeep(wrong), undefined, wrong);
});

interface Made {
  readonly folder: string;
  readonly contents: ReadonlyMap<string, readonly Buffer[]>;
  open(): Promise<Repository>;
}

/** Backups of a day each; every file is one of the day before, or new. */
async function made(days: number, passphrase?: string): Promise<Made> {
  const random = randomFrom(seed);
  const folder = temporaryFolder();
  const open = () => Repository.openOrMake(new FolderPlace(folder), passphrase);
  const repository = await open();
  const contents = new Map<string, readonly Buffer[]>();
  let files = Array.from({ length: 6 }, () => randomBytes(1 + Math.floor(random() * 5000)));
  for (let day = 0; day < days; day++) {
    files = files.map((file) => (random() < 0.5 ? file : randomBytes(1 + Math.floor(random() * 5000))));
    const paths = new Map(files.map((bytes, id) => [`blobs/1/${id}`, bytes]));
    contents.set(await addBackup(repository, Date.UTC(2026, 0, 1 + day), paths), files);
  }
  return { folder, contents, open };
}

async function requireWhole({ contents, open }: Made): Promise<void> {
  const repository = await open();
  for (const id of await repository.ids()) {
    const { listing } = await repository.manifest(id);
    const found: Uint8Array[] = [];
    for await (const { chunks } of readListing(repository.pool, listing))
      for (const name of chunks) found.push(await repository.pool.read(name));
    assert.deepEqual(
      found.map((bytes) => Buffer.from(bytes).toString("hex")),
      contents.get(id)!.map((bytes) => bytes.toString("hex")),
    );
  }
}

const poolOf = (folder: string): string[] =>
  readdirSync(join(folder, "pool"), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.includes("/"),
  );

test(`what stays is whole, and nothing else is left, PROOF_SEED=${seed}`, async () => {
  for (const passphrase of [undefined, "a passphrase"]) {
    const all = await made(times(8, 60), passphrase);
    const { folder, contents } = all;
    writeFileSync(join(folder, "pool", poolOf(folder)[0]!.slice(0, 2), "0.1.new"), "of a killed process");
    const keep = { days: 3, weeks: 1, months: 0 };
    const kept = keptIds([...contents.keys()], keep);
    const { backups } = await prune(await all.open(), { keep });
    assert.equal(backups, contents.size - kept.size);
    assert.deepEqual(await (await all.open()).ids(), [...kept].sort());
    await requireWhole(all);
    const repository = await all.open();
    const used = new Set<string>();
    for (const id of kept) {
      const { listing } = await repository.manifest(id);
      for (const name of listing) used.add(name);
      for await (const { chunks } of readListing(repository.pool, listing))
        for (const name of chunks) used.add(name);
    }
    assert.deepEqual(
      poolOf(folder)
        .map((path) => path.slice(3))
        .sort(),
      [...used].sort(),
    );
    assert.deepEqual(await prune(await all.open(), { keep }), { backups: 0, chunks: 0 });
  }
});

test("folders with chunks of an earlier backup, which may have been killed, are synced again", async () => {
  const { folder, open } = await made(1);
  const later: string[] = [];
  class Watched extends FolderPlace {
    override syncLater(path: string): void {
      later.push(path);
      super.syncLater(path);
    }
  }
  const [id] = await (await open()).ids();
  const [name] = (await (await open()).manifest(id!)).listing;
  const { pool, place } = await Repository.open(new Watched(folder), undefined);
  assert.ok(await pool.has(name!));
  assert.ok(!(await pool.has("00")));
  assert.deepEqual(later, [`pool/${name!.slice(0, 2)}`]);
  await place.sync();
});

test("if a backup that stays is damaged, nothing is removed", async () => {
  const all = await made(5);
  const { folder } = all;
  const newest = (await all.open().then((repository) => repository.ids())).at(-1)!;
  const { listing } = await (await all.open()).manifest(newest);
  const path = join(folder, "pool", listing[0]!.slice(0, 2), listing[0]!);
  const whole = readFileSync(path);
  const before = poolOf(folder).length;
  writeFileSync(path, whole.subarray(1));
  await assert.rejects(
    prune(await all.open(), { keep: { days: 1, weeks: 0, months: 0 } }),
    new RegExp(`${newest}, which would stay, is damaged .*delete backups/${newest}.manifest in ${folder}`),
  );
  assert.equal(poolOf(folder).length, before);
  assert.equal((await (await all.open()).ids()).length, 5);
  writeFileSync(path, whole);
  await requireWhole(all);
});
