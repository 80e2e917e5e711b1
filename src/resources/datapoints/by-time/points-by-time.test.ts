// Points at given times: reads by pages have the same points as a scan of the whole series.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { RequestContext } from "../../../context.ts";
import { limits } from "../../../limits.ts";
import { NaivePointsStore } from "../../../storage/conformance/naive-points.ts";
import type { PointColumns, ScanQuery } from "../../../storage/points.ts";
import { deleteRanges, hasPoint, valuesAt, writePoints } from "./points-by-time.ts";

const series = 7;
const number = { series, isString: false };

/** A context with an empty store that counts the points of each scan. */
function contextWith(reads: number[] = []): RequestContext {
  const points = new (class extends NaivePointsStore {
    override async scan(query: ScanQuery): Promise<PointColumns> {
      const found = await super.scan(query);
      reads.push(found.times.length);
      return found;
    }
  })();
  return { points, signal: new AbortController().signal } as unknown as RequestContext;
}

const point = (timeMs: number) => ({ ...number, timeMs, value: timeMs / 2 });

test("the values at any times are those of the series", async () => {
  const times = fc.uniqueArray(fc.integer({ min: -50, max: 3_000 }), { maxLength: 800 });
  await fc.assert(
    fc.asyncProperty(times, times, async (existing, wanted) => {
      const ctx = contextWith();
      if (existing.length > 0) await writePoints(ctx, existing.map(point));
      const sorted = wanted.toSorted((one, other) => one - other);
      const found = await valuesAt(ctx, { ...number, times: sorted });
      const has = new Set(existing);
      const expected = sorted.filter((time) => has.has(time)).map((time) => [time, time / 2]);
      assert.deepEqual([...found], expected);
    }),
    { numRuns: 200 },
  );
});

test("times far apart read few points of a series; times close together read it in few pages", async () => {
  const reads: number[] = [];
  const ctx = contextWith(reads);
  const count = 100_000;
  await writePoints(
    ctx,
    Array.from({ length: count }, (_, at) => point(at)),
  );
  const far = Array.from({ length: 20 }, (_, at) => at * 5_000);
  assert.equal((await valuesAt(ctx, { ...number, times: far })).size, 20);
  assert.ok(reads.every((points) => points <= limits.pointsMatchedFirst));
  reads.length = 0;
  const near = Array.from({ length: 50_000 }, (_, at) => at);
  assert.equal((await valuesAt(ctx, { ...number, times: near })).size, 50_000);
  assert.ok(reads.length < 20, `${reads.length} reads`);
});

test("runs of several series are written together, and ranges are deleted", async () => {
  const ctx = contextWith();
  const text = { series: 8, isString: true };
  await writePoints(ctx, [point(1), { ...text, timeMs: 1, value: "a" }, point(2), point(3)]);
  assert.deepEqual([...(await valuesAt(ctx, { ...text, times: [1] }))], [[1, "a"]]);
  assert.equal((await valuesAt(ctx, { ...number, times: [1, 2, 3] })).size, 3);
  await deleteRanges(ctx, [
    { series, startMs: 1, endMs: 2 },
    { series, startMs: 3, endMs: 9 },
  ]);
  assert.deepEqual([...(await valuesAt(ctx, { ...number, times: [1, 2, 3] })).keys()], [2]);
  assert.equal(await hasPoint(ctx, number, { startMs: 3, endMs: 9 }), false);
  assert.equal(await hasPoint(ctx, number, { startMs: 0, endMs: 9 }), true);
});
