// The workloads: the same work for every system, and one figure each.
import { generateScans, generateSeries, pointsPerRequest, seed, startMs } from "./generate.ts";
import type { RequestBytes } from "./http.ts";
import type { System, Window } from "./systems/system.ts";

export interface Workload {
  readonly name: string;
  readonly what: string;
  readonly unit:
    | "points/s"
    | "requests/s"
    | "assets/s"
    | "rows/s"
    | "of W1"
    | "s"
    | "ms"
    | "bytes"
    | "MiB"
    | "x"
    | "count";
  /** Against the best peer: at least (rates) or at most (times and sizes) this ratio; absent: no bar. */
  readonly bar?: number;
  /** Against the best peer that syncs its writes by itself, as Millrace does. */
  readonly durableBar?: number | undefined;
  /** Where there is no peer: at least (rates) or at most (times) this figure. */
  readonly bound?: number;
}

/** Kinds of requests of W20. */
const firstKinds = {
  Write: "write of 1,000 points of a series",
  Message: "protobuf write, a point of 1,000 series",
  Latest: "latest of one series",
  Raw: "1,000 raw points",
  Average: "hourly average of 20,000 points",
  Frame: "frame of 10 series, hourly average",
  Assets: "page of 100 assets",
  Create: "create an asset",
  Events: "search events",
  Page: "OData page of 100 assets",
  Status: "login status",
} as const;

export type FirstKind = keyof typeof firstKinds;

/**
 * Rows for each kind of W20: at first, usually, and how they compare; then without a wait after the start.
 */
const firstRows = Object.fromEntries(
  Object.entries(firstKinds).flatMap(([kind, what]) => [
    [`W20first${kind}`, { name: "W20", what: `${what}: the first, a second after the start`, unit: "ms" }],
    [`W20usual${kind}`, { name: "W20", what: "the hundredth, p50 of 20", unit: "ms" }],
    [`W20ratio${kind}`, { name: "W20", what: "mean of the first ten beside it", unit: "x", bound: 3 }],
    [`W20once${kind}`, { name: "W20", what: "the first, sent at once after the start", unit: "ms" }],
    [`W20onceRatio${kind}`, { name: "W20", what: "mean of ten at once, beside it", unit: "x", bound: 3 }],
  ]),
) as Readonly<Record<`W20${"first" | "usual" | "ratio" | "once" | "onceRatio"}${FirstKind}`, Workload>>;

/**
 * Of W2: it may be slower than peers that do not sync their writes, and must be faster than those that do.
 */
const scanBars = { bar: 0.8, durableBar: 1.5 } as const;
const syncedInAll = "writes of all systems on disk";

