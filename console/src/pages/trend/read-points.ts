// Reads points, aggregates and results of formulas of one series of the trend.
import {
  type AggregateDatapoint,
  type Datapoint,
  type FunctionAlias,
  getTimeseriesByIdData,
  postTimeseriesDataquery,
} from "../../api/generated.ts";
import { leavesIn } from "../../lib/formula.ts";
import { callsFunction } from "../../ui/expression/language.ts";
import type { BucketReader } from "./bucket-reader.ts";
import { granularityOf, lengthOfGranularity } from "./resolution.ts";
import type { Formula, TrendSeries } from "./trend-series.ts";

/** The part of a series that a request needs. */
export type ReadableSeries =
  | Pick<Extract<TrendSeries, { kind: "stored" }>, "kind" | "id" | "isString">
  | Pick<Extract<TrendSeries, { kind: "calculated" }>, "kind" | "formula" | "isString">;

export interface PointsQuery {
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  readonly includeOutsidePoints?: boolean;
  readonly aggregates?: string;
  readonly granularity?: string;
}

export interface PointsRequest {
  readonly project: string;
  readonly series: ReadableSeries;
  /** The granularity of the series in a formula; absent for points. */
  readonly bucketMs?: number;
  readonly query: PointsQuery;
  readonly signal: AbortSignal;
  /** Reads buckets of several series together; absent for a request of its own. */
  readonly reader?: BucketReader;
}

type Points = readonly (Datapoint | AggregateDatapoint)[];

export interface PointsRead {
  readonly points: Points;
  /** Whether the limit ended the read, so that there may be more points after these. */
  readonly isCut: boolean;
}

export async function readPoints(request: PointsRequest): Promise<PointsRead> {
  const { reader, project, series, query, signal } = request;
  if (series.kind === "calculated") return readResults(request, series.formula);
  const alone = async () => {
    const { data } = await getTimeseriesByIdData(project, series.id, query, { signal });
    return data.items[0]?.datapoints ?? [];
  };
  const points = await (!reader || query.granularity === undefined
    ? alone()
    : reader.read({ project, id: series.id, query, signal }, alone));
  return { points, isCut: points.length === query.limit };
}

async function readResults(
  { project, bucketMs, query, signal }: PointsRequest,
  formula: Formula,
): Promise<PointsRead> {
  const fromMs = Number(query.start);
  const start = String(startOfBuckets(aggregateLengths(formula, bucketMs), fromMs));
  const body = { items: [formulaItem("result", formula, bucketMs)], ...query, start };
  const { data } = await postTimeseriesDataquery(project, body, {}, { signal });
  const points = data.items[0]?.datapoints ?? [];
  return {
    points: points.filter(({ timestamp }) => timestamp >= fromMs),
    isCut: points.length === query.limit,
  };
}

/** A request has at most so many results before its range. */
const earlierResultsMax = 25_000;

/**
 * The latest time up to `timeMs` at which buckets of all lengths start, counted from 1970. The server counts
 * buckets of 15 minutes from the minute in which the request starts, so their results would differ from
 * window to window. Lengths that have such a time too long before are left out.
 */
function startOfBuckets(lengths: readonly number[], timeMs: number): number {
  const longestMs = earlierResultsMax * Math.min(...lengths);
  const ascending = lengths.toSorted((one, other) => one - other);
  const stepMs = ascending.reduce((step, length) => {
    const common = (step / commonDivisor(step, length)) * length;
    return common <= longestMs ? common : step;
  }, 1);
  return Math.floor(timeMs / stepMs) * stepMs;
}

const commonDivisor = (one: number, other: number): number =>
  other === 0 ? one : commonDivisor(other, one % other);

export const tooManyResults = (): Error =>
  new Error("The formula has too many results here. Zoom in, or choose longer times for its aggregates.");

/** Whether a formula cannot be calculated from points. */
export const needsAggregates = ({ text }: Formula): boolean =>
  callsFunction(text) || leavesIn(text).some(({ aggregate, granularity }) => aggregate && !granularity);

const defaultBucketMs = 1_000;

/** The lengths of the aggregates in a formula: those that it names, and `bucketMs` for its other series. */
export const aggregateLengths = ({ text }: Formula, bucketMs = defaultBucketMs): readonly number[] =>
  leavesIn(text).map(({ granularity }) => (granularity && lengthOfGranularity(granularity)) || bucketMs);

/**
 * The item of a query for the results of a formula. With `bucketMs` its series are averages of that length,
 * except those that have an aggregate of their own.
 */
export function formulaItem(name: string, { text, ids }: Formula, bucketMs: number | undefined) {
  const length = granularityOf(bucketMs ?? defaultBucketMs);
  const aliases = leavesIn(text).flatMap((leaf): FunctionAlias[] => {
    const id = ids[leaf.name];
    if (id === undefined) return [];
    const { content: alias, aggregate, granularity = length } = leaf;
    if (aggregate !== undefined) return [{ alias, id, aggregate, granularity }];
    if (bucketMs === undefined) return [{ alias, id }];
    // `max([a])` is an aggregate itself, which refuses an alias of another one.
    return [{ alias, id, granularity, ...(!isInAggregate(text, alias) && { aggregate: "average" }) }];
  });
  return { name, function: text, aliases };
}

/** Whether each place of a bracket is the only argument of `avg`, `max`, `min` or `sum`. */
function isInAggregate(text: string, content: string): boolean {
  const parts = text.split(`[${content}]`);
  return parts
    .slice(1)
    .every((after, index) => /\b(?:avg|max|min|sum)\s*\(\s*$/i.test(parts[index]!) && /^\s*\)/.test(after));
}
