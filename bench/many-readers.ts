// W15: 32 clients that read all the time.
import { type GeneratedSeries, randomFrom, seed, startMs } from "./generate.ts";
import type { RequestBytes } from "./http.ts";
import type { ReadScale } from "./new-windows.ts";
import type { Running, System } from "./systems/system.ts";
import type { Figures } from "./workloads.ts";
import { runWrk } from "./wrk.ts";

const connections = 32;
/** Different requests of each load. */
const requestCount = 2_000;
const bucketMs = 600_000;

/** One round; throws if a response is not 200. */
export async function measureManyReaders(
  { requests }: System,
  running: Running,
  { series, scale }: { readonly series: readonly GeneratedSeries[]; readonly scale: ReadScale },
): Promise<Figures> {
  const readers = readersOf(requests, series, scale.pointsPerSeries);
  const rateOf = async (make: () => RequestBytes) => {
    const asked = Array.from({ length: requestCount }, make);
    return (await runWrk(running, { requests: asked, connections, seconds: scale.seconds })).perSecond;
  };
  return {
    W15latest: await rateOf(readers.latest),
    W15average: await rateOf(readers.average),
    W15raw: await rateOf(() => readers.raw(1_000)),
  };
}

interface Readers {
  latest(): RequestBytes;
  /** 10-minute averages of 20,000 points. */
  average(): RequestBytes;
  raw(points: number): RequestBytes;
}

/** Random requests from a seed. */
export function readersOf(
  requests: System["requests"],
  series: readonly GeneratedSeries[],
  pointsPerSeries: number,
): Readers {
  const random = randomFrom(seed);
  const one = () => series[Math.floor(random() * series.length)]!;
  const windowOf = (points: number, unitMs: number) => {
    const places = Math.max(1, pointsPerSeries - points);
    const fromMs = startMs + Math.floor((Math.floor(random() * places) * 1000) / unitMs) * unitMs;
    return { startMs: fromMs, endMs: fromMs + Math.ceil((points * 1000) / unitMs) * unitMs };
  };
  return {
    latest() {
      const { name, times } = one();
      return requests.latest(name, times.at(-1)!);
    },
    average: () =>
      requests.buckets(one().name, { window: windowOf(20_000, bucketMs), bucketMs, functions: 1 }),
    raw: (points) => requests.raw(one().name, windowOf(points, 1_000)),
  };
}