export const workloads = {
  W1: { name: "W1", what: "backfill, 10,000 points a request", unit: "points/s", bar: 1.5 },
  W1synced: { name: "W1", what: `the same, ${syncedInAll}`, unit: "points/s", bar: 1.5 },
  W1processor: { name: "W1", what: "processor time of the server per 1 M points", unit: "s" },
  W1sizes: {
    name: "W1",
    what: "40 series of 70,000 points, 7,000 points a request",
    unit: "points/s",
    bar: 1.5,
  },
  W2: { name: "W2", what: "scan cycle, 1 point of 1,000 series a request", unit: "points/s", ...scanBars },
  W2synced: { name: "W2", what: `the same, ${syncedInAll}`, unit: "points/s", bar: 1.5 },
  W2processor: { name: "W2", what: "processor time of the server per 1 M points", unit: "s" },
  W2later: { name: "W2", what: "16 clients: 4 M points after the first 2 M", unit: "points/s", ...scanBars },
  W2laterProcessor: { name: "W2", what: "of these, processor time of the server per 1 M points", unit: "s" },
  W2message: {
    name: "W2",
    what: "in protobuf, the peers as in the first row of W2",
    unit: "points/s",
    ...scanBars,
  },
  W2messageSynced: {
    name: "W2",
    what: `in protobuf, ${syncedInAll}`,
    unit: "points/s",
    bar: 1.5,
  },
  W2messageProcessor: {
    name: "W2",
    what: "in protobuf, processor time of the server per 1 M points",
    unit: "s",
  },
  W3: { name: "W3", what: "W1 with late, repeated and overwritten points", unit: "points/s" },
  W3share: { name: "W3", what: "the same beside our own W1 of the same round", unit: "of W1", bound: 0.7 },
  W4: {
    name: "W4",
    what: "hourly average of 100,000 points, no caches of results, p50",
    unit: "ms",
    bar: 0.5,
  },
  W4cached: {
    name: "W4",
    what: "hourly average read again, each system with its caches, p50",
    unit: "ms",
    bar: 0.5,
  },
  W4first: { name: "W4", what: "first averages after a start, p50", unit: "ms" },
  W5: {
    name: "W5",
    what: "frame of 50 series, hourly average, no caches of results, p50",
    unit: "ms",
    bar: 0.33,
  },
  W5cached: {
    name: "W5",
    what: "frame read again, each system with its caches, p50",
    unit: "ms",
    bar: 0.33,
  },
  W6a: { name: "W6", what: "10,000 raw points, p50", unit: "ms", bar: 1 },
  W6b: { name: "W6", what: "100,000 raw points, p50", unit: "ms", bar: 1 },
  W6first: {
    name: "W6",
    what: "first reads of 10,000 raw points after a start, p50",
    unit: "ms",
  },
  W7usual: { name: "W7", what: "a year of days of 31.5 M points, p50; rests on a cache", unit: "ms" },
  W7nine: { name: "W7", what: "the same, p90", unit: "ms" },
  W7: { name: "W7", what: "the same, p99", unit: "ms", bound: 5 },
  W7processor: { name: "W7", what: "the same, processor time of the server a read", unit: "ms" },
  W7bare: { name: "W7", what: "the same without the cache of aggregates, p50", unit: "ms" },
  W7bareNine: { name: "W7", what: "without the cache, p90", unit: "ms" },
  W7bareRare: { name: "W7", what: "without the cache, p99", unit: "ms", bound: 5 },
  W7bareProcessor: { name: "W7", what: "without the cache, processor time a read", unit: "ms" },
  W7days: { name: "W7", what: "the year from a random second on, by 1d, p50", unit: "ms", bound: 5 },
  W7daysNine: { name: "W7", what: "by 1d from a random second on, p90", unit: "ms" },
  W7daysProcessor: { name: "W7", what: "by 1d from a random second on, processor time a read", unit: "ms" },
  W7bareDays: {
    name: "W7",
    what: "by 1d, without the cache, p50",
    unit: "ms",
    bound: 5,
  },
  W7bareDaysNine: { name: "W7", what: "by 1d, without the cache, p90", unit: "ms" },
  W7bareDaysProcessor: { name: "W7", what: "by 1d, without the cache, processor time a read", unit: "ms" },
  W7cold: {
    name: "W7",
    what: "by 86400s from a random second on, never read, p50",
    unit: "ms",
    bound: 5,
  },
  W7coldNine: { name: "W7", what: "never read before, p90", unit: "ms" },
  W7coldRare: { name: "W7", what: "never read before, p99", unit: "ms", bound: 5 },
  W7coldProcessor: { name: "W7", what: "never read before, processor time a read", unit: "ms" },
  W7bareCold: { name: "W7", what: "never read before, without the cache, p50", unit: "ms", bound: 5 },
  W7bareColdNine: { name: "W7", what: "never read before, without the cache, p90", unit: "ms" },
  W7bareColdRare: { name: "W7", what: "never read before, without the cache, p99", unit: "ms", bound: 5 },
  W7bareColdProcessor: {
    name: "W7",
    what: "never read before, without the cache, processor time a read",
    unit: "ms",
  },
  W7lateUsual: { name: "W7", what: "a year of days straight after a late point, p50", unit: "ms" },
  W7late: { name: "W7", what: "straight after a late point, p99", unit: "ms", bound: 5 },
  W8a: { name: "W8", what: "latest value of one series, p50", unit: "ms", bar: 1 },
  W8first: { name: "W8", what: "first latest values after a start, p50", unit: "ms" },
  W8b: { name: "W8", what: "latest of 1,000 series in one request, p99", unit: "ms", bound: 10 },
  W9: { name: "W9", what: "bytes per point on disk after W1", unit: "bytes", bar: 0.9 },
  W10asset: { name: "W10", what: "one asset while points are loaded, p99", unit: "ms", bound: 25 },
  W10latest: { name: "W10", what: "latest of one series meanwhile, p99", unit: "ms", bound: 25 },
  W10load: { name: "W10", what: "points loaded meanwhile", unit: "points/s" },
  W10backupAsset: {
    name: "W10",
    what: "one asset, with backups at the same time, p99",
    unit: "ms",
    bound: 25,
  },
  W10backupLatest: { name: "W10", what: "latest of one series meanwhile, p99", unit: "ms", bound: 25 },
  W10backupLoad: { name: "W10", what: "points loaded meanwhile", unit: "points/s" },
  W10backups: { name: "W10", what: "backups made meanwhile, one after the other", unit: "count" },
  W10backupPause: { name: "W10", what: "the longest wait of changes of the catalog", unit: "ms" },
  W11create: { name: "W11", what: "create assets, 1,000 a request", unit: "assets/s", bound: 20_000 },
  W11page: { name: "W11", what: "page of 1,000 assets by cursor, p50", unit: "ms", bound: 10 },
  W11subtree: { name: "W11", what: "subtree of 10,000 assets, all pages", unit: "ms", bound: 100 },
  W11rare: { name: "W11", what: "search of 1 M assets: words that few have, p50", unit: "ms", bound: 20 },
  W11common: { name: "W11", what: "search: a word that most have, p50", unit: "ms", bound: 20 },
  W11prefix: { name: "W11", what: "search: two letters that most begin with, p50", unit: "ms", bound: 20 },
  W11description: { name: "W11", what: "search in descriptions, p50", unit: "ms", bound: 20 },
  W11sorted: { name: "W11", what: "search: a word that most have, newest first, p50", unit: "ms" },
  W12points: { name: "W12", what: "1 M points over OData by nextLink", unit: "points/s", bound: 500_000 },
  W12expand: { name: "W12", what: "1,000 assets with their series over OData, p50", unit: "ms", bound: 50 },
  W13: { name: "W13", what: "kill -9 in the middle of W1, to the first read", unit: "s", bound: 2 },
  W14seconds: {
    name: "W14",
    what: "new windows: 3 aggregates a 7 s of 14,000 points, p50",
    unit: "ms",
    bar: 0.5,
  },
  W14minutes: { name: "W14", what: "3 aggregates a minute of 60,000 points, p50", unit: "ms", bar: 0.5 },
  W14fiveMinutes: { name: "W14", what: "3 aggregates a 5 min of 150,000 points, p50", unit: "ms", bar: 0.5 },
  W14hours: { name: "W14", what: "3 aggregates an hour of 150,000 points, p50", unit: "ms", bar: 0.5 },
  W14days: { name: "W14", what: "3 aggregates a day of 172,800 points, p50", unit: "ms", bar: 0.5 },
  W14one: { name: "W14", what: "1 aggregate, windows of all five lengths, p50", unit: "ms", bar: 0.5 },
  W14ten: { name: "W14", what: "10 aggregates, windows of all five lengths, p50", unit: "ms", bar: 0.5 },
  W14rare: { name: "W14", what: "all of these windows, p99", unit: "ms", bar: 0.5 },
  W14frame: { name: "W14", what: "frame of 40 series, 150,000 points of each, p50", unit: "ms", bar: 0.5 },
  W14frameRare: { name: "W14", what: "the same, p99", unit: "ms", bar: 0.5 },
  W15latest: { name: "W15", what: "32 readers: latest of one series", unit: "requests/s", bar: 1.5 },
  W15average: {
    name: "W15",
    what: "32 readers: 10 min averages of 20,000 points",
    unit: "requests/s",
    bar: 1.5,
  },
  W15raw: { name: "W15", what: "32 readers: 1,000 raw points", unit: "requests/s", bar: 1.5 },
  W16search: { name: "W16", what: "10 M points searched for a window of 1,000", unit: "s", bound: 3 },
  W16latest: { name: "W16", what: "latest of one series meanwhile, p99", unit: "ms", bound: 25 },
  W19alone: { name: "W19", what: "write of 1,000 points, alone, p50", unit: "ms" },
  W19write: { name: "W19", what: "while 32 clients of one key read 100,000 points each, p50", unit: "ms" },
  W19writeRare: { name: "W19", what: "the same, p99", unit: "ms", bound: 250 },
  W19greedy: { name: "W19", what: "their requests", unit: "requests/s" },
  W19share: {
    name: "W19",
    what: "W1 beside 200 dashboards, part of its rate without them",
    unit: "of W1",
    bound: 0.7,
  },
  W19panels: { name: "W19", what: "requests of the dashboards meanwhile", unit: "requests/s" },
  W19panel: { name: "W19", what: "these, p99", unit: "ms", bound: 250 },
  W19latest: {
    name: "W19",
    what: "latest of one series meanwhile, with the key of W1, p99",
    unit: "ms",
    bound: 250,
  },
  W20start: { name: "W20", what: "start of the process to the first response", unit: "s", bound: 0.6 },
  W20cold: { name: "W20", what: "the same without stored compiled code", unit: "s", bound: 1 },
  ...firstRows,
  rawOrdered: { name: "raw", what: "load 1 M rows in order of key", unit: "rows/s", bound: 50_000 },
  rawShuffled: { name: "raw", what: "load 1 M rows in random order", unit: "rows/s", bound: 50_000 },
  rawPage: { name: "raw", what: "page of 10,000 rows, p50", unit: "ms", bound: 50 },
  linesBackfill: { name: "lines", what: "W1 in line protocol", unit: "points/s", bar: 1.5 },
  linesBackfillSynced: {
    name: "lines",
    what: `the same, ${syncedInAll}`,
    unit: "points/s",
    bar: 1.5,
  },
  linesBackfillProcessor: {
    name: "lines",
    what: "processor time of the server per 1 M points",
    unit: "s",
  },
  linesScan: { name: "lines", what: "W2 in line protocol", unit: "points/s", ...scanBars },
  linesScanSynced: {
    name: "lines",
    what: `the same, ${syncedInAll}`,
    unit: "points/s",
    bar: 1.5,
  },
  linesScanProcessor: { name: "lines", what: "processor time of the server per 1 M points", unit: "s" },
  linesDashboard: {
    name: "lines",
    what: "20 panels of Grafana, 50 series hourly, each system with its caches, p50",
    unit: "ms",
    bar: 0.5,
  },
  linesDashboardProcessor: { name: "lines", what: "processor time of the server a load of them", unit: "s" },
  nodeScan: { name: "-", what: "W2 to a Node server that only reads the requests", unit: "points/s" },
  nodeScanProcessor: { name: "-", what: "its processor time per 1 M points", unit: "s" },
  nodeJournal: { name: "-", what: "W2 to one that also appends them to a synced file", unit: "points/s" },
  nodeJournalProcessor: { name: "-", what: "its processor time per 1 M points", unit: "s" },
  nodeLatest: { name: "-", what: "W8 of one series to a server with one response, p50", unit: "ms" },
  nodeLatestProcessor: { name: "-", what: "its processor time a request", unit: "ms" },
  machineUsual: { name: "-", what: "a computation on the machine alone, p50", unit: "ms" },
  machineRare: { name: "-", what: "the same, p99: how long the machine itself may stand still", unit: "ms" },
  memory: { name: "-", what: "peak resident memory of the server", unit: "MiB" },
} as const satisfies Readonly<Record<string, Workload>>;

