// Reads the body of a pattern search, as the JavaScript client sends it: data specs and arguments.
import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { textField } from "../../rest/fields.ts";
import { type OptionsInput, readGranularity, readOptions, timeRange } from "../datapoints/queries.rest.ts";
import { type KeyInput, keyFields, refuseOtherIds, seriesKey } from "../timeseries/series-keys.rest.ts";
import type { SearchWanted } from "./analytics.ts";
import { type GapFilling, gapFillings } from "./matching/grid-rows.ts";
import type { BucketColumn, Source } from "./sources.ts";

const optional = <Value extends TSchema>(value: Value) => Type.Optional(value);
const moment = Type.Union([Type.Number(), Type.String()]);
const names = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: limits.searchColumnsMax })]);
const filling = Type.Enum([...gapFillings], {
  description: "How fewer empty buckets than the window has are filled; absent: they are gaps",
});

const spec = Type.Object(
  {
    timeSeries: Type.Array(
      Type.Object({
        ...{ name: keyFields.name, id: keyFields.id },
        aggregates: optional(names),
        missingDataStrategy: optional(filling),
      }),
      { minItems: 1, maxItems: limits.searchColumnsMax },
    ),
    aggregates: optional(names),
    granularity: optional(Type.String({ description: "The length of a bucket; only with aggregates" })),
    missingDataStrategy: optional(filling),
    start: optional(moment),
    end: optional(moment),
    label: optional(textField("Ignored")),
  },
  { title: "PatternSpec" },
);

export const patternSearch = Type.Object(
  {
    timeSeriesDataSpec: Type.Array(spec, {
      minItems: 1,
      maxItems: 2,
      description: "The window to search for, then the series to search; absent: the same series",
    }),
    description: optional(textField("A description of the search")),
    algorithm: optional(textField("Ignored: the search is exact")),
    arguments: optional(
      Type.Object({
        limit: optional(Type.Integer({ minimum: 1, description: "Matches in the result" })),
        minRange: optional(moment),
        maxRange: optional(moment),
      }),
    ),
  },
  { title: "PatternSearch" },
);

type SpecInput = Static<typeof spec>;

/** Refuses (400) the name of one series beside the id of another. */
export async function refuseOtherSeries(ctx: RequestContext, input: Static<typeof patternSearch>) {
  for (const [index, { timeSeries }] of input.timeSeriesDataSpec.entries())
    await refuseOtherIds(
      ctx,
      timeSeries as readonly KeyInput[],
      (at) => `timeSeriesDataSpec[${index}].timeSeries[${at}].`,
    );
}

/** The search of a body. Refuses (400) members that contradict each other. */
export function readSearch(ctx: RequestContext, input: Static<typeof patternSearch>): SearchWanted {
  const [own, other] = input.timeSeriesDataSpec;
  const at = ["timeSeriesDataSpec[0].", "timeSeriesDataSpec[1]."] as const;
  const source = readSource(own!, at[0]);
  const missing = (["start", "end"] as const).filter((name) => own![name] === undefined);
  if (missing.length > 0) throw fail("fields-missing", { fields: missing.map((name) => at[0] + name) });
  const { limit = limits.searchMatchesDefault, minRange, maxRange } = input.arguments ?? {};
  const range = { start: minRange, end: maxRange };
  if (other && (minRange ?? maxRange) !== undefined) {
    const field = minRange === undefined ? "arguments.maxRange" : "arguments.minRange";
    const expected = "absent, as the second data spec has the range,";
    throw fail("field-invalid", { field, expected, got: String(minRange ?? maxRange) });
  }
  const searched = other ? readSource(other, at[1]) : source;
  refuseUnlike(source, searched, at[1]);
  return {
    window: { source, range: searchRange(ctx, own!, at[0]), field: "timeSeriesDataSpec[0]" },
    searched: {
      source: searched,
      range: other
        ? searchRange(ctx, other, at[1])
        : searchRange(ctx, range, "arguments.", { start: "minRange", end: "maxRange" }),
    },
    mode: "pattern",
    count: limit,
  };
}

/** The time range of a spec; by default all time up to now. */
export function searchRange(
  ctx: RequestContext,
  input: { readonly start?: string | number | undefined; readonly end?: string | number | undefined },
  at: string,
  { start, end } = { start: "start", end: "end" },
): TimeRange {
  const given = {
    ...(input.start !== undefined && { start: input.start }),
    ...(input.end !== undefined && { end: input.end }),
  };
  const options = readOptions(given, at);
  const earliest = { kind: "at", ms: limits.timeMsMin } as const;
  const fields = { start: at + start, end: at + end };
  return timeRange(ctx.system.nowMs(), { start: options.start ?? earliest, end: options.end }, fields);
}

/** The source of a spec: the points of one series, or a column for each aggregate of each series. */
function readSource(input: SpecInput, at: string): Source {
  const columns = input.timeSeries.flatMap((one, i) => columnsIn(input, one, `${at}timeSeries[${i}].`));
  if (columns.length > limits.searchColumnsMax)
    throw fail("too-many", { field: `${at}timeSeries`, limit: limits.searchColumnsMax, got: columns.length });
  const isBuckets = columns.every((column): column is BucketColumn => "aggregate" in column);
  if (!isBuckets) {
    if (columns.length === 1) return { kind: "points", key: columns[0]!.key };
    const expected = "aggregates for each of several series, whose points have different times,";
    throw fail("field-invalid", { field: `${at}aggregates`, expected, got: "series without one" });
  }
  if (!input.granularity) throw fail("fields-missing", { fields: [`${at}granularity`] });
  const granularity = readGranularity(input.granularity, `${at}granularity`);
  return { kind: "buckets", columns, granularity };
}

type Column = BucketColumn | Pick<BucketColumn, "key">;

function columnsIn(spec: SpecInput, one: SpecInput["timeSeries"][number], at: string): Column[] {
  const key = seriesKey(one as KeyInput, at);
  const { aggregates = [] } = optionsIn({ aggregates: one.aggregates ?? spec.aggregates }, at);
  const fill: GapFilling | undefined = one.missingDataStrategy ?? spec.missingDataStrategy;
  if (aggregates.length === 0) return [{ key }];
  return [...new Set(aggregates)].map((aggregate) => ({ key, aggregate, ...(fill && { fill }) }));
}

/** Reads the options of members that are present. */
const optionsIn = (input: { [Name in keyof OptionsInput]: OptionsInput[Name] | undefined }, at: string) =>
  readOptions(Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)), at);

/** Refuses (400) different columns: windows are compared column by column. */
function refuseUnlike(window: Source, searched: Source, at: string): void {
  const [want, got] = [described(window), described(searched)];
  if (want === got) return;
  const expected = `${want}, as the window has,`;
  throw fail("field-invalid", { field: `${at}timeSeries`, expected, got });
}

const described = (source: Source): string =>
  source.kind === "points"
    ? "the points of one series"
    : `${source.columns.length} aggregates of ${source.granularity.bucketMs} ms`;
