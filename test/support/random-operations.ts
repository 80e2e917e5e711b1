// Random writes, deletions and reads of a points store: each result equals that of the naive store, bit for
// bit, and aggregates to 1e-9.
import assert from "node:assert/strict";
import type { TimeRange } from "../../src/lib/time.ts";
import { needsNeighbours } from "../../src/storage/aggregation.ts";
import { NaivePointsStore } from "../../src/storage/conformance/naive-points.ts";
import { batchOf } from "../../src/storage/conformance/points.ts";
import {
  type AggregateQuery,
  aggregateNames,
  type PointBatch,
  type PointsStore,
  type SeriesId,
} from "../../src/storage/points.ts";
import { randomFrom, seed } from "./proof.ts";

const numberSeries = [4096, 8192, 2 ** 40 + 3, 2 ** 50 + 4096, 12_345];
const stringSeries = [16_384, 2 ** 41];
const spanMs = 40_000;
/** Aggregates that are read again later. */
const repeatedMax = 6;

/** Random changes and queries of a store; each result must equal that of the naive store. */
export class RandomOperations {
  store: PointsStore;
  /** Number of calls of the store so far. */
  operations = 0;
  readonly #naive = new NaivePointsStore();
  readonly #random = randomFrom(seed);
  readonly #aggregates: (() => Promise<void>)[] = [];
  /** Time of the next point in order. */
  #nowMs = 0;

