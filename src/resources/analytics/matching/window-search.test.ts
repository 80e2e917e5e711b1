// Pattern search compared with the formula: exact distances, no overlap, and no nearer window is missed.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type DistanceMode, distanceModes } from "./sliding-distance.ts";
import { type Samples, WindowSearch } from "./window-search.ts";

/** z-normalised or plain Euclidean distance as textbooks write it; a constant becomes zeros. */
function naiveSquared(window: readonly number[], other: readonly number[], mode: DistanceMode): number {
  const normal = (samples: readonly number[]) => {
    const shifted = samples.map((value) => value - samples[0]!);
    const mean = shifted.reduce((sum, value) => sum + value, 0) / shifted.length;
    const variance = shifted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / shifted.length;
    return shifted.map((value) =>
      variance * shifted.length < 1e-290 ? 0 : (value - mean) / Math.sqrt(variance),
    );
  };
  const [a, b] = mode === "pattern" ? [normal(window), normal(other)] : [window, other];
  return a.reduce((sum, value, i) => sum + (value - b[i]!) ** 2, 0);
}

interface Case {
  readonly window: readonly (readonly number[])[];
  /** By column; NaN is a gap. */
  readonly columns: readonly (readonly number[])[];
  readonly mode: DistanceMode;
  readonly count: number;
  readonly pieces: number;
}

function found({ window, columns, mode, count, pieces }: Case) {
  const search = new WindowSearch({ window: window.map((one) => Float64Array.from(one)), mode, count });
  const length = columns[0]!.length;
  const step = Math.ceil(length / pieces);
  for (let from = 0; from < length; from += step) {
    const to = Math.min(length, from + step);
    const samples: Samples = {
      times: Float64Array.from({ length: to - from }, (_, i) => 1_000 * (from + i)),
      columns: columns.map((column) => Float64Array.from(column.slice(from, to))),
    };
    for (const _ of search.add(samples));
  }
  const steps = search.best();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.map((one) => ({ ...one, at: one.firstMs / 1_000, end: one.lastMs / 1_000 }));
  }
}

/** Each window's squared distance; infinite with a gap in it. */
function naiveProfile({ window, columns, mode }: Case): number[] {
  const { length } = window[0]!;
  return Array.from({ length: Math.max(0, columns[0]!.length - length + 1) }, (_, at) => {
    const squares = columns.map((column, c) => naiveSquared(window[c]!, column.slice(at, at + length), mode));
    const sum = squares.reduce((a, b) => a + b, 0);
    return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
  });
}

function assertBest(given: Case): void {
  const { length } = given.window[0]!;
  const profile = naiveProfile(given);
  const matches = found(given);
  const free = new Set(profile.keys().filter((at) => profile[at]! < Number.POSITIVE_INFINITY));
  for (const { at, end, squared } of matches) {
    assert.ok(free.has(at), `the window at ${at} overlaps an earlier match or has a gap`);
    assert.equal(end, at + length - 1);
    const scale =
      given.mode === "pattern" ? 2 * length * given.window.length : Math.max(profile[at]!, squared, 1e-9);
    const tolerance = 4e-8 * (given.mode === "pattern" ? scale : scale + greatestOf(given, at));
    assert.ok(Math.abs(squared - profile[at]!) <= tolerance, `${squared} is not ${profile[at]} at ${at}`);
    for (const other of free)
      assert.ok(profile[other]! >= profile[at]! - 2 * tolerance, `${other} is nearer than ${at}`);
    for (let near = at - length + 1; near < at + length; near += 1) free.delete(near);
  }
  if (matches.length < given.count) assert.equal(free.size, 0, "no window is left");
  assert.ok(matches.length <= given.count);
}

/** The terms whose difference is the squared distance of a pair of windows. */
function greatestOf({ window, columns }: Case, at: number): number {
  let sum = 0;
  for (const [c, column] of columns.entries())
    for (const [i, value] of window[c]!.entries()) sum += 4 * (value ** 2 + column[at + i]! ** 2);
  return sum;
}

/** None between 0 and 1e-100: rounding decides whether a window at the bound of constant windows is one. */
const double = fc
  .double({ min: -100, max: 100, noNaN: true })
  .map((one) => (Math.abs(one) < 1e-100 ? 0 : one));
