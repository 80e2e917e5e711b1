// Loads the data of one line: raw points if they fit, else aggregates; results of a formula likewise.
import type { AggregateDatapoint, Datapoint } from "../../api/generated.ts";
import {
  type BucketColumns,
  bucketsIn,
  type Columns,
  indexFrom,
  joinedBuckets,
  type TimeWindow,
} from "../../ui/chart/columns.ts";
import type { BucketReader } from "./bucket-reader.ts";
import {
  aggregateLengths,
  needsAggregates,
  type PointsRead,
  type ReadableSeries,
  readPoints,
  tooManyResults,
} from "./read-points.ts";
import { granularityOf } from "./resolution.ts";

/** Raw points are drawn up to this number for a range, which is up to twice as long as the window. */
const rawPointsMax = 6_000;
/** Buckets are at least a second, so shorter ones would be too few: many more points are drawn then. */
const rawPointsOfSecondsMax = 90_000;
/** String series have no aggregates. */
const textsMax = 10_000;
const bucketsMax = 10_000;
const shortestBucketMs = 1_000;
/** Results of a formula whose series have a granularity of their own. */
const resultsMax = 100_000;

export interface LoadRequest {
  readonly project: string;
  readonly series: ReadableSeries;
  readonly range: TimeWindow;
  readonly bucketMs: number;
  readonly signal: AbortSignal;
  readonly reader: BucketReader;
}

/** Buckets of the length of the request, for a range from the start of a bucket to another one. */
export interface LoadedBuckets {
  readonly columns: BucketColumns;
  readonly range: TimeWindow;
}

/** Data of the range that was loaded before, and an estimate of its points. */
interface KnownData {
  readonly loaded?: LoadedBuckets | undefined;
  readonly points?: number | undefined;
}

/** Takes from `known` what it has of the range. */
export async function loadColumns(request: LoadRequest, known: KnownData = {}): Promise<Columns> {
  const { series } = request;
  if (series.isString) return loadTexts(request);
  if (series.kind === "calculated")
    return needsAggregates(series.formula)
      ? loadResults(request)
      : ((await loadRaw(request, rawPointsMax)) ?? loadResults(request));
  if (request.bucketMs <= shortestBucketMs)
    return (await loadRaw(request, rawPointsOfSecondsMax)) ?? loadBuckets(request);
  // Without buckets first, which would only count the points again.
  const few =
    known.points !== undefined && known.points <= rawPointsMax
      ? await loadRaw(request, rawPointsMax)
      : undefined;
  if (few) return few;
  const buckets = await loadMissingBuckets(request, known.loaded);
  const points = buckets.counts.reduce((sum, count) => sum + count, 0);
  return points > rawPointsMax ? buckets : ((await loadRaw(request, rawPointsMax)) ?? buckets);
}

type ReadRequest = Omit<LoadRequest, "bucketMs"> & { readonly bucketMs?: number };
type Query = Omit<Parameters<typeof readPoints>[0]["query"], "start" | "end">;

function read({ range, ...request }: ReadRequest, query: Query): Promise<PointsRead> {
  const window = { start: String(range.startMs), end: String(range.endMs) };
  return readPoints({ ...request, query: { ...window, ...query } });
}

/** The points, or undefined when there are too many of them. */
async function loadRaw(request: LoadRequest, most: number): Promise<Columns | undefined> {
  const outside = 2;
  const limit = most + outside + 1;
  const { bucketMs: _, ...ofPoints } = request;
  const { points, isCut } = await read(ofPoints, { limit, includeOutsidePoints: true });
  if (isCut) return undefined;
  return {
    kind: "raw",
    times: Float64Array.from(points, ({ timestamp }) => timestamp),
    values: Float64Array.from(points as readonly Datapoint[], ({ value }) => value as number),
  };
}

/** Loads the buckets that are not there yet: while a window is panned, most of them are. */
async function loadMissingBuckets(
  request: LoadRequest,
  loaded: LoadedBuckets | undefined,
): Promise<BucketColumns> {
  if (!loaded) return loadBuckets(request);
  const { range } = request;
  const startMs = Math.max(range.startMs, loaded.range.startMs);
  const endMs = Math.min(range.endMs, loaded.range.endMs);
  const part = async (fromMs: number, toMs: number) =>
    fromMs < toMs ? [await loadBuckets({ ...request, range: { startMs: fromMs, endMs: toMs } })] : [];
  const [before, after] = await Promise.all([part(range.startMs, startMs), part(endMs, range.endMs)]);
  const kept = bucketsIn(loaded.columns, { startMs, endMs });
  return { ...joinedBuckets([...before, kept, ...after]), readMs: kept.readMs };
}

