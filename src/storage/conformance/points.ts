// Conformance suite of the points port: scenarios that every points store must pass.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AggregateQuery, PointBatch, PointsStore, SeriesId } from "../points.ts";
import { naiveAggregate } from "./naive-aggregate.ts";

/**
 * A store under test. `restart` or `crash` is absent for a store without it; its scenarios are then skipped.
 */
export interface StoreUnderTest {
  readonly store: PointsStore;
  /** Closes the store and opens it again. */
  restart?(): Promise<PointsStore>;
  /** Opens a store on the files that a crash now would leave; the first store stays open. */
  crash?(): Promise<PointsStore>;
  end(): Promise<void>;
}

type Written = readonly (readonly [timeMs: number, value: number | string])[];

/** Typical series ids: far apart, some above 32 bits. */
const pump = 885_837_004_804_096;
const motor = 4096;
const valve = 2 ** 40 + 8192;
const everything = { startMs: -Infinity, endMs: Infinity, limit: 1_000_000 };

/** A batch of runs; those with strings go to `strings`, the others to `numbers`. */
export function batchOf(...runs: readonly (readonly [SeriesId, Written])[]): PointBatch {
  const isString = ([, points]: (typeof runs)[number]) => typeof points[0]?.[1] === "string";
  const [texts, numbers] = [runs.filter(isString), runs.filter((run) => !isString(run))];
  const columns = (chosen: typeof runs) => {
    let end = 0;
    const points = chosen.flatMap(([, written]) => written);
    return {
      series: Float64Array.from(chosen, ([series]) => series),
      ends: Uint32Array.from(chosen, ([, written]) => {
        end += written.length;
        return end;
      }),
      times: Float64Array.from(points, ([timeMs]) => timeMs),
      values: points.map(([, value]) => value),
    };
  };
  const [ofNumbers, ofTexts] = [columns(numbers), columns(texts)];
  return {
    ...(numbers.length > 0 && {
      numbers: { ...ofNumbers, values: Float64Array.from(ofNumbers.values as number[]) },
    }),
    ...(texts.length > 0 && { strings: { ...ofTexts, values: ofTexts.values as string[] } }),
  };
}

/** Parses points written as `"10=1.5 20=2"`: the value 1.5 at time 10, and so on. */
export function at(text: string): [number, number][] {
  return text.split(" ").map((point) => point.split("=").map(Number) as [number, number]);
}

/** All points of a series as pairs. */
export async function pointsOf(store: PointsStore, series: SeriesId, isString = false): Promise<Written> {
  const { times, values } = await store.scan({ series, isString, ...everything });
  return Array.from(times, (timeMs, index) => [timeMs, values[index]!] as const);
}

/** `count` points from `fromMs` on, one every `stepMs`, with the values of a sine wave. */
export function sineWave(count: number, fromMs: number, stepMs: number): [number, number][] {
  return Array.from({ length: count }, (_, i) => [
    fromMs + i * stepMs,
    Math.round(Math.sin(i / 50) * 1e5) / 1e3,
  ]);
}

/** Registers the suite. `open` creates an empty store for each test. */
export function pointsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const scenario = (title: string, play: (test: StoreUnderTest) => Promise<void>) =>
    it(title, async () => {
      const test = await open();
      try {
        await play(test);
      } finally {
        await test.end();
      }
    });
  describe(`${name} as a points store`, () => {
    describe("writes", () => writes(scenario));
    describe("values", () => values(scenario));
    describe("batches", () => batches(scenario));
    describe("reads", () => reads(scenario));
    describe("lookups", () => lookups(scenario));
    describe("old points", () => oldPoints(scenario));
    describe("deletes", () => deletes(scenario));
    describe("aggregates", () => aggregates(scenario));
    describe("durability", () => durability(scenario));
  });
}

type Scenario = (title: string, play: (test: StoreUnderTest) => Promise<void>) => void;