const value = fc.oneof(
  { weight: 6, arbitrary: double },
  { weight: 3, arbitrary: fc.integer({ min: -2, max: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(1e6, -9_999) },
);
/** Stretches of one value make constant windows. */
const column = (gaps: boolean) =>
  fc
    .array(
      fc.tuple(
        gaps ? fc.oneof({ weight: 9, arbitrary: value }, fc.constant(Number.NaN)) : value,
        fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 12 })),
      ),
      {
        minLength: 1,
        maxLength: 120,
      },
    )
    .map((runs) => runs.flatMap(([one, times]) => Array.from({ length: times }, () => one)));

const cases = fc
  .integer({ min: 1, max: 3 })
  .chain((dimensions) =>
    fc.record({
      columns: fc.array(column(true), { minLength: dimensions, maxLength: dimensions }),
      window: fc.array(column(false), { minLength: dimensions, maxLength: dimensions }),
      offset: fc.constantFrom(0, 1e3, -1e6),
      isOwn: fc.boolean(),
      mode: fc.constantFrom(...distanceModes),
      count: fc.integer({ min: 1, max: 6 }),
      pieces: fc.integer({ min: 1, max: 5 }),
      length: fc.integer({ min: 2, max: 40 }),
    }),
  )
  .map(({ columns, window, offset, isOwn, length: lengthMax, ...rest }): Case => {
    const size = Math.min(...columns.map((one) => one.length));
    const cut = columns.map((one) => one.slice(0, size).map((sample) => sample + offset));
    const own = cut.map((one) => one.slice(0, lengthMax));
    const isWhole = isOwn && own.every((one) => !one.some(Number.isNaN));
    const from = isWhole ? own : window;
    const length = Math.min(lengthMax, ...from.map((one) => one.length));
    return { ...rest, columns: cut, window: from.map((one) => one.slice(0, length)) };
  })
  .filter(({ window }) => window[0]!.length >= 2);

test("matches have the distance of the formula, do not overlap, and no nearer window is left out", () => {
  fc.assert(fc.property(cases, assertBest), { numRuns: 400 });
});

const noise = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed / 2 ** 31 - 0.5;
};

test("chunks and the pool of candidates change nothing, over more samples than both hold", () => {
  const random = noise(7);
  let level = 0;
  const column = Array.from({ length: 70_000 }, (_, i) => {
    level += random();
    return i % 9_001 === 0 ? Number.NaN : level;
  });
  const window = [column.slice(40_000, 40_024)];
  for (const mode of distanceModes) assertBest({ window, columns: [column], mode, count: 3, pieces: 9 });
});

test("a spike in the chunk, and an offset, cost the other windows no digits", () => {
  const random = noise(11);
  const column = Array.from({ length: 3_000 }, (_, i) => 1e6 + Math.sin(i / 9) + 0.1 * random());
  const window = [column.slice(1_000, 1_060)];
  for (const spike of [-9_999, 1e12, 1e30]) {
    column[2_000] = spike;
    assertBest({ window, columns: [column], mode: "pattern", count: 8, pieces: 2 });
  }
});

test("a window whose samples differ in their last digit matches windows of its shape", () => {
  const window = [1_000, 999.999_999_999_999_9];
  const column = [...window, 1_001_000, 1_000];
  assertBest({ window: [window], columns: [column], mode: "pattern", count: 2, pieces: 1 });
});

test("constant windows: equal to each other, the root of the length away from all others", () => {
  const column = [...Array.from({ length: 20 }, () => 0.1), ...Array.from({ length: 20 }, (_, i) => i % 7)];
  const flat = found({ window: [[5, 5, 5, 5]], columns: [column], mode: "pattern", count: 9, pieces: 1 });
  assert.deepEqual(
    flat.map(({ squared }) => squared),
    [0, 0, 0, 0, 0, 4, 4, 4, 4],
  );
  const values = found({ window: [[5, 5, 5, 5]], columns: [column], mode: "value", count: 1, pieces: 1 });
  assert.ok(values[0]!.at > 20);
});

test("values whose squares would overflow are gaps", () => {
  const column = [1, 2, 3, 1e200, 1, 2, 3, Number.POSITIVE_INFINITY, 1, 2, 3];
  const matches = found({ window: [[1, 2, 3]], columns: [column], mode: "pattern", count: 9, pieces: 1 });
  assert.deepEqual(
    matches.map(({ at }) => at),
    [0, 4, 8],
  );
});
