// The summaries of days in the file are always those of their blocks, whatever is written, deleted or rolled
// back, and aggregates over days are those of the points.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { assertNear } from "../../../test/support/near.ts";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import { type AggregateColumns, type AggregateQuery, aggregateNames } from "../points.ts";
import { DaySummaries } from "./day-summaries.ts";
import { Shard } from "./shard.ts";

const pump = 4096;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** 128 points a day: four full blocks, the first of which starts at midnight. */
const stepMs = dayMs / 128;
const [firstDay, daysAtFirst] = [-20, 40];
const file = "shard-0.sqlite";
const settings = { file, blockPoints: 32 };
const rounds = times(150, 10_000);

const random = randomFrom(seed);
const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
const value = () => whole(-8_000, 8_000) / 8;
const regular = (count: number, fromMs: number): [number, number][] =>
  Array.from({ length: count }, (_, i) => [fromMs + i * stepMs, value()]);

function workAll(shard: Shard): void {
  while (shard.hasWork) shard.work();
}

function settle(shard: Shard, sequence: number): void {
  shard.startCheckpoint(sequence);
  workAll(shard);
}

/** The transaction is rolled back. */
function settleInVain(shard: Shard, path: string, sequence: number): void {
  edit(path, "CREATE TRIGGER full BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'full'); END");
  assert.throws(() => settle(shard, sequence), /full/);
  shard.cancelCheckpoint();
  edit(path, "DROP TRIGGER full");
}

const query = (startMs: number, days: number, daysEach = 1): AggregateQuery => ({
  ...{ series: pump, isStep: random() < 0.3, aggregates: aggregateNames, limit: 1e6 },
  ...{ startMs, endMs: startMs + Math.ceil(days / daysEach) * daysEach * dayMs, bucketMs: daysEach * dayMs },
});

/** Aggregates over single days of a copy of the file without the summaries of days. */
function fromBlocks(folder: string, one: AggregateQuery): AggregateColumns {
  const copy = join(temporaryFolder(), "copy");
  cpSync(folder, copy, { recursive: true });
  const database = new DatabaseSync(join(copy, file));
  database.exec("DELETE FROM day");
  database.close();
  const shard = new Shard(join(copy, file), settings);
  const found = shard.aggregate(one);
  shard.close();
  return found;
}

/** Throws if a row is not that of the blocks. Returns the number of rows. */
function checkRows(path: string): number {
  const database = new DatabaseSync(path);
  assert.deepEqual([...new DaySummaries(database).wrongRows()], []);
  const found = database.prepare("SELECT count(*) AS rows FROM day").get()!;
  database.close();
  return Number(found["rows"]);
}

it(`aggregates over days are right after changes of all kinds, PROOF_SEED=${seed}`, async () => {
  const folder = temporaryFolder();
  const path = join(folder, file);
  let shard = new Shard(path, { ...settings, aggregateCacheBytes: 0 });
  const naive = new NaivePointsStore();
  const append = async (points: [number, number][]) => {
    await naive.append(batchOf([pump, points]));
    shard.apply({ kind: "append", batch: batchOf([pump, points]) });
  };
  const deleteRange = async (startMs: number, endMs: number) => {
    const range = { startMs, endMs };
    await naive.delete(pump, range);
    shard.apply({ kind: "delete", series: pump, range });
  };
  let [endMs, most] = [(firstDay + daysAtFirst) * dayMs, 0];
  const anywhere = () => whole(firstDay * dayMs, endMs);
  const midnight = () => dayMs * whole(firstDay, endMs / dayMs);
  await append(regular(128 * daysAtFirst, firstDay * dayMs));
  settle(shard, 1);
  for (let round = 2; round < rounds; round++) {
    const dice = random();
    if (dice < 0.2) {
      const days = whole(1, 3);
      await append(regular(128 * days, endMs));
      endMs += days * dayMs;
    } else if (dice < 0.35) await append([[anywhere(), value()]]);
    else if (dice < 0.45) await append(regular(whole(1, 60), midnight() - stepMs * whole(0, 30)));
    else if (dice < 0.5) await append([[midnight() - whole(0, 1), value()]]);
    else if (dice < 0.55) await deleteRange(midnight() - whole(0, hourMs), midnight() + whole(0, hourMs));
    else if (dice < 0.6) {
      const startMs = midnight() - whole(0, 3 * hourMs);
      await deleteRange(startMs, startMs + whole(1, 6 * hourMs));
    } else if (dice < 0.7) workAll(shard);
    else if (dice < 0.85) settle(shard, round);
    else if (dice < 0.9) settleInVain(shard, path, round);
    else if (dice < 0.95) {
      settle(shard, round);
      shard.close();
      shard = new Shard(path, settings);
    }
    most = Math.max(most, checkRows(path));
    const start = midnight() - dayMs * whole(0, 3);
    for (const one of [
      query(start, whole(1, 60)),
      query(start, whole(1, 60), whole(2, 9)),
      query(anywhere(), whole(1, 20)),
    ])
      assertNear(shard.aggregate(one), await naive.aggregate(one), one);
    if (random() > 0.2) continue;
    settle(shard, round);
    const one = query(firstDay * dayMs, endMs / dayMs - firstDay);
    assert.deepEqual(shard.aggregate(one), fromBlocks(folder, one));
  }
  assert.ok(most > daysAtFirst / 2, `${most} days at most had a summary`);
  shard.close();
});