function writes(scenario: Scenario): void {
  scenario("points are returned in order of time, whatever order they were written in", async ({ store }) => {
    await store.append(batchOf([pump, at("30=3 10=1 20=2")]));
    await store.append(batchOf([pump, at("-5=-0 25=2.5")]));
    assert.deepEqual(await pointsOf(store, pump), at("-5=-0 10=1 20=2 25=2.5 30=3"));
  });

  scenario("of equal times the last written wins, within a batch and after it", async ({ store }) => {
    await store.append(batchOf([pump, at("10=1 20=2 10=3")], [motor, at("10=9")], [pump, at("20=4")]));
    assert.deepEqual(await pointsOf(store, pump), at("10=3 20=4"));
    await store.append(batchOf([pump, at("10=5")]));
    assert.deepEqual(await pointsOf(store, pump), at("10=5 20=4"));
    assert.deepEqual(await pointsOf(store, motor), at("10=9"));
  });
}

function values(scenario: Scenario): void {
  scenario("strings keep every character", async ({ store }) => {
    const texts: Written = [
      [1, ""],
      [2, "open"],
      [3, "Öl 🛢 \u0000 \n\"'"],
      [4, "x".repeat(16_384)],
    ];
    await store.append(batchOf([valve, texts], [pump, at("1=1")]));
    await store.append(batchOf([valve, [[2, "shut"]]]));
    assert.deepEqual(await pointsOf(store, valve, true), [texts[0], [2, "shut"], texts[2], texts[3]]);
  });

  scenario("numbers keep every bit", async ({ store }) => {
    const values = [0, -0, 5e-324, -1.7976931348623157e308, 0.1, 1e21, 2 ** 53 + 2, 123456.78901234567];
    await store.append(batchOf([pump, values.map((value, index) => [index, value] as const)]));
    const { values: found } = await store.scan({ series: pump, isString: false, ...everything });
    assert.deepEqual(
      new Uint8Array((found as Float64Array).slice().buffer),
      new Uint8Array(Float64Array.from(values).buffer),
    );
  });
}

function batches(scenario: Scenario): void {
  scenario("a batch of many series writes all of them, and an empty one nothing", async ({ store }) => {
    const many = Array.from(
      { length: 500 },
      (_, i) =>
        [
          (i + 1) * 4096,
          [
            [1000, i],
            [2000, -i],
          ],
        ] as const,
    );
    await store.append(batchOf(...many));
    await store.append({});
    await store.append(batchOf([pump, []]));
    for (const [series, points] of many) assert.deepEqual(await pointsOf(store, series), points);
    assert.deepEqual(await pointsOf(store, pump), []);
    assert.equal((await store.stats()).points, 1000);
  });

  scenario("arrays that are parts of one buffer are written as they are", async ({ store }) => {
    const shared = Float64Array.of(1, 2, 3, 10, 20, 30, pump);
    const series = shared.subarray(6);
    const runs = {
      series,
      ends: Uint32Array.of(3),
      times: shared.subarray(0, 3),
      values: shared.subarray(3, 6),
    };
    await store.append({ numbers: runs });
    assert.deepEqual(await pointsOf(store, pump), at("1=10 2=20 3=30"));
  });

  scenario("each of hundreds of concurrent writes is visible once it resolves", async ({ store }) => {
    const write = async (index: number) => {
      await store.append(batchOf([motor, [[index, index]]], [pump, [[index, -index]]]));
      const found = await store.scan({
        series: pump,
        isString: false,
        startMs: index,
        endMs: index + 1,
        limit: 1,
      });
      assert.deepEqual([...found.values], [-index]);
    };
    await Promise.all(Array.from({ length: 300 }, (_, index) => write(index)));
    assert.equal((await pointsOf(store, motor)).length, 300);
  });
}

const rangeOfPump = { series: pump, isString: false, startMs: 20, endMs: 40 };

