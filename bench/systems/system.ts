// The interface of a measured system: how to start it, and the format of each request.
import type { GeneratedSeries, Scan } from "../generate.ts";
import type { RequestBytes } from "../http.ts";
import type { Started } from "../process.ts";

export interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

export interface BucketsAsked {
  /** A multiple of the bucket's length after the epoch. */
  readonly window: Window;
  readonly bucketMs: number;
  readonly functions: number;
}

/** Requests of one system; all of them are complete HTTP requests, built before the clock runs. */
export interface Requests {
  /** Points `from` up to `to` of one series. */
  backfill(series: GeneratedSeries, from: number, to: number): RequestBytes;
  /** One point for each named series. */
  scan(names: readonly string[], scan: Scan): RequestBytes;
  hourlyAverage(name: string, window: Window): RequestBytes;
  /** Hourly averages of many series in one response. */
  frame(names: readonly string[], window: Window): RequestBytes;
  raw(name: string, window: Window): RequestBytes;
  latest(name: string, lastMs: number): RequestBytes;
  /** The first `functions` (at most ten) of the system's functions over each bucket of one series. */
  buckets(name: string, asked: BucketsAsked): RequestBytes;
  /** Averages over each bucket of many series in one response. */
  bucketFrame(names: readonly string[], asked: Omit<BucketsAsked, "functions">): RequestBytes;
  /** The latest values and names of all series with a common prefix, in one response. */
  latestOfMany(names: readonly string[], lastMs: number): RequestBytes;
}

/** Count the rows (points, buckets, series) of a response, to check that every system did the same work. */
export interface RowCounters {
  hourlyAverage(body: Buffer): number;
  frame(body: Buffer): number;
  raw(body: Buffer): number;
}

/** Functions of a dashboard's panels. */
export const panelFunctions = ["mean", "min", "max", "sum", "count"] as const;
export type PanelFunction = (typeof panelFunctions)[number];

/** Requests of a system that takes line protocol, with times in milliseconds. */
export interface LineProtocol {
  write(lines: string): RequestBytes;
  /** Hourly values of each series of the measurement `bench`. */
  panel(name: PanelFunction, window: Window): RequestBytes;
  /** The number of series in the response of a panel. */
  seriesIn(body: Buffer): number;
}

/** A panel's query as Grafana's data source InfluxDB sends it. */
export const influxPanel = (name: PanelFunction, { startMs, endMs }: Window): string => {
  const query =
    `SELECT ${name}("v") FROM "bench" WHERE time >= ${startMs}ms and time <= ${endMs}ms ` +
    'GROUP BY time(1h), "s"::tag fill(null) ORDER BY time ASC';
  return `/query?${new URLSearchParams({ db: "bench", epoch: "ms", q: query })}`;
};

export interface Running {
  readonly started: Started;
  readonly port: number;
  /** Creates the series, if the system needs that. */
  declare(names: readonly string[]): Promise<void>;
  /** Resolves when everything written can be read. */
  settle(): Promise<void>;
}

/** A system that does not sync the writes that it acknowledges, with a function that does. */
export interface Synced extends Running {
  /** Resolves when all writes that were acknowledged before are on disk. */
  sync(): Promise<void>;
}

export interface System {
  readonly name: string;
  /** The Debian package of a peer; our own server has none. */
  readonly debianPackage?: string;
  /** Where a write is when the system acknowledges it. */
  readonly durability: string;
  /** Whether it syncs a write before it acknowledges it. */
  readonly isDurable: boolean;
  version(): string;
  start(folder: string): Promise<Running>;
  readonly requests: Requests;
  readonly rows: RowCounters;
  readonly lineProtocol?: LineProtocol;
  /** A server that serves `requests` without a cache of results, if the system has such a cache. */
  readonly uncached?: (folder: string) => Promise<Running>;
  /** Requests that its cache of results may serve, if `requests` bypass it. */
  readonly cachedRequests?: Pick<Requests, "hourlyAverage" | "frame">;
  /** The same system with writes on disk, if it does not sync them. */
  readonly synced?: {
    /** What clients wait for after a response. */
    readonly how: string;
    start(folder: string): Promise<Synced>;
  };
  /** A scan as a protobuf message, if the system has one with names of series. */
  readonly scanMessage?: (names: readonly string[], scan: Scan) => RequestBytes;
}

/** The common beginning of the names, before their number. */
export const beginningOf = (names: readonly string[]): string => names[0]?.replace(/\d+$/, "") ?? "";

/** How often a byte sequence occurs. */
export function occurrences(body: Buffer, what: string): number {
  let count = 0;
  for (let at = body.indexOf(what); at >= 0; at = body.indexOf(what, at + what.length)) count++;
  return count;
}

export const linesIn = (body: Buffer): number => occurrences(body, "\n");
