// W14: aggregates of windows that were never read before, as people make them who zoom and pan.
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
import type { BucketsAsked, Running, System } from "./systems/system.ts";
import { type Figures, percentile, timesOf } from "./workloads.ts";

export interface ReadScale {
  readonly series: number;
  readonly pointsPerSeries: number;
  /** Windows of each length of bucket and number of functions. */
  readonly windows: number;
  /** Seconds of each load of many readers. */
  readonly seconds: number;
}

export const fullReads: ReadScale = { series: 40, pointsPerSeries: 300_000, windows: 20, seconds: 5 };
export const quickReads: ReadScale = { series: 10, pointsPerSeries: 30_000, windows: 5, seconds: 1 };

/** Lengths of buckets, and how many there are in a window: never more than people see on a screen. */
const kinds = [
  { bucketMs: 7_000, buckets: 2_000 },
  { bucketMs: 60_000, buckets: 1_000 },
  { bucketMs: 300_000, buckets: 500 },
  { bucketMs: 3_600_000, buckets: 50 },
  { bucketMs: 86_400_000, buckets: 2 },
] as const;
const functionCounts = [1, 3, 10] as const;
const frames = kinds.slice(2, 4);

/** Loads the series, which no read has touched before. */
export async function loadForReads(
  { requests, name }: System,
  running: Running,
  { series: count, pointsPerSeries }: ReadScale,
): Promise<readonly GeneratedSeries[]> {
  const connections = await openConnections(running.port);
  const series = generateSeries(count, pointsPerSeries, seed);
  await running.declare(series.map((one) => one.name));
  await drive(connections, backfill());
  for (const one of connections) one.close();
  await running.settle();
  await untilQuiet(running.started.folder);
  console.log(`  ${name}: loaded ${count} series of ${pointsPerSeries} points`);
  return series;

  function* backfill(): Generator<RequestBytes> {
    for (let from = 0; from < pointsPerSeries; from += pointsPerRequest)
      for (const one of series) yield requests.backfill(one, from, from + pointsPerRequest);
  }
}

/** One round. The windows are the same for every system. */
export async function measureNewWindows(
  system: System,
  running: Running,
  { series, scale }: { readonly series: readonly GeneratedSeries[]; readonly scale: ReadScale },
): Promise<Figures> {
  const connections = await openConnections(running.port);
  const [connection] = connections as [Connection];
  const windows = new Windows(series, scale);
  const names = series.map((one) => one.name);
  try {
    const times = new Map<string, number[]>();
    for (const kind of kinds) {
      await checkWhole(system, connection, windows.next(kind));
      for (const functions of functionCounts) {
        const asked = Array.from({ length: scale.windows }, () => windows.next(kind));
        const requests = asked.map(({ name, ...one }) =>
          system.requests.buckets(name, { ...one, functions }),
        );
        times.set(`${kind.bucketMs} ${functions}`, await timesOfAll(connection, requests));
      }
    }
    const framesAsked = frames.flatMap((kind) =>
      Array.from({ length: scale.windows }, () => system.requests.bucketFrame(names, windows.next(kind))),
    );
    const of = (...keys: readonly string[]) => keys.flatMap((key) => times.get(key)!);
    const withFunctions = (count: number) => of(...kinds.map(({ bucketMs }) => `${bucketMs} ${count}`));
    const frameTimes = await timesOfAll(connection, framesAsked);
    return {
      W14seconds: percentile(of("7000 3"), 0.5),
      W14minutes: percentile(of("60000 3"), 0.5),
      W14fiveMinutes: percentile(of("300000 3"), 0.5),
      W14hours: percentile(of("3600000 3"), 0.5),
      W14days: percentile(of("86400000 3"), 0.5),
      W14one: percentile(withFunctions(1), 0.5),
      W14ten: percentile(withFunctions(10), 0.5),
      W14rare: percentile(of(...times.keys()), 0.99),
      W14frame: percentile(frameTimes, 0.5),
      W14frameRare: percentile(frameTimes, 0.99),
    };
  } finally {
    for (const one of connections) one.close();
  }
}

/** Random windows of random series, from a seed: no window begins where another one does. */
class Windows {
  readonly #random = randomFrom(seed);
  readonly #series: readonly GeneratedSeries[];
  readonly #spanMs: number;

  constructor(series: readonly GeneratedSeries[], { pointsPerSeries }: ReadScale) {
    this.#series = series;
    this.#spanMs = pointsPerSeries * 1000;
  }

  next({ bucketMs, buckets }: (typeof kinds)[number]): Omit<BucketsAsked, "functions"> & { name: string } {
    const lengthMs = Math.min(buckets * bucketMs, Math.max(bucketMs, this.#spanMs / 2));
    const length = Math.ceil(lengthMs / bucketMs);
    const firstBucket = Math.floor(startMs / bucketMs);
    const places = Math.max(1, Math.floor(this.#spanMs / bucketMs) - length);
    const from = (firstBucket + Math.floor(this.#random() * places)) * bucketMs;
    const { name } = this.#series[Math.floor(this.#random() * this.#series.length)]!;
    return { name, window: { startMs: from, endMs: from + length * bucketMs }, bucketMs };
  }
}

/** Throws if a response lacks buckets; gaps of a minute and the ends of the series may cost a few. */
async function checkWhole(
  { requests, rows, name: system }: System,
  connection: Connection,
  { name, ...asked }: Omit<BucketsAsked, "functions"> & { readonly name: string },
): Promise<void> {
  const expected = (asked.window.endMs - asked.window.startMs) / asked.bucketMs;
  const request = requests.buckets(name, { ...asked, functions: 1 });
  const { body } = expectSuccess(await connection.send(request));
  const found = rows.hourlyAverage(body);
  if (found < expected * 0.95 - 2 || found > expected + 2)
    throw new Error(`${system} returned ${found} of ${expected} buckets: ${body.toString("utf8", 0, 300)}`);
}

/** Milliseconds of each request, one after the other; each is sent once. */
function timesOfAll(connection: Connection, requests: readonly RequestBytes[]): Promise<number[]> {
  const left = requests.values();
  return timesOf(requests.length, async () => expectSuccess(await connection.send(left.next().value!)));
}
