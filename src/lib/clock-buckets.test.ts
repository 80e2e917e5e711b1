// Buckets on the clock of a time zone, compared with a naive walk over the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { naiveBucketStarts } from "../../test/support/naive-buckets.ts";
import { bucketRuns, bucketStarts, isTimeZone } from "./clock-buckets.ts";

const quarterMs = 15 * 60_000;
const hourMs = 4 * quarterMs;
const dayMs = 24 * hourMs;

function startsIn(startMs: number, endMs: number, grid: Parameters<typeof bucketStarts>[1]): number[] {
  const starts: number[] = [];
  for (const one of bucketStarts(startMs, grid)) {
    if (one >= endMs) break;
    starts.push(one);
  }
  return starts;
}

/** The starts of the buckets of runs, which cover the range without a gap. */
function startsOfRuns(startMs: number, endMs: number, grid: Parameters<typeof bucketStarts>[1]): number[] {
  const runs = bucketRuns({ startMs, endMs }, grid);
  for (const [at, run] of runs.entries()) {
    const next = runs[at + 1];
    const runEndMs = run.startMs + run.count * run.bucketMs;
    if (next) assert.deepEqual([runEndMs, next.bucketMs !== run.bucketMs], [next.startMs, true]);
    else assert.ok(runEndMs >= endMs && runEndMs - run.bucketMs < endMs, "the last bucket is whole");
  }
  return runs.flatMap((run) => Array.from({ length: run.count }, (_, at) => run.startMs + at * run.bucketMs));
}

const iso = (starts: readonly number[]) => starts.map((one) => new Date(one).toISOString().slice(0, 16));

test("a day of a time zone has 23, 24 or 25 hours", () => {
  const grid = { timeZone: "Europe/Oslo", lengthMs: dayMs, offsetMs: 0 };
  assert.deepEqual(iso(startsIn(Date.UTC(2024, 2, 30, 12), Date.UTC(2024, 3, 2), grid)), [
    "2024-03-29T23:00",
    "2024-03-30T23:00",
    "2024-03-31T22:00",
    "2024-04-01T22:00",
  ]);
  assert.deepEqual(iso(startsIn(Date.UTC(2024, 9, 26, 22), Date.UTC(2024, 9, 29), grid)), [
    "2024-10-26T22:00",
    "2024-10-27T23:00",
    "2024-10-28T23:00",
  ]);
});

test("where midnight does not exist, the day starts at the change", () => {
  // Clocks went from 00:00 to 01:00.
  const grid = { timeZone: "America/Sao_Paulo", lengthMs: dayMs, offsetMs: 0 };
  const starts = startsIn(Date.UTC(2018, 10, 3, 12), Date.UTC(2018, 10, 5, 12), grid);
  assert.deepEqual(iso(starts), ["2018-11-03T03:00", "2018-11-04T03:00", "2018-11-05T02:00"]);
});

test("an hour that repeats is two buckets of an hour, and part of a longer one", () => {
  const from = Date.UTC(2024, 9, 26, 23);
  const grid = { timeZone: "Europe/Oslo", offsetMs: 0 };
  const hours = startsIn(from, from + 4 * hourMs, { ...grid, lengthMs: hourMs });
  assert.deepEqual(
    hours,
    [0, 1, 2, 3].map((hour) => from + hour * hourMs),
  );
  const pairs = startsIn(from + hourMs, from + 6 * hourMs, { ...grid, lengthMs: 2 * hourMs });
  assert.deepEqual(iso(pairs), ["2024-10-27T00:00", "2024-10-27T03:00"]);
});

/** Before, clocks in St. John's changed at 00:01, which the naive walk does not see. */
const firstMs = Date.UTC(2012, 0, 1);

test("in any zone the buckets are those of the naive walk", () => {
  const zones = [
    "UTC",
    "Europe/Oslo",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Kolkata",
  ];
  const query = fc.record({
    timeZone: fc.constantFrom(...zones),
    lengthMs: fc
      .oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 200 }))
      .map((quarters) => quarters * quarterMs),
    offset: fc.integer({ min: -200, max: 200 }),
    // Many near changes of clocks in the autumn of 2023.
    quarter: fc.oneof(
      fc.integer({ min: 0, max: 12 * 365 * 96 }),
      fc.integer({ min: (12 * 365 - 100) * 96, max: (12 * 365 - 40) * 96 }),
    ),
    length: fc.integer({ min: 1, max: 500 }),
    within: fc.integer({ min: 0, max: quarterMs - 1 }),
  });
  fc.assert(
    fc.property(query, ({ timeZone, lengthMs, offset, quarter, length, within }) => {
      const grid = { timeZone, lengthMs, offsetMs: (offset * quarterMs) % lengthMs };
      const startMs = firstMs + quarter * quarterMs + within;
      const endMs = startMs + length * quarterMs;
      const starts = startsIn(startMs, endMs, grid);
      assert.deepEqual(iso(starts), iso(naiveBucketStarts(startMs, endMs, grid)));
      assert.deepEqual(iso(startsOfRuns(startMs, endMs, grid)), iso(starts));
    }),
    { numRuns: 150 },
  );
});

test("a month starts when the clock shows it first", () => {
  const months = (timeZone: string) => ({ timeZone, months: 1, offsetMonths: 0 });
  // At 00:01 of the first of November the clock was put back to 23:01 of October.
  const repeated = startsIn(Date.UTC(2009, 10, 1, 3), Date.UTC(2009, 11, 2), months("America/St_Johns"));
  assert.deepEqual(iso(repeated), ["2009-11-01T02:30", "2009-12-01T03:30"]);
  // The zone left out the last day of 1994.
  const skipped = startsIn(Date.UTC(1994, 11, 31), Date.UTC(1995, 1, 2), months("Pacific/Kiritimati"));
  assert.deepEqual(iso(skipped), ["1994-12-01T10:00", "1994-12-31T10:00", "1995-01-31T10:00"]);
});

test("a second in a time zone is one run over decades", () => {
  const range = { startMs: 0, endMs: Date.UTC(2026, 0, 1) };
  const runs = bucketRuns(range, { timeZone: "Europe/Oslo", lengthMs: 1_000, offsetMs: 0 });
  assert.deepEqual(runs, [{ startMs: 0, bucketMs: 1_000, count: range.endMs / 1_000 }]);
});

test("unknown time zones are known as such", () => {
  assert.deepEqual(["UTC", "Europe/Oslo", "Mars/Olympus", ""].map(isTimeZone), [true, true, false, false]);
});
