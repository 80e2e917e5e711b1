// W7: daily aggregates of a year of one series, also directly after late points.
import {
  type GeneratedSeries,
  generateSeries,
  pointsPerRequest,
  randomFrom,
  seed,
  startMs,
} from "./generate.ts";
import { type Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { untilQuiet } from "./process.ts";
import { get, millrace, post } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { type Figures, percentile, timesOf } from "./workloads.ts";

export interface YearScale {
  readonly days: number;
  readonly reads: number;
  readonly latePoints: number;
}

export const fullYear: YearScale = { days: 365, reads: 500, latePoints: 200 };
export const quickYear: YearScale = { days: 15, reads: 50, latePoints: 20 };

const dayMs = 86_400_000;
/** Rounding may differ, as the sums are taken in another order. */
const tolerance = 1e-9;

interface Day {
  readonly timestamp: number;
  readonly average: number;
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** One round on a fresh server: every response is compared with values computed here. */
export async function measureYear(running: Running, scale: YearScale): Promise<Figures> {
  const connections = await openConnections(running.port);
  const [connection] = connections as [Connection];
  try {
    const [series] = generateSeries(1, scale.days * (dayMs / 1000), seed) as [GeneratedSeries];
    await running.declare([series.name]);
    await drive(connections, requestsOf(series));
    await untilQuiet(running.started.folder);
    const year = new Year(series, scale.days);
    const request = requestFor(series.name, scale.days);
    const read = async () => expectSuccess(await connection.send(request));
    year.compare((await read()).body);
    const quiet = await timesOf(scale.reads, read);
    const late: number[] = [];
    for (const { timeMs, value } of latePoints(year, scale)) {
      const items = [{ timestamp: timeMs, value }];
      expectSuccess(
        await connection.send(post(`/timeseries/data/${series.name}`, JSON.stringify({ items }))),
      );
      const started = performance.now();
      const { body } = await read();
      late.push(performance.now() - started);
      year.insert(timeMs, value);
      year.compare(body);
    }
    return { W7: percentile(quiet, 0.99), W7late: percentile(late, 0.99) };
  } finally {
    for (const one of connections) one.close();
  }
}

function* requestsOf(series: GeneratedSeries): Generator<RequestBytes> {
  const { length } = series.times;
  for (let from = 0; from < length; from += pointsPerRequest)
    yield millrace.requests.backfill(series, from, Math.min(length, from + pointsPerRequest));
}

function requestFor(name: string, days: number): RequestBytes {
  const range = `start=${startMs}&end=${startMs + days * dayMs}`;
  return get(`/timeseries/data/${name}?${range}&aggregates=avg,min,max,count&granularity=1d&limit=10000`);
}

/** Between points that are there, and higher than all of them, so that they cannot go unnoticed. */
function* latePoints(
  { firstMs, lastMs }: Year,
  { latePoints: count }: YearScale,
): Generator<{ timeMs: number; value: number }> {
  const random = randomFrom(seed);
  for (let i = 0; i < count; i++)
    yield { timeMs: firstMs + Math.floor(random() * (lastMs - firstMs)), value: 1_000_000 + i };
}

/** The points as they should be stored, and their days computed plainly. */
class Year {
  readonly #times: Float64Array;
  readonly #values: Float64Array;
  readonly #days: Day[];
  #count: number;

  constructor({ times, values }: GeneratedSeries, days: number) {
    const room = 10_000;
    this.#count = times.length;
    this.#times = new Float64Array(times.length + room).fill(Number.POSITIVE_INFINITY);
    this.#values = new Float64Array(times.length + room);
    this.#times.set(times);
    this.#values.set(values);
    this.#days = Array.from({ length: days }, (_, day) => this.#dayOf(startMs + day * dayMs));
  }

  get firstMs(): number {
    return this.#times[0]!;
  }

  get lastMs(): number {
    return this.#times[this.#count - 1]!;
  }

  insert(timeMs: number, value: number): void {
    const at = this.#indexOf(timeMs);
    if (this.#times[at] !== timeMs) {
      this.#times.copyWithin(at + 1, at, this.#count);
      this.#values.copyWithin(at + 1, at, this.#count++);
    }
    this.#times[at] = timeMs;
    this.#values[at] = value;
    const day = Math.floor((timeMs - startMs) / dayMs);
    // Interpolation from the point before and to the point after crosses the limits of a day.
    for (const one of [day - 1, day, day + 1])
      if (this.#days[one]) this.#days[one] = this.#dayOf(startMs + one * dayMs);
  }

  /** Throws if a response differs from the expected values. */
  compare(body: Buffer): void {
    const [{ datapoints }] = JSON.parse(body.toString()).data.items as [{ datapoints: Day[] }];
    const expected = this.#days.filter(({ count }) => count > 0);
    if (datapoints.length !== expected.length) throw new Error(`${datapoints.length} days came`);
    for (const [at, { timestamp, average, min, max, count }] of expected.entries()) {
      const found = datapoints[at]!;
      const isRight =
        [found.timestamp === timestamp, found.min === min, found.max === max, found.count === count].every(
          (one) => one,
        ) && Math.abs(found.average - average) <= tolerance * Math.abs(average);
      if (!isRight) throw new Error(`${JSON.stringify(found)} came for ${JSON.stringify(expected[at])}`);
    }
  }

  /** The mean is that in time of the lines between the points. */
  #dayOf(timestamp: number): Day {
    const [from, to] = [this.#indexOf(timestamp), this.#indexOf(timestamp + dayMs)];
    let [min, max, area] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
    const [startsMs, endsMs] = [
      from === 0 ? this.firstMs : timestamp,
      to === this.#count ? this.lastMs : timestamp + dayMs,
    ];
    let [lastMs, last] = [startsMs, this.#valueAt(startsMs)];
    for (let at = from; at < to; at++) {
      const [timeMs, value] = [this.#times[at]!, this.#values[at]!];
      if (value < min) min = value;
      if (value > max) max = value;
      area += ((last + value) / 2) * (timeMs - lastMs);
      [lastMs, last] = [timeMs, value];
    }
    area += ((last + this.#valueAt(endsMs)) / 2) * (endsMs - lastMs);
    return { timestamp, average: area / (endsMs - startsMs), min, max, count: to - from };
  }

  /** On the line between the points around that time. */
  #valueAt(timeMs: number): number {
    const at = this.#indexOf(timeMs);
    const [nextMs, next] = [this.#times[at]!, this.#values[at]!];
    if (nextMs === timeMs || at === 0) return next;
    const [lastMs, last] = [this.#times[at - 1]!, this.#values[at - 1]!];
    return last + ((next - last) * (timeMs - lastMs)) / (nextMs - lastMs);
  }

  #indexOf(timeMs: number): number {
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#times[middle]! < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
