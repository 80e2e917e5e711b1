// Thousands of random writes, erasures, reads, restarts and crashes: the embedded store answers each question
// as the naive store does, numbers and strings bit for bit, aggregates to 1e-9.
import assert from "node:assert/strict";
import { it } from "node:test";
import { embeddedUnderTest } from "../../../test/support/points-store.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import {
  type AggregateQuestion,
  aggregateNames,
  type PointBatch,
  type PointsStore,
  type SeriesId,
} from "../points.ts";

const operations = Number(process.env["MODEL_OPERATIONS"] ?? 1000);
const seed = Number(process.env["MODEL_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const numberSeries = [4096, 8192, 2 ** 40 + 3, 2 ** 50 + 4096, 12_345];
const stringSeries = [16_384, 2 ** 41];
const spanMs = 40_000;

it(`${operations} random operations, seed ${seed} (MODEL_SEED, MODEL_OPERATIONS)`, async () => {
  const test = await embeddedUnderTest({ shards: 2, blockPoints: 32, checkpointBytes: 30_000 });
  const game = new Game(test.store, seed);
  try {
    for (let turn = 0; turn < operations; turn++) {
      if (turn % 150 === 149) game.store = await (game.chance(0.5) ? test.restart() : test.crash());
      await game.turn();
    }
    await game.compareAll();
  } finally {
    await test.end();
  }
});

class Game {
  store: PointsStore;
  readonly #naive = new NaivePointsStore();
  #state: number;
  /** Where in-order writing goes on. */
  #nowMs = 0;

  constructor(store: PointsStore, seed: number) {
    this.store = store;
    this.#state = seed;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  async turn(): Promise<void> {
    const dice = this.#random();
    if (dice < 0.35) await this.#write();
    else if (dice < 0.39) await this.#erase();
    else if (dice < 0.65) await this.#scan(this.#seriesOfAnyKind());
    else if (dice < 0.8) await this.#latest();
    else await this.#aggregate();
  }

  async compareAll(): Promise<void> {
    for (const series of [...numberSeries, ...stringSeries]) {
      const isString = stringSeries.includes(series);
      const question = { series, isString, startMs: -Infinity, endMs: Infinity, limit: 1e9 };
      assertSame(await this.store.scan(question), await this.#naive.scan(question));
    }
  }

  /** Several writes at once, so that they share a sync. */
  async #write(): Promise<void> {
    const batches = Array.from({ length: this.#whole(1, 4) }, () => this.#batch());
    const copies = batches.map((batch) => structuredClone(batch));
    const stored = batches.map((batch) => this.store.append(batch));
    for (const batch of copies) await this.#naive.append(batch);
    await Promise.all(stored);
  }

  #batch(): PointBatch {
    const runs = Array.from({ length: this.#whole(1, 4) }, () => {
      const series = this.#seriesOfAnyKind();
      return [series, this.#points(stringSeries.includes(series))] as const;
    });
    return batchOf(...runs);
  }

  #points(isString: boolean): [number, number | string][] {
    const count = this.chance(0.1) ? this.#whole(50, 200) : this.#whole(1, 20);
    const isInOrder = this.chance(0.6);
    let timeMs = isInOrder ? this.#nowMs : this.#whole(-spanMs / 10, spanMs);
    const points = Array.from({ length: count }, (): [number, number | string] => {
      timeMs += this.chance(0.8) ? 10 : this.#whole(isInOrder ? 1 : -500, 500);
      return [timeMs, isString ? this.#text() : this.#number()];
    });
    if (isInOrder) this.#nowMs = timeMs < spanMs ? timeMs : 0;
    return points;
  }

  #number(): number {
    if (this.chance(0.02)) return [0, -0, 1e12, -1e-12, 0.1 + 0.2][this.#whole(0, 4)]!;
    return Math.round(this.#random() * 1e6) / 1e3;
  }

  #text(): string {
    return ["", "open", "shut", "Öl", "\ud83d", `${this.#random()}`][this.#whole(0, 5)]!;
  }

  async #erase(): Promise<void> {
    const series = this.#seriesOfAnyKind();
    const startMs = this.#whole(-spanMs / 10, spanMs);
    const range = this.chance(0.1) ? undefined : { startMs, endMs: startMs + this.#whole(1, 3000) };
    await Promise.all([this.store.erase(series, range), this.#naive.erase(series, range)]);
  }

  async #scan(series: SeriesId): Promise<void> {
    const isString = stringSeries.includes(series);
    const startMs = this.#whole(-spanMs / 5, spanMs);
    const includeOutside = this.chance(0.5);
    const endMs = startMs + this.#whole(1, spanMs / 4);
    const question = { series, isString, startMs, endMs, limit: this.#whole(1, 300), includeOutside };
    assertSame(await this.store.scan(question), await this.#naive.scan(question), question);
  }

  async #latest(): Promise<void> {
    const asked = Array.from({ length: this.#whole(1, 9) }, () => {
      const series = this.#seriesOfAnyKind();
      return { series, isString: stringSeries.includes(series) };
    });
    const beforeMs = this.#whole(-spanMs / 5, spanMs * 1.2);
    const found = await this.store.latest(asked, beforeMs);
    assertSame(found, await this.#naive.latest(asked, beforeMs), { asked, beforeMs });
  }

  async #aggregate(): Promise<void> {
    const bucketMs = this.#whole(1, 3000);
    const startMs = this.#whole(-spanMs / 5, spanMs);
    const question: AggregateQuestion = {
      series: numberSeries[this.#whole(0, numberSeries.length - 1)]!,
      isStep: this.chance(0.5),
      startMs,
      endMs: startMs + bucketMs * this.#whole(1, 20),
      bucketMs,
      wanted: aggregateNames.filter(() => this.chance(0.5)),
      limit: this.#whole(1, 25),
    };
    const [found, expected] = [await this.store.aggregate(question), await this.#naive.aggregate(question)];
    assert.deepEqual(found.times, expected.times, JSON.stringify(question));
    for (const [index, name] of question.wanted.entries()) {
      assertNear(found.columns[index]!, expected.columns[index]!, `${name} of ${JSON.stringify(question)}`);
    }
  }

  #seriesOfAnyKind(): SeriesId {
    const all = [...numberSeries, ...stringSeries];
    return all[this.#whole(0, all.length - 1)]!;
  }

  #whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  /** A small generator with the seed as its only state (mulberry32). */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

function assertSame(found: unknown, expected: unknown, question?: unknown): void {
  assert.deepStrictEqual(found, expected, `seed ${seed}: ${JSON.stringify(question)}`);
}

/** Variances of values up to 1e12 are as exact as their squares allow. */
function assertNear(found: Float64Array, expected: Float64Array, what: string): void {
  for (const [row, value] of expected.entries()) {
    const got = found[row]!;
    const isNear = Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value));
    assert.ok(isNear, `seed ${seed}: row ${row} is ${value}, not ${got}: ${what}`);
  }
}