/** A point a second, with hourly summaries in the rows of blocks, and blocks that cross midnights. */
function secondsIn(days: number): { readonly path: string; readonly shard: Shard } {
  const path = join(temporaryFolder(), file);
  const shard = new Shard(path, { file, blockPoints: 8_192 });
  const dense = Array.from({ length: days * 86_400 }, (_, i): [number, number] => [i * 1_000, i % 10]);
  for (let from = 0; from < dense.length; from += 20_000) {
    shard.apply({ kind: "append", batch: batchOf([pump, dense.slice(from, from + 20_000)]) });
    workAll(shard);
  }
  settle(shard, 1);
  return { path, shard };
}

const counts = (shard: Shard, days: number) =>
  [...shard.aggregate({ ...query(0, days), aggregates: ["average", "count"] }).columns[1]!].map(Number);

it("aggregates over days read neither blocks nor their rows", () => {
  const { path, shard } = secondsIn(4);
  assert.equal(checkRows(path), 3);
  edit(
    path,
    `UPDATE data SET bytes = x'00'
       WHERE id IN (SELECT data_id FROM block WHERE last_ms < ${2.8 * dayMs});
     UPDATE block SET header = zeroblob(8) WHERE first_ms > 0 AND last_ms < ${2.8 * dayMs}`,
  );
  assert.deepEqual(counts(shard, 3), [86_400, 86_400, 86_400]);
  assert.deepEqual(shard.stats().damage, []);
  // A bucket that begins between midnights.
  assert.throws(() => shard.aggregate(query(hourMs, 2)), { failure: "points-damaged" });
  shard.close();
});

it("a damaged row of a day is not used, nor is that of another day or series", () => {
  const { path, shard } = secondsIn(3);
  const rows = "SELECT header FROM day WHERE start_ms =";
  for (const spoil of [
    "UPDATE day SET header = zeroblob(128) WHERE start_ms = 0",
    "UPDATE day SET header = x'00' WHERE start_ms = 0",
    `UPDATE day SET header = (${rows} ${dayMs}) WHERE start_ms = 0`,
    "UPDATE day SET start_ms = start_ms + 1000",
  ]) {
    edit(path, spoil);
    assert.deepEqual(counts(shard, 3), [86_400, 86_400, 86_400], spoil);
  }
  shard.close();
});

it("a late point and a deletion remove the rows of their days, and the rest remain", () => {
  const { path, shard } = secondsIn(4);
  const database = new DatabaseSync(path);
  const stored = () =>
    database.prepare("SELECT start_ms / 86400000 AS day, header FROM day ORDER BY start_ms").all();
  const before = stored();
  shard.apply({ kind: "append", batch: batchOf([pump, [[dayMs + 500, 7]]]) });
  assert.deepEqual(counts(shard, 3), [86_400, 86_401, 86_400]);
  settle(shard, 2);
  assert.deepEqual(counts(shard, 3), [86_400, 86_401, 86_400]);
  assert.deepEqual(stored()[0], before[0]);
  assert.notDeepEqual(stored()[1], before[1]);
  assert.deepEqual(stored()[2], before[2]);
  const range = { startMs: 2 * dayMs - 1_000, endMs: 2 * dayMs + 1_000 };
  shard.apply({ kind: "delete", series: pump, range });
  assert.deepEqual(counts(shard, 3), [86_400, 86_400, 86_399]);
  assert.equal(checkRows(path), 3);
  shard.apply({ kind: "delete", series: pump });
  assert.deepEqual(stored(), []);
  assert.deepEqual(counts(shard, 3), []);
  database.close();
  shard.close();
});

it("a file from before days had summaries is opened, and gets them for new days", () => {
  const { path, shard: first } = secondsIn(3);
  first.close();
  edit(path, "DROP TABLE day");
  const shard = new Shard(path, { file, blockPoints: 8_192 });
  assert.deepEqual(counts(shard, 3), [86_400, 86_400, 86_400]);
  assert.equal(checkRows(path), 0);
  const next = Array.from({ length: 2 * 86_400 }, (_, i): [number, number] => [3 * dayMs + i * 1_000, 1]);
  shard.apply({ kind: "append", batch: batchOf([pump, next]) });
  settle(shard, 2);
  assert.deepEqual(counts(shard, 5), [86_400, 86_400, 86_400, 86_400, 86_400]);
  // The last one, and those of the days before that had none.
  assert.equal(checkRows(path), 3);
  shard.close();
});

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}