async function times(
  store: PointsStore,
  more: { limit: number; includeOutside?: boolean },
): Promise<number[]> {
  return [...(await store.scan({ ...rangeOfPump, ...more })).times];
}

function reads(scenario: Scenario): void {
  scenario("a range includes its start and not its end, and is cut at the limit", async ({ store }) => {
    await store.append(batchOf([pump, sineWave(6, 0, 10)]));
    assert.deepEqual(await times(store, { limit: 100 }), [20, 30]);
    assert.deepEqual(await times(store, { limit: 1 }), [20]);
    assert.deepEqual(await times(store, { limit: 2 }), [20, 30]);
  });

  scenario("points outside count towards the limit", async ({ store }) => {
    await store.append(batchOf([pump, sineWave(6, 0, 10)]));
    assert.deepEqual(await times(store, { limit: 100, includeOutside: true }), [10, 20, 30, 40]);
    for (const limit of [1, 2, 3, 4]) {
      const expected = [10, 20, 30, 40].slice(0, limit);
      assert.deepEqual(await times(store, { limit, includeOutside: true }), expected);
    }
  });

  scenario("points outside are found when there is nothing inside", async ({ store }) => {
    await store.append(batchOf([pump, at("5=1 50=2")], [motor, at("30=3")]));
    assert.deepEqual(await times(store, { limit: 100, includeOutside: true }), [5, 50]);
    assert.deepEqual(await times(store, { limit: 100 }), []);
  });
}

const dayMs = 86_400_000;

/** Points of some days, three a day, some before 1970. */
const daysOf = (days: readonly number[]): [number, number][] =>
  days.flatMap((day) => [0, 1_000, dayMs - 1].map((ms): [number, number] => [day * dayMs + ms, day]));

function oldPoints(scenario: Scenario): void {
  scenario("a deletion up to the end of the old points removes as many as counted", async (test) => {
    const all = daysOf([-2, -1, 0, 1, 7, 8]);
    await test.store.append(batchOf([pump, all], [motor, all.slice(3)], [valve, [[5, "shut"]]]));
    const store = (await test.restart?.()) ?? test.store;
    for (const days of [-2, 0, 5, 8, 20]) {
      const beforeMs = days * dayMs + 500;
      const wanted = [pump, motor, 99 * 4096, valve].map((series) => {
        return { series, isString: series === valve, beforeMs };
      });
      const before = await Promise.all(wanted.map((one) => pointsOf(store, one.series, one.isString)));
      const found = await store.oldPoints(wanted, 1_000);
      for (const [i, { series, isString }] of wanted.entries()) {
        const { endMs, points, firstMs } = found[i]!;
        assert.ok(endMs <= beforeMs);
        const old = before[i]!.filter(([timeMs]) => timeMs < endMs);
        assert.equal(points, old.length);
        assert.equal(firstMs, old[0]?.[0]);
        await store.delete(series, { startMs: -Infinity, endMs });
        assert.deepEqual(await pointsOf(store, series, isString), before[i]!.slice(old.length));
      }
      const again = await store.oldPoints(wanted, 1_000);
      assert.deepEqual(
        again.map(({ points, blocks }) => points + blocks),
        [0, 0, 0, 0],
      );
    }
    assert.deepEqual(await pointsOf(store, pump), []);
  });

  scenario("old points are counted again from a time, and points that come late count", async ({ store }) => {
    const all = daysOf([0, 1, 2]);
    await store.append(batchOf([pump, all]));
    const query = { series: pump, isString: false, beforeMs: 10 * dayMs };
    const pointsFrom = async (more: { fromMs?: number }) =>
      (await store.oldPoints([{ ...query, ...more }], 1_000))[0]!.points;
    assert.equal(await pointsFrom({}), 9);
    assert.equal(await pointsFrom({ fromMs: dayMs + 1_000 }), 5);
    await store.delete(pump, { startMs: -Infinity, endMs: 10 * dayMs });
    assert.equal(await pointsFrom({}), 0);
    await store.append(batchOf([pump, [[dayMs, 7]]]));
    assert.equal(await pointsFrom({}), 1);
    assert.deepEqual(await pointsOf(store, pump), [[dayMs, 7]]);
  });
}

