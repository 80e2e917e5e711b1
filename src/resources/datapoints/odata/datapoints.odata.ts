// Declares datapoints for OData: the sets of points, latest points and aggregates, and the functions on them.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { isTimeZone } from "../../../lib/clock-buckets.ts";
import { parseJson } from "../../../lib/json.ts";
import { type Granularity, parseGranularity } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import {
  type EntityFunction,
  type EntityModelPart,
  type EntityReader,
  type EntitySetQuery,
  type EntityType,
  entityFunction,
  entitySet,
  entityType,
  type FunctionArguments,
  type Navigation,
  navigation,
  type Property,
} from "../../../odata/model.ts";
import { column, type Operand, parseId } from "../../../odata/operand.ts";
import { id, required, text, time } from "../../../odata/property.ts";
import { candidateRange, candidateValues, rangeIn, valuesIn } from "../../../query/conjuncts.ts";
import { and, equals, type Filter, nothing, oneOf } from "../../../query/filter.ts";
import { filteredItems } from "../../../query/memory-filter.ts";
import type { Page } from "../../../query/page.ts";
import type { AggregateName } from "../../../storage/points.ts";
import {
  listTimeSeries,
  resolveSeries,
  type SeriesRef,
  type TimeSeries,
} from "../../timeseries/timeseries.ts";
import { latestVisiblePoints } from "../datapoints.ts";
import { isCalendar, parseCalendarGranularity, type ZonedGranularity } from "../zoned-granularity.ts";
import { columnsOf, countOf, type Plan, type PointRow, pageOf, propertyOf } from "./point-pages.odata.ts";

const seriesId = required(id<PointRow>("TimeseriesId", (row) => row.seriesId, "seriesId"));
const timeStamp = required(time<PointRow>("TimeStamp", (row) => row.timeMs, "timeMs"));
const pointId = required(text<PointRow>("Id", (row) => `${row.seriesId}_${row.timeMs}`, pointIds()));

/** The id of a point, `9_1704067200000`: its series and its time. */
function pointIds(): Operand {
  return {
    type: "Edm.String",
    equals(value) {
      const [, series, timeMs] = /^([1-9]\d{0,15})_(-?\d{1,15})$/.exec(String(value ?? "")) ?? [];
      if (series === undefined) return nothing;
      return and(equals("seriesId", Number(series)), equals("timeMs", Number(timeMs)));
    },
  };
}

const double = (
  name: string,
  get: (row: PointRow) => number | undefined,
  field: string,
): Property<PointRow> => ({
  ...{ name, type: "Edm.Double", get },
  queryable: { kind: "value", operand: column(field, "Edm.Double") },
});

const aggregateNames: readonly AggregateName[] = [
  ...(["continuousVariance", "stepInterpolation", "discreteVariance", "totalVariation"] as const),
  ...(["interpolation", "average", "count", "max", "min", "sum"] as const),
];

const numberIn = ({ value }: PointRow) => (typeof value === "number" ? value : undefined);
const stringIn = ({ value }: PointRow) => (typeof value === "string" ? value : undefined);

const types: readonly EntityType[] = [
  entityType<PointRow>({
    ...{ name: "DataPoint", key: "Id" },
    properties: [pointId, timeStamp, required(double("Value", numberIn, "value")), seriesId],
  }),
  entityType<PointRow>({
    ...{ name: "StringPoint", key: "Id" },
    properties: [pointId, timeStamp, required(text("Value", stringIn, column("value"))), seriesId],
  }),
  entityType<PointRow>({
    ...{ name: "LatestPoint", key: "Id" },
    properties: [
      required(id("Id", (row) => row.seriesId, "seriesId")),
      timeStamp,
      double("Value", numberIn, "number"),
      text("StringValue", stringIn, column("text")),
      seriesId,
    ],
  }),
  entityType<PointRow>({
    ...{ name: "AggregateDataPoint", key: "Id" },
    properties: [
      pointId,
      timeStamp,
      seriesId,
      ...aggregateNames.map((name) => double(propertyOf(name), (row) => row[name], name)),
    ],
  }),
];

/** The ids of series that the filter names, and the filter that their rows must still meet. */
function seriesIn(filter: Filter): { readonly ids: readonly number[]; readonly rest: Filter } {
  const { values, rest } = valuesIn(filter, "seriesId");
  return { ids: (values ?? candidateValues(rest, "seriesId") ?? []) as readonly number[], rest };
}

/**
 * The series that the filter names, if they have values of this kind. A filter without series reads nothing.
 */
async function planOf(ctx: RequestContext, filter: Filter, isString: boolean): Promise<Plan> {
  const { ids, rest } = seriesIn(filter);
  const found = await resolveSeries(ctx, ids, "READ");
  const series = found.filter((one) => one !== undefined && one.isString === isString) as SeriesRef[];
  const { start, end, rest: remaining } = rangeIn(rest, "timeMs");
  const candidates = candidateRange(remaining, "timeMs");
  const range = {
    startMs: Math.max(start, candidates.start, limits.timeMsMin),
    endMs: Math.min(end, candidates.end, limits.timeMsMax + 1),
  };
  return { series, range, rest: remaining };
}

