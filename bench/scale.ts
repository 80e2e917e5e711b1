// `--scale`: measures growth with the number of points and of series, each at three sizes a factor of ten or
// more apart.
import { type GeneratedSeries, generateSeries, pointsPerRequest, seed, startMs } from "./generate.ts";
import {
  Connection,
  drive,
  expectSuccess,
  openConnections,
  type RequestBytes,
  requestBytes,
} from "./http.ts";
import { bytesOnDisk, memoryMb, peakMemoryMb, processorSeconds, stopProcess, untilQuiet } from "./process.ts";
import { figure } from "./report.ts";
import { millrace, post } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { percentile, timesOf } from "./workloads.ts";

interface Size {
  readonly series: number;
  readonly pointsPerSeries: number;
}

const million = 1_000_000;

const byPoints: readonly Size[] = [1, 10, 100].map((millions) => ({
  series: 100,
  pointsPerSeries: (millions * million) / 100,
}));
const bySeries: readonly Size[] = [100, 10_000, million].map((series) => ({ series, pointsPerSeries: 3 }));
const quick = ({ series, pointsPerSeries }: Size): Size =>
  pointsPerSeries > 3
    ? { series, pointsPerSeries: pointsPerSeries / 50 }
    : { series: Math.ceil(series / 50), pointsPerSeries };

/** Shapes of values that the series take turns with. */
const shapes = 10;
const seriesPerRequest = 5_000;
const reads = 200;
const hourMs = 3_600_000;
const health = requestBytes({ method: "GET", path: "/health" });

/** The figures of one size; times are in ms if no other unit is named. */
interface Costs {
  readonly create: number;
  readonly load: number;
  readonly processor: number;
  readonly start: number;
  readonly latest: number;
  readonly average: number;
  readonly raw: number;
  readonly stats: number;
  readonly loaded: number;
  readonly resident: number;
  readonly bytes: number;
  /** Of sizes whose points are scans. */
  readonly repeated?: number;
}

const titles: Readonly<Record<keyof Costs, string>> = {
  create: "series created, 1/s",
  load: "points loaded, 1/s",
  processor: "processor time of the server for a million points, s",
  start: "start to first response, s",
  latest: "latest of one series, p50, ms",
  average: "hourly average of a day, p50, ms",
  raw: "10,000 raw points, p50, ms",
  stats: "/health, p50, ms",
  loaded: "highest resident memory while loading, MiB",
  resident: "resident memory after a start and these reads, MiB",
  bytes: "bytes a point on disk, series included",
  repeated: "highest resident memory when then each series gets its last point again, MiB",
};

type OpenServer = (work: (running: Running) => Promise<void>) => Promise<void>;

/** Two tables in Markdown. It takes some minutes and 1 GB of disk. */
export async function measureScale(open: OpenServer, isQuick: boolean): Promise<string> {
  const tables: string[] = [];
  for (const [title, sizes] of [["Points", byPoints] as const, ["Series", bySeries] as const]) {
    const measured: { size: Size; costs: Costs }[] = [];
    for (const full of sizes) {
      const size = isQuick ? quick(full) : full;
      await open(async (running) => {
        measured.push({ size, costs: await costsOf(running, size) });
      });
      console.log(nameOf(size), measured.at(-1)!.costs);
    }
    tables.push(tableOf(title, measured));
  }
  return tables.join("\n\n");
}

const nameOf = ({ series, pointsPerSeries }: Size) =>
  `${figure(series * pointsPerSeries)} points in ${figure(series)} series`;

