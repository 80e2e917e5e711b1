// A points store made of sorted arrays in memory: too simple to be wrong. Tests compare the real stores with
// it.
import type { TimeRange } from "../../lib/time.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  OldPoints,
  OldPointsQuery,
  Point,
  PointBatch,
  PointColumns,
  PointRuns,
  PointSeries,
  PointsStats,
  PointsStore,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { firstAtOrAfter, naiveAggregate } from "./naive-aggregate.ts";

const dayMs = 86_400_000;

interface NaivePoints {
  readonly times: number[];
  readonly values: (number | string)[];
}

/** Keeps the contract of `PointsStore`, except durability. */
export class NaivePointsStore implements PointsStore {
  readonly scanPoints = 20_000;
  readonly #series = new Map<SeriesId, NaivePoints>();

  async append(batch: PointBatch): Promise<void> {
    if (batch.numbers !== undefined) this.#write(batch.numbers);
    if (batch.strings !== undefined) this.#write(batch.strings);
  }

  async scan(query: ScanQuery): Promise<PointColumns> {
    const { times, values } = this.#read(query.series);
    const before = query.includeOutside === true ? 1 : 0;
    const from = Math.max(0, firstAtOrAfter(times, query.startMs) - before);
    const to = Math.min(firstAtOrAfter(times, query.endMs) + before, from + query.limit, times.length);
    const found = values.slice(from, to);
    return {
      times: Float64Array.from(times.slice(from, to)),
      values: query.isString ? (found as string[]) : Float64Array.from(found as number[]),
    };
  }

  async aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    const { times, values } = this.#read(query.series);
    return naiveAggregate({ times, values: values as number[] }, query);
  }

  async latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]> {
    return series.map((one) => {
      const { times, values } = this.#read(one.series);
      const index = firstAtOrAfter(times, beforeMs) - 1;
      return index < 0 ? undefined : { timeMs: times[index]!, value: values[index]! };
    });
  }

  async delete(series: SeriesId, range: TimeRange = { startMs: -Infinity, endMs: Infinity }): Promise<void> {
    const { times, values } = this.#read(series);
    const from = firstAtOrAfter(times, range.startMs);
    const count = Math.max(0, firstAtOrAfter(times, range.endMs) - from);
    times.splice(from, count);
    values.splice(from, count);
  }

  /** Days are its blocks. */
  async oldPoints(series: readonly OldPointsQuery[]): Promise<OldPoints[]> {
    return series.map((one) => {
      const { times } = this.#read(one.series);
      const endMs = Math.floor(one.beforeMs / dayMs) * dayMs;
      const old = times.filter((timeMs) => timeMs >= (one.fromMs ?? -Infinity) && timeMs < endMs);
      const blocks = new Set(old.map((timeMs) => Math.floor(timeMs / dayMs))).size;
      return {
        ...{ endMs, blocks, points: old.length, hasMore: false },
        ...(old.length > 0 && { firstMs: old[0]! }),
      };
    });
  }

  async stats(): Promise<PointsStats> {
    let points = 0;
    for (const { times } of this.#series.values()) points += times.length;
    return { points, blocks: 0, bytesOnDisk: 0, journalBytes: 0, quarantined: [] };
  }

  async close(): Promise<void> {}

  #read(series: SeriesId): NaivePoints {
    return this.#series.get(series) ?? { times: [], values: [] };
  }

  #write(runs: PointRuns<ArrayLike<number | string>>): void {
    let index = 0;
    for (const [run, end] of runs.ends.entries()) {
      const series = runs.series[run]!;
      const points = this.#read(series);
      this.#series.set(series, points);
      for (; index < end; index++) put(points, runs.times[index]!, runs.values[index]!);
    }
  }
}

function put({ times, values }: NaivePoints, timeMs: number, value: number | string): void {
  const index = firstAtOrAfter(times, timeMs);
  const isReplaced = times[index] === timeMs;
  times.splice(index, isReplaced ? 1 : 0, timeMs);
  values.splice(index, isReplaced ? 1 : 0, value);
}
