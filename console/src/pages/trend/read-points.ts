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

export async function readPoints(request: PointsRequest): Promise<Points> {
  const { reader, project, series, query, signal } = request;
  if (series.kind === "calculated") return readResults(request, series.formula);
  const alone = async () => {
    const { data } = await getTimeseriesByIdData(project, series.id, query, { signal });
    return data.items[0]?.datapoints ?? [];
  };
  if (!reader || query.granularity === undefined) return alone();
  return reader.read({ project, id: series.id, query, signal }, alone);
}

async function readResults(
  { project, bucketMs, query, signal }: PointsRequest,
  formula: Formula,
): Promise<Points> {
  const body = { items: [formulaItem("result", formula, bucketMs)], ...query };
  const { data } = await postTimeseriesDataquery(project, body, {}, { signal });
  return data.items[0]?.datapoints ?? [];
}

/** Whether a formula cannot be calculated from points. */
export const needsAggregates = ({ text }: Formula): boolean =>
  callsFunction(text) || leavesIn(text).some(({ aggregate, granularity }) => aggregate && !granularity);

/** The lengths of the aggregates that a formula names. */
export const aggregateLengths = ({ text }: Formula): readonly number[] =>
  leavesIn(text).flatMap(({ granularity }) => (granularity && lengthOfGranularity(granularity)) || []);

const defaultBucketMs = 1_000;

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