function tableOf(title: string, measured: readonly { size: Size; costs: Costs }[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const head = [title, ...measured.map(({ size }) => nameOf(size))];
  const isMeasured = (key: keyof Costs) => measured.some(({ costs }) => costs[key] !== undefined);
  const rows = (Object.keys(titles) as (keyof Costs)[]).filter(isMeasured).map((key) => {
    const cells = measured.map(({ costs: { [key]: cost } }) => (cost === undefined ? "-" : figure(cost)));
    return line([titles[key], ...cells]);
  });
  return [line(head), line(head.map(() => "---")), ...rows].join("\n");
}

async function costsOf(running: Running, size: Size): Promise<Costs> {
  const { folder } = running.started;
  const connections = await openConnections(running.port);
  const names = Array.from({ length: size.series }, (_, at) => `scale${String(at).padStart(7, "0")}`);
  console.log(`${nameOf(size)}: creating`);
  const creating = await drive(connections, creations(names));
  console.log(`${nameOf(size)}: loading`);
  const patterns = generateSeries(Math.min(shapes, size.series), size.pointsPerSeries, seed);
  const isBackfill = size.pointsPerSeries > 100;
  const requests = isBackfill ? backfill(names, patterns) : scans(names, patterns);
  const before = processorSeconds(running.started);
  const loading = await drive(connections, requests);
  for (const one of connections) one.close();
  await untilQuiet(folder);
  const processor = processorSeconds(running.started) - before;
  const loaded = peakMemoryMb(running.started);
  await stopProcess(running.started);
  console.log(`${nameOf(size)}: starting and reading`);
  const started = performance.now();
  const again = await millrace.start(folder);
  try {
    const first = await readCosts(again, names, started);
    const points = size.series * size.pointsPerSeries;
    const costs = {
      ...{ create: size.series / creating, load: points / loading, loaded, ...first },
      processor: (processor / points) * million,
      ...{ resident: memoryMb(again.started), bytes: bytesOnDisk(folder) / points },
    };
    if (isBackfill) return costs;
    const writers = await openConnections(again.port);
    await drive(writers, scans(names, patterns, size.pointsPerSeries - 1));
    for (const one of writers) one.close();
    return { ...costs, repeated: peakMemoryMb(again.started) };
  } finally {
    await stopProcess(again.started);
  }
}

function* creations(names: readonly string[]): Generator<RequestBytes> {
  for (let from = 0; from < names.length; from += seriesPerRequest) {
    const items = names.slice(from, from + seriesPerRequest).map((name) => ({ name }));
    yield post("/timeseries", JSON.stringify({ items }));
  }
}

/**
 * As W1: the first batch of every series, then the second ones. Series of one shape share the text of their
 * points, so that the client does not take the processor time of the server.
 */
function* backfill(names: readonly string[], patterns: readonly GeneratedSeries[]): Generator<RequestBytes> {
  const count = patterns[0]!.times.length;
  const [first] = names as [string, ...string[]];
  for (let from = 0; from < count; from += pointsPerRequest) {
    const to = Math.min(count, from + pointsPerRequest);
    const ofShapes = patterns.map((pattern) =>
      millrace.requests.backfill({ ...pattern, name: first }, from, to),
    );
    for (const [at, name] of names.entries()) yield renamed(ofShapes[at % shapes]!, first, name);
  }
}

/** The request for another series, whose name is as long. */
function renamed(request: RequestBytes, from: string, to: string): RequestBytes {
  const copy = Buffer.from(request);
  copy.write(to, copy.indexOf(from));
  return copy;
}

/** As W2: one point of many series a request, from the point with this index on. */
function* scans(
  names: readonly string[],
  patterns: readonly GeneratedSeries[],
  first = 0,
): Generator<RequestBytes> {
  for (let scan = first; scan < patterns[0]!.times.length; scan++)
    for (let from = 0; from < names.length; from += seriesPerRequest) {
      const some = names.slice(from, from + seriesPerRequest);
      const values = Float64Array.from(some, (_, at) => patterns[at % patterns.length]!.values[scan]!);
      yield millrace.requests.scan(some, { timeMs: startMs + scan * 1000, values });
    }
}

/** Reads another series each time, so that no read uses the cached data of the last one. */
async function readCosts(running: Running, names: readonly string[], startedMs: number) {
  const connection = await Connection.open(running.port);
  const { requests } = millrace;
  const nameAt = (at: number) => names[(at * 7919) % names.length]!;
  const p50 = async (request: (name: string) => RequestBytes) => {
    let at = 0;
    const read = async () => expectSuccess(await connection.send(request(nameAt(at++))));
    return percentile(await timesOf(reads, read), 0.5);
  };
  expectSuccess(await connection.send(requests.latest(nameAt(0), 0)));
  const start = (performance.now() - startedMs) / 1000;
  const day = { startMs, endMs: startMs + 24 * hourMs };
  const costs = {
    start,
    latest: await p50((name) => requests.latest(name, 0)),
    average: await p50((name) => requests.hourlyAverage(name, day)),
    raw: await p50((name) => requests.raw(name, { startMs, endMs: startMs + pointsPerRequest * 1000 })),
    stats: await p50(() => health),
  };
  connection.close();
  return costs;
}
