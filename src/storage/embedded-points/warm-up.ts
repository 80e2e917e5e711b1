// Prepares the thread of a shard for its first calls: runs them on points of its own, in memory, so that V8
// has compiled the code that the first requests need. It changes nothing in the store.
import { aggregateNames, type BucketValue, type PointBatch } from "../points.ts";
import { planRecord, writeRecord } from "./journal-record.ts";
import { Shard } from "./shard.ts";

const series = 4096;
const stepMs = 1_000;
const pointCount = 6_000;
const blockPoints = 1_024;
/** Series of a scan cycle, with one point each. */
const scannedSeries = 500;
/** Repetitions of each read: V8 compiles a function after some calls. */
const rounds = 20;
const range = { startMs: 0, endMs: pointCount * stepMs };
/** Long buckets use summaries, short ones use points, and variances have loops of their own. */
const kinds: readonly { readonly bucketMs: number; readonly aggregates: readonly BucketValue[] }[] = [
  { bucketMs: 60_000, aggregates: ["average", "min", "max", "count"] },
  { bucketMs: 7_000, aggregates: ["average", "min", "max"] },
  { bucketMs: 60_000, aggregates: aggregateNames },
  { bucketMs: 7_000, aggregates: aggregateNames },
];

/** Each step takes about as long as one call of its kind. */
export function* warmUp(): Generator<undefined, void> {
  const shard = new Shard(":memory:", { file: "warm-up", blockPoints, aggregateCacheBytes: 0 });
  try {
    yield;
    shard.apply({ kind: "append", batch: wave() });
    shard.startCheckpoint(1);
    while (shard.hasWork) {
      yield;
      shard.work();
    }
    for (let round = 0; round < rounds; round++) {
      for (const { bucketMs, aggregates } of kinds) {
        yield;
        const startMs = round * stepMs;
        const endMs = startMs + bucketMs * Math.floor((range.endMs - startMs) / bucketMs);
        shard.aggregate({ series, isStep: false, startMs, endMs, bucketMs, aggregates, limit: 1_000 });
      }
      yield;
      shard.applyRecord(scanCycle(round));
      yield;
      shard.scan({ series, isString: false, startMs: round * stepMs, endMs: range.endMs, limit: 1_000 });
      shard.latest({ series: [{ series, isString: false }], beforeMs: Infinity });
    }
  } finally {
    shard.close();
  }
}

/** As the journal has it. */
function scanCycle(round: number): Uint8Array {
  const numbers = {
    series: Float64Array.from({ length: scannedSeries }, (_, i) => series * (i + 2)),
    ends: Uint32Array.from({ length: scannedSeries }, (_, i) => i + 1),
    times: new Float64Array(scannedSeries).fill(round * stepMs),
    values: Float64Array.from({ length: scannedSeries }, (_, i) => Math.sin(i)),
  };
  const plan = planRecord({ kind: "append", batch: { numbers } });
  const bytes = new Uint8Array(plan.bytes);
  writeRecord(plan, { sequence: round + 1, durableSequence: round }, bytes);
  return bytes;
}

const wave = (): PointBatch => ({
  numbers: {
    series: Float64Array.of(series),
    ends: Uint32Array.of(pointCount),
    // Irregular ones: regular times need no decoding.
    times: Float64Array.from({ length: pointCount }, (_, i) => i * stepMs + (i % 7 === 0 ? 3 : 0)),
    values: Float64Array.from(
      { length: pointCount },
      (_, i) => Math.round(1_000 * Math.sin(i / 100)) / 1_000,
    ),
  },
});