  constructor(store: PointsStore) {
    this.store = store;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** Several concurrent changes, which share a sync, or several concurrent queries between two changes. */
  async turn(): Promise<void> {
    const calls = this.#whole(1, 30);
    this.operations += calls;
    const next = this.chance(0.4) ? () => this.#change() : () => this.#query();
    await Promise.all(Array.from({ length: calls }, next));
  }

  async compareAll(): Promise<void> {
    for (const series of [...numberSeries, ...stringSeries]) {
      const isString = stringSeries.includes(series);
      const query = { series, isString, startMs: -Infinity, endMs: Infinity, limit: 1e9 };
      assertSame(await this.store.scan(query), await this.#naive.scan(query));
    }
  }

  async #change(): Promise<void> {
    if (this.chance(0.1)) return this.#delete();
    const batch = this.#batch();
    await Promise.all([this.#naive.append(structuredClone(batch)), this.store.append(batch)]);
  }

  #query(): Promise<void> {
    const dice = this.#random();
    if (dice < 0.4) return this.#scan(this.#seriesOfAnyKind());
    return dice < 0.65 ? this.#latest() : this.#aggregate();
  }

  #batch(): PointBatch {
    const runs = Array.from({ length: this.#whole(1, 3) }, () => {
      const series = this.#seriesOfAnyKind();
      return [series, this.#points(stringSeries.includes(series))] as const;
    });
    return batchOf(...runs);
  }

  #points(isString: boolean): [number, number | string][] {
    const count = this.chance(0.03) ? this.#whole(50, 200) : this.#whole(1, 5);
    const isInOrder = this.chance(0.6);
    let timeMs = isInOrder ? this.#nowMs : this.#whole(-spanMs / 10, spanMs);
    const points = Array.from({ length: count }, (): [number, number | string] => {
      timeMs += this.chance(0.8) ? 10 : this.#whole(isInOrder ? 1 : -500, 500);
      return [timeMs, isString ? this.#string() : this.#number()];
    });
    if (isInOrder) this.#nowMs = timeMs < spanMs ? timeMs : 0;
    return points;
  }

  #number(): number {
    if (this.chance(0.02)) return [0, -0, 1e12, -1e-12, 0.1 + 0.2][this.#whole(0, 4)]!;
    return Math.round(this.#random() * 1e6) / 1e3;
  }

  #string(): string {
    return ["", "open", "shut", "Öl", "\ud83d", `${this.#random()}`][this.#whole(0, 5)]!;
  }

  async #delete(): Promise<void> {
    const series = this.#seriesOfAnyKind();
    const startMs = this.#whole(-spanMs / 10, spanMs);
    const range = this.chance(0.1) ? undefined : { startMs, endMs: startMs + this.#whole(1, 3000) };
    await Promise.all([this.store.delete(series, range), this.#naive.delete(series, range)]);
  }

  async #scan(series: SeriesId): Promise<void> {
    const isString = stringSeries.includes(series);
    const startMs = this.#whole(-spanMs / 5, spanMs);
    const includeOutside = this.chance(0.5);
    const endMs = startMs + this.#whole(1, spanMs / 4);
    const query = { series, isString, startMs, endMs, limit: this.#whole(1, 300), includeOutside };
    assertSame(await this.store.scan(query), await this.#naive.scan(query), query);
  }

  async #latest(): Promise<void> {
    const refs = Array.from({ length: this.#whole(1, 9) }, () => {
      const series = this.#seriesOfAnyKind();
      return { series, isString: stringSeries.includes(series) };
    });
    const beforeMs = this.#whole(-spanMs / 5, spanMs * 1.2);
    const found = await this.store.latest(refs, beforeMs);
    assertSame(found, await this.#naive.latest(refs, beforeMs), { refs, beforeMs });
  }

  /** A new aggregate, or one of the last ones again: a store may keep its result. */
  async #aggregate(): Promise<void> {
    if (this.#aggregates.length === repeatedMax && this.chance(0.7))
      return this.#aggregates[this.#whole(0, repeatedMax - 1)]!();
    const aggregate = this.#newAggregate();
    if (this.#aggregates.length === repeatedMax) this.#aggregates.shift();
    this.#aggregates.push(aggregate);
    return aggregate();
  }

  #newAggregate(): () => Promise<void> {
    const bucketMs = this.#whole(1, 3000);
    const startMs = this.#whole(-spanMs / 5, spanMs);
    const endMs = startMs + bucketMs * this.#whole(1, 20);
    const names = aggregateNames.filter(() => this.chance(0.5));
    const ownNames = names.filter((name) => !needsNeighbours({ aggregates: [name] }));
    const clip = this.chance(0.4) && this.#clip(startMs, endMs, bucketMs);
    const query: Omit<AggregateQuery, "series"> = {
      isStep: this.chance(0.5),
      ...{ startMs, endMs, bucketMs },
      ...(clip ? { clip, aggregates: ownNames } : { aggregates: names }),
      limit: this.#whole(1, 25),
    };
    const one = numberSeries[this.#whole(0, numberSeries.length - 1)]!;
    // The same buckets of several series, as a frame reads them.
    const all = this.chance(0.5) ? [one] : [one, ...numberSeries];
    return async () => {
      await Promise.all(all.map((series) => this.#compareAggregates({ ...query, series })));
    };
  }

  /** From a time of the first bucket to one of the last, which may be the same bucket. */
  #clip(startMs: number, endMs: number, bucketMs: number): TimeRange {
    const fromMs = startMs + this.#whole(0, bucketMs - 1);
    return { startMs: fromMs, endMs: Math.max(fromMs, endMs - this.#whole(0, bucketMs - 1)) };
  }

  async #compareAggregates(query: AggregateQuery): Promise<void> {
    const [found, expected] = [await this.store.aggregate(query), await this.#naive.aggregate(query)];
    assert.deepEqual(found.times, expected.times, JSON.stringify(query));
    for (const [index, name] of query.aggregates.entries()) {
      assertNear(found.columns[index]!, expected.columns[index]!, `${name} of ${JSON.stringify(query)}`);
    }
  }

  #seriesOfAnyKind(): SeriesId {
    const all = [...numberSeries, ...stringSeries];
    return all[this.#whole(0, all.length - 1)]!;
  }

  #whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }
}

function assertSame(found: unknown, expected: unknown, query?: unknown): void {
  assert.deepStrictEqual(found, expected, `seed ${seed}: ${JSON.stringify(query)}`);
}

/** Rounding of their squares limits the variances of values up to 1e12. */
function assertNear(found: Float64Array, expected: Float64Array, what: string): void {
  for (const [row, value] of expected.entries()) {
    const got = found[row]!;
    const isNear = Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value));
    assert.ok(isNear, `seed ${seed}: row ${row} is ${value}, not ${got}: ${what}`);
  }
}