export type WorkloadKey = keyof typeof workloads;
/** Of the workloads that a system has been given. */
export type Figures = Readonly<Partial<Record<WorkloadKey, number>>>;

export interface Scale {
  readonly series: number;
  readonly pointsPerSeries: number;
  readonly scannedSeries: number;
  readonly scans: number;
  readonly reads: number;
}

export const fullScale: Scale = {
  series: 50,
  pointsPerSeries: 100_000,
  scannedSeries: 1_000,
  scans: 1_000,
  reads: 100,
};

export const quickScale: Scale = { ...fullScale, series: 10, pointsPerSeries: 20_000, scans: 100, reads: 20 };

const hourMs = 3_600_000;

/** Everything one system will be sent, built before any clock runs. */
export interface Prepared {
  readonly names: readonly string[];
  readonly scannedNames: readonly string[];
  readonly backfill: readonly RequestBytes[];
  readonly scans: readonly RequestBytes[];
  /** Bypass the caches of results. */
  readonly uncached: ResultRequests;
  /** The same with them. */
  readonly cached: ResultRequests;
  readonly raw: Readonly<Record<"10k" | "100k", { request: RequestBytes; points: number }>>;
  readonly latest: RequestBytes;
  readonly latestOfMany: RequestBytes;
  readonly hours: number;
  /** One read of each of some series, other ones for each kind. */
  readonly firstPass: Readonly<Record<"averages" | "raw" | "latest", readonly RequestBytes[]>>;
}

