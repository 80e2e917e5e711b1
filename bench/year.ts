// W7: daily aggregates of a year of one series: a range that was read before, ranges that begin anywhere and
// were not, each with the cache of aggregates and without it, and directly after late points. Granularity
// `1d`, which the console and clients send, makes days of UTC wherever a range begins; `86400s` makes days
// that begin at its second.
import {
  type GeneratedSeries,
  generateSeries,
  pointsPerRequest,
  randomFrom,
  seed,
  startMs,
} from "./generate.ts";
import { Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { processorSeconds, stopProcess, untilQuiet } from "./process.ts";
import { get, millrace, post } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { type Figures, percentile, timesOf } from "./workloads.ts";

export interface YearScale {
  readonly days: number;
  readonly reads: number;
  /** Of ranges that begin anywhere. */
  readonly coldReads: number;
  readonly latePoints: number;
}

export const fullYear: YearScale = { days: 365, reads: 500, coldReads: 200, latePoints: 200 };
export const quickYear: YearScale = { days: 15, reads: 50, coldReads: 20, latePoints: 20 };

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

/** Not measured, so that a server that has just started has compiled its code. */
const warmUps = 50;

/** One round on a fresh server: responses are compared with values computed here. */
export async function measureYear(running: Running, scale: YearScale): Promise<Figures> {
  const [series] = generateSeries(1, scale.days * (dayMs / 1000), seed) as [GeneratedSeries];
  const connections = await openConnections(running.port);
  const year = new Year(series, scale.days);
  const ranges = { seconds: new ColdRanges(series, "86400s"), days: new ColdRanges(series, "1d") };
  try {
    await running.declare([series.name]);
    await drive(connections, requestsOf(series));
    await untilQuiet(running.started.folder);
    const days = await coldReads(running, ranges.days, scale.coldReads);
    const cold = await coldReads(running, ranges.seconds, scale.coldReads);
    const known = await knownReads(running, year, scale);
    const late = await readsAfterLatePoints(connections[0]!, year, scale);
    await stopProcess(running.started);
    return {
      ...{ W7usual: known.p50, W7nine: known.p90, W7: known.p99, W7processor: known.processorMs },
      ...{ W7days: days.p50, W7daysNine: days.p90, W7daysProcessor: days.processorMs },
      ...{ W7lateUsual: percentile(late, 0.5), W7late: percentile(late, 0.99) },
      ...{ W7cold: cold.p50, W7coldNine: cold.p90, W7coldRare: cold.p99, W7coldProcessor: cold.processorMs },
      ...(await uncachedFigures(running.started.folder, ranges, year, scale)),
    };
  } finally {
    for (const one of connections) one.close();
  }
}

/** The same reads from the same data by a server without the cache. */
async function uncachedFigures(
  folder: string,
  ranges: { readonly seconds: ColdRanges; readonly days: ColdRanges },
  year: Year,
  scale: YearScale,
): Promise<Partial<Figures>> {
  const running = await millrace.uncached!(folder);
  try {
    for (const one of Object.values(ranges)) one.latePoints = scale.latePoints;
    const days = await coldReads(running, ranges.days, scale.coldReads);
    const cold = await coldReads(running, ranges.seconds, scale.coldReads);
    const known = await knownReads(running, year, scale);
    return {
      ...{ W7bare: known.p50, W7bareNine: known.p90, W7bareRare: known.p99 },
      ...{ W7bareDays: days.p50, W7bareDaysNine: days.p90, W7bareDaysProcessor: days.processorMs },
      ...{ W7bareProcessor: known.processorMs, W7bareCold: cold.p50, W7bareColdNine: cold.p90 },
      ...{ W7bareColdRare: cold.p99, W7bareColdProcessor: cold.processorMs },
    };
  } finally {
    await stopProcess(running.started);
  }
}

interface ReadFigures {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** Of the server for a read. */
  readonly processorMs: number;
}

async function knownReads(running: Running, year: Year, { days, reads }: YearScale): Promise<ReadFigures> {
  const connection = await Connection.open(running.port);
  const read = async () => expectSuccess(await connection.send(requestFor(year.name, days)));
  year.compare((await read()).body);
  const figures = await figuresOf(running, reads, read);
  connection.close();
  return figures;
}

async function coldReads(running: Running, ranges: ColdRanges, reads: number): Promise<ReadFigures> {
  const connection = await Connection.open(running.port);
  for (let i = 0; i < warmUps; i++) ranges.check(expectSuccess(await connection.send(ranges.next())).body);
  const requests = Array.from({ length: reads }, () => ranges.next()).values();
  const figures = await figuresOf(running, reads, async () =>
    expectSuccess(await connection.send(requests.next().value!)),
  );
  connection.close();
  return figures;
}

async function figuresOf(
  { started }: Running,
  reads: number,
  read: () => Promise<unknown>,
): Promise<ReadFigures> {
  const before = processorSeconds(started);
  const times = await timesOf(reads, read);
  const processorMs = ((processorSeconds(started) - before) * 1000) / reads;
  const of = (share: number) => percentile(times, share);
  return { p50: of(0.5), p90: of(0.9), p99: of(0.99), processorMs };
}

async function readsAfterLatePoints(
  connection: Connection,
  year: Year,
  scale: YearScale,
): Promise<readonly number[]> {
  const request = requestFor(year.name, scale.days);
  const times: number[] = [];
  for (const { timeMs, value } of latePoints(year, scale)) {
    const items = [{ timestamp: timeMs, value }];
    expectSuccess(await connection.send(post(`/timeseries/data/${year.name}`, JSON.stringify({ items }))));
    const started = performance.now();
    const { body } = expectSuccess(await connection.send(request));
    times.push(performance.now() - started);
    year.insert(timeMs, value);
    year.compare(body);
  }
  return times;
}

/**
 * Ranges of the whole year that begin at a random second, each at another one. With `86400s`, no bucket is
 * one that was read before.
 */
class ColdRanges {
  readonly #random = randomFrom(seed);
  readonly #seen = new Set<number>([0]);
  readonly #name: string;
  readonly #granularity: string;
  readonly #lastMs: number;
  readonly #count: number;
  latePoints = 0;

  constructor({ name, times }: GeneratedSeries, granularity: string) {
    this.#name = name;
    this.#granularity = granularity;
    this.#lastMs = times.at(-1)!;
    this.#count = times.length;
  }

  next(): RequestBytes {
    let second = 0;
    while (this.#seen.has(second)) second = Math.floor(this.#random() * (dayMs / 1000));
    this.#seen.add(second);
    const start = startMs - second * 1000;
    // Gaps between points make the series longer than its days.
    const range = `start=${start}&end=${this.#lastMs + 1}`;
    const query = `${range}&aggregates=avg,min,max,count&granularity=${this.#granularity}&limit=10000`;
    return get(`/timeseries/data/${this.#name}?${query}`);
  }

  /** Throws if a response lacks points. */
  check(body: Buffer): void {
    const [{ datapoints }] = JSON.parse(body.toString()).data.items as [{ datapoints: Day[] }];
    const found = datapoints.reduce((sum, { count }) => sum + count, 0);
    if (found < this.#count || found > this.#count + this.latePoints)
      throw new Error(`${found} points of ${this.#count} are in the days`);
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
  readonly name: string;
  readonly #times: Float64Array;
  readonly #values: Float64Array;
  readonly #days: Day[];
  #count: number;

  constructor({ name, times, values }: GeneratedSeries, days: number) {
    this.name = name;
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
