// One bit of each byte of a small store is flipped in turn (in CI, a sample of the databases). Each result is
// right or refused, or the damage is reported and one request is missing.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { folderInMemory } from "../../../test/support/folder.ts";
import { LocalShard } from "../../../test/support/local-shard.ts";
import { filesWithoutSyncs } from "../../../test/support/points-store.ts";
import { isLong, randomFrom, seed } from "../../../test/support/proof.ts";
import { putWreck, type Wreck } from "../../../test/support/simulated-disk.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf, sineWave } from "../conformance/points.ts";
import { aggregateNames, type PointsStore } from "../points.ts";
import { openEmbeddedPoints } from "./embedded-points.ts";
import { encodeMark, markBytes } from "./journal-record.ts";

const settings = { shards: 1, blockPoints: 100, files: filesWithoutSyncs, markMs: 1 };
const openShard = LocalShard.opener({ delayOf: () => 0, onStep: () => undefined });
const [pump, motor, valve, twin] = [4096, 8192, 12_288, 16_384];
const strings = Array.from({ length: 150 }, (_, i) => [i * 20, i % 7 === 0 ? "open" : `text ${i}`] as const);

type Change = (store: PointsStore) => Promise<void>;
/** Numbers and strings in blocks. */
const before: readonly Change[] = [
  (store) =>
    store.append(batchOf([pump, sineWave(450, 0, 10)], [motor, sineWave(120, 5000, 7)], [valve, strings])),
  // A series whose blocks have the same times as those of another one.
  (store) => store.append(batchOf([twin, sineWave(450, 0, 10).map(([timeMs, value]) => [timeMs, -value])])),
];
/** Changes that are only in the journal. */
const changes: readonly Change[] = [
  (store) => store.append(batchOf([pump, sineWave(12, 4000, 11)], [valve, [[5, "late"]]])),
  (store) => store.delete(motor, { startMs: 5100, endMs: 5200 }),
  (store) => store.append(batchOf([motor, sineWave(5, 1, 1)])),
];

/** The files of a closed store with blocks, or with `later` those after further changes and a crash. */
async function made(later: readonly Change[]): Promise<Wreck> {
  const folder = folderInMemory();
  const store = await openEmbeddedPoints({ ...settings, folder, openShard });
  for (const change of before) await change(store);
  await store.close();
  if (later.length === 0) return filesOf(folder);
  const again = await openEmbeddedPoints({ ...settings, folder, openShard });
  for (const change of later) await change(again);
  while (!isMarked(folder)) await setTimeout(5);
  const files = filesOf(folder);
  await again.close();
  return files;
}

/** Whether the journal ends with the mark that the last change is on disk. */
function isMarked(folder: string): boolean {
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .sort()
    .at(-1)!;
  const end = readFileSync(join(folder, newest)).subarray(-markBytes);
  return end.equals(encodeMark(end.readDoubleLE(8)));
}

const filesOf = (folder: string): Wreck =>
  new Map(
    readdirSync(folder)
      .filter((name) => !name.endsWith("-shm"))
      .map((name) => [name, Uint8Array.from(readFileSync(join(folder, name)))]),
  );

const everything = { startMs: -Infinity, endMs: Infinity, limit: 1e9 };
const range = { startMs: 0, endMs: 6000, bucketMs: 250, limit: 100, aggregates: aggregateNames };
const series = [pump, motor, valve, twin].map((one) => ({ series: one, isString: one === valve }));

/** Queries for each point, and for aggregates of them. */
const queries: readonly ((store: PointsStore) => Promise<unknown>)[] = [
  ...series.map((one) => (store: PointsStore) => store.scan({ ...one, ...everything })),
  ...series.map(
    (one) => (store: PointsStore) => store.scan({ ...one, startMs: 1000, endMs: 2000, limit: 20 }),
  ),
  ...series.map((one) => (store: PointsStore) => store.latest([one], 1e6)),
  ...series.map((one) => (store: PointsStore) => store.latest([one], 3000)),
];
const aggregates = [pump, motor, twin].map(
  (one) => (store: PointsStore) => store.aggregate({ series: one, isStep: false, ...range }),
);