const points = (name: string, type: string, isString: boolean) =>
  entitySet<PointRow>({
    ...{ name, type, isHidden: true, pageMax: limits.odataPointsPageMax },
    read: async (ctx, { filter, page }) => pageOf(ctx, await planOf(ctx, filter, isString), page),
    ...(!isString && {
      readColumns: async (ctx, { filter, page }) => columnsOf(ctx, await planOf(ctx, filter, isString), page),
    }),
    count: async (ctx, filter) => countOf(ctx, await planOf(ctx, filter, isString)),
    position: (row) => [row.seriesId, row.timeMs],
  });

/** Reads the latest points of the series that the filter names, a page of series at a time. */
async function latestOf(
  ctx: RequestContext,
  { filter, page }: Pick<EntitySetQuery, "filter" | "page">,
): Promise<Page<PointRow>> {
  const { ids, rest } = seriesIn(filter);
  const [start = 0] = (page.after ?? []) as readonly number[];
  const end = Math.min(start + page.limit, ids.length);
  const latest = await latestVisiblePoints(ctx, ids.slice(start, end));
  const rows = latest.flatMap(({ series, point }) => (point ? [{ seriesId: series.id, ...point }] : []));
  const fieldOf = (row: PointRow, field: string) => {
    if (field === "number") return numberIn(row);
    return field === "text" ? stringIn(row) : row[field as keyof PointRow];
  };
  const items = await filteredItems(ctx, { filter: rest, fieldOf }, rows);
  return { items, ...(end < ids.length && { next: [end] }) };
}

async function countLatest(ctx: RequestContext, filter: Filter): Promise<number> {
  return (await latestOf(ctx, { filter, page: { limit: Number.POSITIVE_INFINITY } })).items.length;
}

/** A set for the results of functions. Without a function it is empty. */
const functionResults = (name: string, type: string) =>
  entitySet<PointRow>({
    ...{ name, type, isHidden: true, pageMax: limits.odataPointsPageMax },
    ...{ read: async () => ({ items: [] }), count: async () => 0 },
    position: (row) => [row.seriesId, row.timeMs],
  });

const sets = [
  points("DataPoints", "DataPoint", false),
  points("StringPoints", "StringPoint", true),
  entitySet<PointRow>({
    ...{ name: "Latest", type: "LatestPoint", isHidden: true },
    ...{ read: latestOf, count: countLatest },
    position: (row) => [row.seriesId],
  }),
  functionResults("Aggregates", "AggregateDataPoint"),
];

const toSeries = (from: string, partner?: string): Navigation =>
  navigation<PointRow, TimeSeries>({
    ...{ from, name: "Timeseries", to: "Timeseries", isRequired: true, ...(partner && { partner }) },
    constraint: ["TimeseriesId", "Id"],
    join: { own: (row) => [row.seriesId], theirs: ({ id }) => [id], filter: (ids) => oneOf("id", ids) },
  });

const fromSeries = (name: string, how: Partial<Navigation> = {}): Navigation => ({
  ...navigation<TimeSeries, PointRow>({
    ...{ from: "Timeseries", name, to: name, partner: "Timeseries" },
    join: {
      own: ({ id }) => [id],
      theirs: (row) => [row.seriesId],
      filter: (ids) => oneOf("seriesId", ids),
    },
  }),
  ...how,
});

const navigations = [
  fromSeries("Latest"),
  fromSeries("DataPoints", { isMany: true, isPathOnly: true }),
  fromSeries("StringPoints", { isMany: true, isPathOnly: true }),
  toSeries("DataPoint", "DataPoints"),
  toSeries("StringPoint", "StringPoints"),
  toSeries("LatestPoint", "Latest"),
  toSeries("AggregateDataPoint"),
];

const start = { name: "Start", type: "Edm.DateTimeOffset" } as const;
const end = { name: "End", type: "Edm.DateTimeOffset" } as const;
const granularity = { name: "Granularity", type: "Edm.String" } as const;
const timeZone = { name: "TimeZone", type: "Edm.String", isOptional: true } as const;
const tags = { name: "Tags", type: "Edm.String" } as const;

const functions: readonly EntityFunction[] = [
  entityFunction<PointRow>({
    ...{ name: "TimeseriesAggregate", set: "Aggregates" },
    parameters: [tags, granularity, start, { ...end, isOptional: true }, timeZone],
    results: (args) => aggregates(args, (ctx) => seriesNamed(ctx, tagsIn(args["Tags"] as string))),
  }),
  entityFunction<PointRow>({
    ...{ name: "Aggregate", set: "Aggregates", boundTo: { type: "Timeseries", parameter: "timeseries" } },
    parameters: [start, end, granularity, timeZone],
    results: (args, series) => aggregates(args, async () => [series as unknown as TimeSeries]),
  }),
];