function lookups(scenario: Scenario): void {
  scenario("a series without points gives empty results", async ({ store }) => {
    assert.deepEqual(await times(store, { limit: 100, includeOutside: true }), []);
    const { values } = await store.scan({ ...rangeOfPump, series: valve, isString: true, limit: 10 });
    assert.deepEqual(values, []);
    assert.deepEqual(await store.latest([{ series: pump, isString: false }], 100), [undefined]);
  });

  scenario(
    "latest is strictly before the time, for each series in the order of the query",
    async ({ store }) => {
      await store.append(batchOf([pump, at("10=1 20=2")], [motor, at("20=7")], [valve, [[15, "shut"]]]));
      const refs = [
        { series: motor, isString: false },
        { series: valve, isString: true },
        { series: 99 * 4096, isString: false },
        { series: pump, isString: false },
      ];
      const shut = { timeMs: 15, value: "shut" };
      assert.deepEqual(await store.latest(refs, 20), [undefined, shut, undefined, { timeMs: 10, value: 1 }]);
      const newest = [{ timeMs: 20, value: 7 }, shut, undefined, { timeMs: 20, value: 2 }];
      assert.deepEqual(await store.latest(refs, 21), newest);
    },
  );

  scenario("long series are read in pages without a gap or a repeat", async ({ store }) => {
    const points = sineWave(30_000, 1000, 10);
    await store.append(batchOf([pump, points]));
    assert.deepEqual(await pagesOf(store), points);
  });

  scenario("pages are exact whatever part of a long series was written first", async ({ store }) => {
    const points = sineWave(30_000, 1000, 10);
    for (const [from, to] of [
      [20_000, 30_000],
      [0, 9_000],
      [9_000, 20_000],
    ] as const)
      await store.append(batchOf([pump, points.slice(from, to)]));
    assert.deepEqual(await pagesOf(store), points);
    const changed = points.slice(5_000, 6_000).map(([timeMs]): [number, number] => [timeMs, 7]);
    await store.append(batchOf([pump, changed]));
    assert.deepEqual(await pagesOf(store), points.toSpliced(5_000, 1_000, ...changed));
  });
}

/** All points of the pump, read in pages. */
async function pagesOf(store: PointsStore): Promise<[number, number][]> {
  const found: [number, number][] = [];
  const limit = 7_000;
  for (let startMs = 0; ; startMs = found.at(-1)![0] + 1) {
    const { times, values } = await store.scan({ ...rangeOfPump, startMs, endMs: 1e9, limit });
    for (const [at, timeMs] of times.entries()) found.push([timeMs, values[at] as number]);
    if (times.length < limit) return found;
  }
}

function deletes(scenario: Scenario): void {
  scenario("a deleted range loses its points and no others", async ({ store }) => {
    await store.append(batchOf([pump, sineWave(20_000, 0, 10)], [motor, at("100=1")]));
    await store.delete(pump, { startMs: 95, endMs: 150_000 });
    const expected = sineWave(20_000, 0, 10).filter(([timeMs]) => timeMs < 95 || timeMs >= 150_000);
    assert.deepEqual(await pointsOf(store, pump), expected);
    assert.deepEqual(await pointsOf(store, motor), at("100=1"));
  });

  scenario("all points of a series are deleted, and it can be written again", async ({ store }) => {
    await store.append(batchOf([pump, sineWave(10_000, 0, 10)], [valve, [[1, "open"]]]));
    await store.delete(pump);
    await store.delete(valve);
    assert.deepEqual(await pointsOf(store, pump), []);
    assert.deepEqual(await pointsOf(store, valve, true), []);
    await store.append(batchOf([pump, at("50=5")]));
    assert.deepEqual(await pointsOf(store, pump), at("50=5"));
  });

  scenario("a single point is deleted", async ({ store }) => {
    await store.append(batchOf([pump, at("10=1 20=2 30=3")]));
    await store.delete(pump, { startMs: 20, endMs: 21 });
    assert.deepEqual(await pointsOf(store, pump), at("10=1 30=3"));
    await store.delete(motor, { startMs: 0, endMs: 10 });
  });
}