interface ResultRequests {
  readonly average: RequestBytes;
  readonly frame: RequestBytes;
}

const seriesOfFirstPass = 10;

export function prepare({ requests, cachedRequests = requests }: System, scale: Scale): Prepared {
  const series = generateSeries(scale.series, scale.pointsPerSeries, seed);
  const names = series.map((one) => one.name);
  const scannedNames = Array.from(
    { length: scale.scannedSeries },
    (_, i) => `scan${String(i).padStart(4, "0")}`,
  );
  const first = series[0];
  if (!first) throw new Error("a scale has at least one series");
  const lastMs = Math.max(...series.map((one) => one.times.at(-1) ?? startMs));
  const hours = Math.ceil((lastMs + 1 - startMs) / hourMs);
  const whole: Window = { startMs, endMs: startMs + hours * hourMs };
  const until = (points: number) => ({ startMs, endMs: (first.times[points] ?? lastMs) as number });
  const backfill: RequestBytes[] = [];
  for (let from = 0; from < scale.pointsPerSeries; from += pointsPerRequest)
    for (const one of series) backfill.push(requests.backfill(one, from, from + pointsPerRequest));
  const scans = generateScans(scale.scannedSeries, scale.scans, seed).map((one) =>
    requests.scan(scannedNames, one),
  );
  const lastScanMs = startMs + (scale.scans - 1) * 1000;
  const many = Math.min(10_000, scale.pointsPerSeries);
  const passedEach = Math.min(seriesOfFirstPass, Math.floor(scale.series / 3));
  const passed = (kind: number) => series.slice(kind * passedEach, (kind + 1) * passedEach);
  const resultsBy = ({ hourlyAverage, frame }: Pick<System["requests"], "hourlyAverage" | "frame">) => ({
    average: hourlyAverage(first.name, whole),
    frame: frame(names, whole),
  });
  return {
    names,
    scannedNames,
    backfill,
    scans,
    hours,
    uncached: resultsBy(requests),
    cached: resultsBy(cachedRequests),
    raw: {
      "10k": {
        request: requests.raw(first.name, until(many)),
        points: first.times.findIndex((t) => t >= until(many).endMs),
      },
      "100k": { request: requests.raw(first.name, whole), points: scale.pointsPerSeries },
    },
    latest: requests.latest(first.name, first.times.at(-1) ?? 0),
    latestOfMany: requests.latestOfMany(scannedNames, lastScanMs),
    firstPass: {
      averages: passed(0).map(({ name }) => requests.hourlyAverage(name, whole)),
      raw: passed(1).map(({ name }) => requests.raw(name, until(many))),
      latest: passed(2).map(({ name, times }) => requests.latest(name, times.at(-1) ?? 0)),
    },
  };
}

/** Milliseconds of each of `count` runs, one after the other. */
export async function timesOf(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return times;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