/**
 * Aggregates up to `End`, or now. Buckets start at multiples of their length
 * (docs/reference/odata.md#functions).
 */
function aggregates(
  args: FunctionArguments,
  seriesFor: (ctx: RequestContext) => Promise<readonly SeriesRef[]>,
): EntityReader<PointRow> {
  const granularity = granularityOf(args);
  const [startMs, argsEnd] = [args["Start"] as number, args["End"] as number | undefined];
  const plan = async (
    ctx: RequestContext,
    filter: Filter,
    needs: ReadonlySet<string> | undefined,
  ): Promise<Plan> => {
    const endMs = argsEnd ?? ctx.system.nowMs();
    if (endMs <= startMs) throw fail("key-invalid", { problem: "Start must be before End" });
    const range = { startMs: alignedMs(startMs, granularity), endMs };
    const selected = aggregateNames.filter((name) => needs?.has(propertyOf(name)));
    const isRead = (name: AggregateName) =>
      name === "count" || filter.kind !== "everything" || selected.includes(name);
    const names = aggregateNames.filter(isRead);
    const series = await seriesFor(ctx);
    return { series, range, rest: filter, aggregates: { names, granularity }, selected };
  };
  const planFor = (ctx: RequestContext, { filter, needs }: EntitySetQuery) => plan(ctx, filter, needs);
  return {
    read: async (ctx, query) => pageOf(ctx, await planFor(ctx, query), query.page),
    readColumns: async (ctx, query) => columnsOf(ctx, await planFor(ctx, query), query.page),
    count: async (ctx, filter, needs) => countOf(ctx, await plan(ctx, filter, needs)),
  };
}

function granularityOf(args: FunctionArguments): Granularity | ZonedGranularity {
  const [text, zone] = [args["Granularity"] as string, args["TimeZone"] as string | undefined];
  const length = parseCalendarGranularity(text) ?? parseGranularity(text, limits.granularityDaysMax);
  if (!length)
    throw fail("key-invalid", {
      problem:
        "Granularity takes a number and y, mo, w, d, h, m or s, such as 1h: at most " +
        `${limits.granularityMonthsMax} months, ${limits.granularityWeeksMax} weeks or ` +
        `${limits.granularityDaysMax} days`,
    });
  if (zone && !isTimeZone(zone))
    throw fail("key-invalid", { problem: `TimeZone takes an IANA name such as Europe/Oslo, not ${zone}` });
  if (!zone && !isCalendar(length)) return length;
  return { timeZone: zone || "UTC", length, isFromStart: false };
}

/** Buckets of a time zone are aligned when they are read. */
const alignedMs = (startMs: number, granularity: Granularity | ZonedGranularity): number =>
  "timeZone" in granularity ? startMs : Math.floor(startMs / granularity.bucketMs) * granularity.bucketMs;

/** Reads tags that are separated by commas, or a JSON list of them. An empty string is an empty list. */
function tagsIn(text: string): readonly string[] {
  if (text.trim() === "") return [];
  if (!text.trimStart().startsWith("[")) return text.split(",").map((tag) => tag.trim());
  try {
    const list: unknown = parseJson(text);
    if (Array.isArray(list)) return list.map(String);
  } catch {}
  throw fail("key-invalid", { problem: "Tags takes ids separated by commas, or a JSON list of them" });
}

/** The series of the tags, each once. A tag is an id, else an external id, else a name. */
async function seriesNamed(ctx: RequestContext, tags: readonly string[]): Promise<SeriesRef[]> {
  const byId = await resolveSeries(
    ctx,
    tags.map((tag) => parseId(tag) ?? 0),
    "READ",
  );
  const byExternalId = await seriesWithExternalIds(
    ctx,
    tags.filter((_, at) => !byId[at]),
  );
  const byName = await resolveSeries(ctx, tags, "READ");
  const series = tags.map((tag, at): [id: number, SeriesRef] => {
    const found = byId[at] ?? byExternalId.get(tag) ?? byName[at];
    if (!found) throw fail("key-invalid", { problem: `Tags names no time series: ${tag}` });
    return [found.id, found];
  });
  return [...new Map(series).values()];
}

async function seriesWithExternalIds(
  ctx: RequestContext,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string | undefined, SeriesRef>> {
  if (externalIds.length === 0) return new Map();
  const query = { filter: oneOf("externalId", externalIds), page: { limit: externalIds.length } };
  const { items } = await listTimeSeries(ctx, query);
  return new Map(items.map((series) => [series.externalId, series]));
}

export const datapointModel: EntityModelPart = { types, sets, navigations, functions };