interface Found {
  /** Undefined for a refused query. */
  readonly results: readonly unknown[];
  readonly isReported: boolean;
}
const allRefused: Found = { results: [], isReported: true };
const folder = folderInMemory();

/** The results of a store that is opened on these files. */
async function ask(files: Wreck): Promise<Found> {
  await putWreck(files, folder);
  const opening = openEmbeddedPoints({ ...settings, folder, openShard });
  const store = await opening.catch(() => undefined);
  if (store === undefined) return allRefused;
  try {
    const results: unknown[] = [];
    for (const query of [...queries, ...aggregates]) results.push(await query(store).catch(() => undefined));
    const { quarantined } = await store.stats().catch(() => ({ quarantined: ["no result"] }));
    return { results, isReported: quarantined.length > 0 };
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** The files with one bit flipped. */
function flipped(files: Wreck, name: string, at: number, bit: number): Wreck {
  const bytes = files.get(name)!.slice();
  bytes[at]! ^= 1 << bit;
  return new Map([...files, [name, bytes]]);
}

const isSame = (found: unknown, right: unknown) => found === undefined || isDeepStrictEqual(found, right);

/** Whether no result is wrong. */
const isHarmless = ({ results }: Found, right: readonly unknown[]): boolean =>
  results.every((result, index) => isSame(result, right[index]));

/** The results of `queries` in a store without the change with this index. */
async function withoutChange(lost: number): Promise<unknown[]> {
  const naive = new NaivePointsStore();
  for (const [index, change] of [...before, ...changes].entries())
    if (index !== before.length + lost) await change(naive);
  return Promise.all(queries.map((query) => query(naive)));
}

const random = randomFrom(seed);
const someBit = () => Math.floor(random() * 8);

it(`every byte of a journal and of store.json, PROOF_SEED=${seed}`, async () => {
  const files = await made(changes);
  const right = await ask(files);
  assert.ok(!right.isReported && right.results.length > 0);
  const withoutOne = await Promise.all(changes.map((_, index) => withoutChange(index)));
  const journal = [...files.keys()].find((name) => name.startsWith("journal"))!;
  const records = recordsIn(files.get(journal)!);
  for (const name of [journal, "store.json"]) {
    for (let at = 0; at < files.get(name)!.length; at++) {
      const found = await ask(flipped(files, name, at, someBit()));
      if (isHarmless(found, right.results)) continue;
      const record = records.findLastIndex((first) => first <= at);
      const where = `${name} at ${at}, in record ${record}`;
      assert.ok(found.isReported, `${where}: a wrong result, not reported`);
      assert.ok(name === journal && record >= 0, where);
      assert.ok(
        isHarmless({ ...found, results: found.results.slice(0, queries.length) }, withoutOne[record]!),
        where,
      );
    }
  }
});

/** Offsets of the records: multiples of eight with these characters. */
const recordsIn = (bytes: Uint8Array): number[] =>
  Array.from({ length: bytes.length / 8 }, (_, index) => index * 8).filter(
    (at) => Buffer.from(bytes.subarray(at, at + 4)).toString("latin1") === "MRJR",
  );

for (const [title, later] of [
  ["blocks", []],
  ["blocks and a write-ahead log", changes],
] as const) {
  it(`bytes of a database with ${title}, PROOF_SEED=${seed}`, async (t) => {
    const files = await made(later);
    const right = await ask(files);
    let [all, refused] = [0, 0];
    for (const name of ["shard-0.sqlite", "shard-0.sqlite-wal"]) {
      const { length } = files.get(name) ?? [];
      for (let at = Math.floor(random() * stride); at < length; at += 1 + Math.floor(random() * stride)) {
        const found = await ask(flipped(files, name, at, someBit()));
        all++;
        if (found.isReported || found.results.includes(undefined)) refused++;
        assert.ok(isHarmless(found, right.results) || found.isReported, `${name} at ${at}: a wrong result`);
      }
    }
    t.diagnostic(`${all} bytes flipped: ${refused} reported or refused`);
  });
}

const stride = isLong ? 1 : 250;