async function loadBuckets(request: LoadRequest): Promise<BucketColumns> {
  const { bucketMs } = request;
  const readMs = Date.now();
  const buckets = await read(request, {
    aggregates: "average,min,max,count,continuousVariance",
    granularity: granularityOf(bucketMs),
    limit: bucketsMax,
  });
  const points = buckets.points as readonly AggregateDatapoint[];
  const column = (member: "average" | "min" | "max" | "count" | "continuousVariance") =>
    Float64Array.from(points, (point) => point[member] ?? Number.NaN);
  return {
    kind: "buckets",
    bucketMs,
    readMs,
    times: Float64Array.from(points, ({ timestamp }) => timestamp),
    values: column("average"),
    mins: column("min"),
    maxs: column("max"),
    counts: column("count"),
    variances: column("continuousVariance"),
  };
}

/** The results of a formula from averages of its series, or from the aggregates that it names. */
async function loadResults(request: LoadRequest): Promise<BucketColumns> {
  const readMs = Date.now();
  const { points, isCut } = await read(request, { limit: resultsMax });
  if (isCut) throw tooManyResults();
  const values = Float64Array.from(points as readonly Datapoint[], ({ value }) => value as number);
  return {
    ...{ kind: "buckets", averagesMs: request.bucketMs, bucketMs: resultLength(request), readMs },
    times: Float64Array.from(points, ({ timestamp }) => timestamp),
    ...{ values, mins: values, maxs: values },
    counts: new Float64Array(points.length).fill(1),
    variances: new Float64Array(points.length),
  };
}

/** The time between results: the length of the shortest aggregates in the formula. */
const resultLength = ({ series, bucketMs }: LoadRequest): number =>
  series.kind === "stored" ? bucketMs : Math.min(...aggregateLengths(series.formula, bucketMs));

async function loadTexts(request: LoadRequest): Promise<Columns> {
  const { points, isCut } = await read(request, { limit: textsMax, includeOutsidePoints: true });
  return {
    kind: "text",
    times: Float64Array.from(points, ({ timestamp }) => timestamp),
    texts: (points as readonly Datapoint[]).map(({ value }) => String(value)),
    completeToMs: isCut ? points.at(-1)!.timestamp : request.range.endMs,
  };
}

/**
 * Continues data up to the end of the range: reads what is new and drops what is before the range. Loads all
 * when there is nothing to continue.
 */
export async function continueColumns(head: Columns, request: LoadRequest): Promise<Columns> {
  const last = head.times.at(-1);
  if (last === undefined || (head.kind === "buckets" && head.bucketMs !== resultLength(request)))
    return loadColumns(request);
  const startMs = Math.max(request.range.startMs, changesFrom(head.kind, last, request));
  const tail = await loadTail(head, { ...request, range: { startMs, endMs: request.range.endMs } });
  return tail ? joined(head, tail, { fromMs: request.range.startMs, toMs: startMs }) : loadColumns(request);
}

/** The points of the series in a formula arrive at different times, up to this far apart. */
const arrivalMs = 10_000;

/** The time from which data can change: points do not, but the last bucket and results of formulas do. */
function changesFrom(kind: Columns["kind"], lastMs: number, { series, bucketMs }: LoadRequest): number {
  if (series.kind === "stored") return kind === "buckets" ? lastMs : lastMs + 1;
  const averagesMs = kind === "buckets" ? bucketMs : undefined;
  const lengthMs = Math.max(1, ...aggregateLengths(series.formula, averagesMs));
  return Math.floor((lastMs - arrivalMs) / lengthMs) * lengthMs;
}

/** Undefined when there are too many new points. */
function loadTail({ kind }: Columns, request: LoadRequest): Promise<Columns | undefined> {
  if (kind === "text") return loadTexts(request);
  if (kind === "raw") return loadRaw(request, rawPointsMax);
  return request.series.kind === "calculated" ? loadResults(request) : loadBuckets(request);
}

/** The part of `head` from the point before `fromMs` up to `toMs`, and `tail` from there. */
function joined(head: Columns, tail: Columns, { fromMs, toMs }: { fromMs: number; toMs: number }): Columns {
  const from = Math.max(0, indexFrom(head.times, fromMs) - 1);
  if (head.kind === "buckets" && tail.kind === "buckets") {
    const kept = bucketsIn(head, { startMs: head.times[from]!, endMs: toMs });
    return joinedBuckets([kept, bucketsIn(tail, { startMs: toMs, endMs: Number.POSITIVE_INFINITY })]);
  }
  const to = indexFrom(head.times, toMs);
  const after = indexFrom(tail.times, toMs);
  const join = (first: Float64Array, second: Float64Array): Float64Array => {
    const kept = first.subarray(from, to);
    const result = new Float64Array(kept.length + second.length - after);
    result.set(kept);
    result.set(second.subarray(after), kept.length);
    return result;
  };
  const times = join(head.times, tail.times);
  if (head.kind === "text" && tail.kind === "text")
    return { ...tail, times, texts: [...head.texts.slice(from, to), ...tail.texts.slice(after)] };
  if (head.kind === "raw" && tail.kind === "raw")
    return { ...tail, times, values: join(head.values, tail.values) };
  return tail;
}