function aggregates(scenario: Scenario): void {
  const aggregates: AggregateQuery["aggregates"] = [
    "average",
    "count",
    "min",
    "max",
    "sum",
    "totalVariation",
  ];
  const query = {
    series: pump,
    isStep: false,
    startMs: 0,
    endMs: 400_000,
    bucketMs: 40_000,
    aggregates,
    limit: 100,
  };

  scenario("are exact as soon as a write resolves, also after late points", async ({ store }) => {
    const points = new Map(sineWave(30_000, 0, 10));
    await store.append(batchOf([pump, [...points]]));
    await checkAggregates(store, points, query);
    for (const [timeMs, value] of at("155=1e6 120000=-7 299990=3")) {
      points.set(timeMs, value);
      await store.append(batchOf([pump, [[timeMs, value]]]));
      await checkAggregates(store, points, query);
    }
    await checkAggregates(store, points, { ...query, isStep: true, bucketMs: 1000, limit: 17 });
    await checkAggregates(store, points, { ...query, startMs: -80_000, endMs: 80_000 });
  });
}

/** Asserts equal times, and values within 1e-9 of the naive reference. */
async function checkAggregates(
  store: PointsStore,
  points: ReadonlyMap<number, number>,
  query: AggregateQuery,
): Promise<void> {
  const ascending = [...points].sort(([a], [b]) => a - b);
  const series = { times: ascending.map(([timeMs]) => timeMs), values: ascending.map(([, value]) => value) };
  const expected = naiveAggregate(series, query);
  const found = await store.aggregate(query);
  assert.deepEqual(found.times, expected.times);
  for (const [index, name] of query.aggregates.entries()) {
    for (const [row, value] of expected.columns[index]!.entries()) {
      const got = found.columns[index]![row]!;
      const isNear = Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value));
      assert.ok(isNear, `${name} of the bucket at ${expected.times[row]} is ${value}, not ${got}`);
    }
  }
}

function durability(scenario: Scenario): void {
  const points = sineWave(20_000, 0, 10);
  const after: Written = [[5, 55], ...points.slice(0, 18_000), [1_000_000, 2]].toSorted(
    ([a], [b]) => Number(a) - Number(b),
  ) as never;

  async function write(store: PointsStore): Promise<void> {
    await store.append(batchOf([pump, points], [valve, [[1, "open"]]]));
    await store.append(batchOf([pump, at("1000000=1 5=55")], [motor, at("7=7")]));
    await store.delete(pump, { startMs: 180_000, endMs: 999_999 });
    await store.append(batchOf([pump, at("1000000=2")]));
    await store.delete(motor);
  }

  async function check(store: PointsStore): Promise<void> {
    assert.deepEqual(await pointsOf(store, pump), after);
    assert.deepEqual(await pointsOf(store, valve, true), [[1, "open"]]);
    assert.deepEqual(await pointsOf(store, motor), []);
  }

  scenario("written points are there after a restart, and after a second one", async ({ store, restart }) => {
    if (restart === undefined) return;
    await write(store);
    await check(await restart());
    await check(await restart());
  });

  scenario(
    "acknowledged points are there after a crash, and more can be written",
    async ({ store, crash }) => {
      if (crash === undefined) return;
      await write(store);
      const found = await crash();
      await check(found);
      await found.append(batchOf([motor, at("8=8")]));
      assert.deepEqual(await pointsOf(found, motor), at("8=8"));
    },
  );
}
