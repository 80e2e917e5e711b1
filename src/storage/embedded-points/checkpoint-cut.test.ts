// The whole store after a kill or a power cut at each step: each write, sync and removal of the journal, and
// each transaction of each shard, in either order of the shards. Every acknowledged request is there, and no
// request is there in part.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { folderInMemory } from "../../../test/support/folder.ts";
import { LocalShard } from "../../../test/support/local-shard.ts";
import { filesWithoutSyncs } from "../../../test/support/points-store.ts";
import { isLong, randomFrom, seed, times } from "../../../test/support/proof.ts";
import { putWreck, SimulatedDisk, type Wreck } from "../../../test/support/simulated-disk.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import type { PointBatch, PointsStore, SeriesId } from "../points.ts";
import { shardOf } from "../shard-of.ts";
import { openEmbeddedPoints } from "./embedded-points.ts";

const shards = 2;
const storeName = "store.json";
/** Steps must come in the same order each time, so none may depend on a clock. */
const settings = { shards, blockPoints: 8, checkpointBytes: 2000, markMs: 600_000 };
const changes = times(20, 200);
/** For each shard, two series of numbers and one of strings. */
const [first, second] = [0, 1].map((shard) => {
  const own = Array.from({ length: 40 }, (_, index) => (index + 1) * 4096);
  return own.filter((series) => shardOf(series, shards) === shard).slice(0, 3);
}) as [number[], number[]];
const all = [...first, ...second];
const isText = (series: SeriesId) => series === first[2] || series === second[2];

/** Records the points of all series after each number of changes. */
class Expected {
  readonly after: string[] = [];
  readonly #naive = new NaivePointsStore();

  async change(work: (store: PointsStore) => Promise<void>): Promise<void> {
    await work(this.#naive);
    this.after.push(await contentOf(this.#naive));
  }
}

async function contentOf(store: PointsStore): Promise<string> {
  const query = { startMs: -Infinity, endMs: Infinity, limit: 1e9 };
  const found = await Promise.all(
    all.map((series) => store.scan({ series, isString: isText(series), ...query })),
  );
  return JSON.stringify(found.map(({ times, values }) => [[...times], [...values]]));
}

/** Requests to both shards: in order, late, and deletions. */
function* script(random: () => number): Generator<(store: PointsStore) => Promise<void>> {
  const whole = (max: number) => Math.floor(random() * max);
  for (let change = 0; change < changes; change++) {
    const series = all[whole(all.length)]!;
    const startMs = whole(60);
    const kind = random();
    if (kind < 0.08) yield (store) => store.delete(series);
    else if (kind < 0.25) yield (store) => store.delete(series, { startMs, endMs: startMs + 10 });
    else {
      const made = batch(change);
      yield (store) => store.append(structuredClone(made));
    }
  }
  function batch(change: number): PointBatch {
    const from = random() < 0.6 ? change * 2 : whole(60);
    const value = (at: number, series: SeriesId) =>
      isText(series) ? `text ${change} ${at}` : change + at / 8;
    const points = (series: SeriesId) =>
      Array.from({ length: 1 + whole(6) }, (_, at) => [from + at, value(at, series)] as const);
    return batchOf(...all.filter(() => random() < 0.7).map((series) => [series, points(series)] as const));
  }
}

interface Cut {
  readonly wreck: Wreck;
  readonly acknowledged: number;
  readonly sent: number;
  readonly when: string;
}

/** Runs the script once. Returns the states that a crash at each step could leave. */
async function* cuts(late: number, expected: Expected): AsyncGenerator<Cut> {
  const disk = new SimulatedDisk(2 ** 20);
  let [acknowledged, sent, steps] = [0, 0, 0];
  const found: Cut[] = [];
  const seen = new Set<string>();
  const opened: LocalShard[] = [];
  const onStep = () => {
    steps++;
    for (const wreck of wrecksOf(disk, opened)) {
      const key = keyOf(wreck);
      if (seen.has(`${acknowledged} ${key}`)) continue;
      seen.add(`${acknowledged} ${key}`);
      const storeFile = Uint8Array.from(readFileSync(join(disk.folder, storeName)));
      const whole = new Map([...wreck, [storeName, storeFile]]);
      found.push({ wreck: whole, acknowledged, sent, when: `step ${steps}, shard ${late} late` });
    }
  };
  disk.onStep = onStep;
  const delayOf = (shard: number) => (shard === late ? 20 : 0);
  const openShard = LocalShard.opener({ delayOf, onStep }, opened);
  const store = await openEmbeddedPoints({
    ...settings,
    folder: disk.folder,
    files: disk,
    openShard,
  });
  const random = randomFrom(seed);
  const burst: Promise<void>[] = [];
  for (const change of script(random)) {
    sent++;
    const stored = change(store).then(() => void acknowledged++);
    await expected.change(change);
    burst.push(stored);
    if (random() < 0.6) await Promise.all(burst.splice(0));
    yield* found.splice(0);
  }
  await Promise.all(burst);
  await store.close();
  yield* found.splice(0);
}

/** The smallest and the largest state of the journal, with each possible state of each shard. */
function* wrecksOf(disk: SimulatedDisk, opened: readonly LocalShard[]): Generator<Wreck> {
  const journals = [...disk.wrecks()];
  const ofShards = opened.map((shard) => shard.wrecks());
  for (const journal of isLong ? journals : [journals[0]!, journals.at(-1)!]) {
    for (const rest of [0, -2]) {
      const usual = ofShards.map((choices) => choices.at(rest) ?? choices[0]!);
      yield joined(journal, usual);
      for (const [shard, choices] of ofShards.entries())
        for (const choice of choices) yield joined(journal, usual.with(shard, choice));
    }
  }
}

const joined = (...wrecks: [Wreck, readonly Wreck[]]): Wreck =>
  new Map([...wrecks[0], ...wrecks[1].flatMap((one) => [...one])]);

const keyOf = (wreck: Wreck): string =>
  hash(
    "sha1",
    Buffer.concat([...wreck].flatMap(([name, bytes]) => [Buffer.from(`${name} ${bytes.length} `), bytes])),
  );

const wreckFolder = folderInMemory();

async function check({ wreck, acknowledged, sent, when }: Cut, expected: Expected): Promise<void> {
  await putWreck(wreck, wreckFolder);
  const openShard = LocalShard.opener({ delayOf: () => 0, onStep: () => undefined });
  const store = await openEmbeddedPoints({
    ...settings,
    folder: wreckFolder,
    files: filesWithoutSyncs,
    openShard,
  });
  try {
    const found = await contentOf(store);
    const may = expected.after.slice(acknowledged, sent + 1);
    assert.ok(may.includes(found), `${when}: ${acknowledged} acknowledged of ${sent}, but found ${found}`);
    assert.deepEqual((await store.stats()).quarantined, [], when);
  } finally {
    await store.close();
  }
}

for (const late of [0, 1]) {
  it(`${changes} changes, shard ${late} the late one, PROOF_SEED=${seed}`, async (t) => {
    const expected = new Expected();
    await expected.change(async () => undefined);
    let states = 0;
    for await (const cut of cuts(late, expected)) {
      await check(cut, expected);
      states++;
    }
    t.diagnostic(`${states} states of the folder`);
    assert.ok(states > changes);
  });
}
