// What a pattern search compares, as the JavaScript client sends it: data specs and arguments.
import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { textField } from "../../rest/fields.ts";
import { askedIn, keyFields, keyOf, rangeOf, type SentAsked } from "../datapoints/queries.rest.ts";
import type { SearchWanted } from "./analytics.ts";
import { type GapFilling, gapFillings } from "./matching/grid-rows.ts";
import type { BucketColumn, Source } from "./sources.ts";

const optional = <Value extends TSchema>(value: Value) => Type.Optional(value);
const moment = Type.Union([Type.Number(), Type.String()]);
const names = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: limits.searchColumnsMax })]);
const filling = Type.Enum([...gapFillings], {
  description: "How empty buckets are filled, fewer in a row than the window has; absent: they are gaps",
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
    granularity: optional(Type.String({ description: "How long a bucket is; only with aggregates" })),
    missingDataStrategy: optional(filling),
    start: optional(moment),
    end: optional(moment),
    label: optional(textField("Of no effect")),
  },
  { title: "PatternSpec" },
);

export const patternSearch = Type.Object(
  {
    timeSeriesDataSpec: Type.Array(spec, {
      minItems: 1,
      maxItems: 2,
      description: "The window to look for; then where to look, which is the same series when absent",
    }),
    description: optional(textField("What the search is for")),
    algorithm: optional(textField("Of no effect: the search is exact")),
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

type SentSpec = Static<typeof spec>;

/** Refuses (400) what does not fit together. */
export function searchIn(ctx: RequestContext, sent: Static<typeof patternSearch>): SearchWanted {
  const [own, other] = sent.timeSeriesDataSpec;
  const at = ["timeSeriesDataSpec[0].", "timeSeriesDataSpec[1]."] as const;
  const source = sourceIn(own!, at[0]);
  const missing = (["start", "end"] as const).filter((name) => own![name] === undefined);
  if (missing.length > 0) throw fail("fields-missing", { fields: missing.map((name) => at[0] + name) });
  const { limit = limits.searchMatchesDefault, minRange, maxRange } = sent.arguments ?? {};
  const range = { start: minRange, end: maxRange };
  if (other && (minRange ?? maxRange) !== undefined) {
    const field = minRange === undefined ? "arguments.maxRange" : "arguments.minRange";
    const expected = "absent, as the second data spec has the range,";
    throw fail("field-invalid", { field, expected, got: String(minRange ?? maxRange) });
  }
  const searched = other ? sourceIn(other, at[1]) : source;
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

/** All time up to now where nothing is said. */
export function searchRange(
  ctx: RequestContext,
  sent: { readonly start?: string | number | undefined; readonly end?: string | number | undefined },
  at: string,
  { start, end } = { start: "start", end: "end" },
): TimeRange {
  const given = {
    ...(sent.start !== undefined && { start: sent.start }),
    ...(sent.end !== undefined && { end: sent.end }),
  };
  const asked = askedIn(given, at);
  const earliest = { kind: "at", ms: limits.timeMsMin } as const;
  const fields = { start: at + start, end: at + end };
  return rangeOf(ctx.system.nowMs(), { start: asked.start ?? earliest, end: asked.end }, fields);
}

/** Without aggregates the points of one series; else one column for each aggregate of each series. */
function sourceIn(sent: SentSpec, at: string): Source {
  const columns = sent.timeSeries.flatMap((one, i) => columnsIn(sent, one, `${at}timeSeries[${i}].`));
  if (columns.length > limits.searchColumnsMax)
    throw fail("too-many", { field: `${at}timeSeries`, limit: limits.searchColumnsMax, got: columns.length });
  const isBuckets = columns.every((column): column is BucketColumn => "aggregate" in column);
  if (!isBuckets) {
    if (columns.length === 1) return { kind: "points", key: columns[0]!.key };
    const expected = "aggregates for each of several series, whose points have different times,";
    throw fail("field-invalid", { field: `${at}aggregates`, expected, got: "series without one" });
  }
  const { granularity } = asked({ granularity: sent.granularity }, at);
  if (!granularity) throw fail("fields-missing", { fields: [`${at}granularity`] });
  return { kind: "buckets", columns, granularity };
}

type Column = BucketColumn | Pick<BucketColumn, "key">;

function columnsIn(spec: SentSpec, one: SentSpec["timeSeries"][number], at: string): Column[] {
  const key = keyOf(
    { ...(one.name !== undefined && { name: one.name }), ...(one.id !== undefined && { id: one.id }) },
    at,
  );
  const { aggregates = [] } = asked({ aggregates: one.aggregates ?? spec.aggregates }, at);
  const fill: GapFilling | undefined = one.missingDataStrategy ?? spec.missingDataStrategy;
  if (aggregates.length === 0) return [{ key }];
  return [...new Set(aggregates)].map((aggregate) => ({ key, aggregate, ...(fill && { fill }) }));
}

/** Of members that are there. */
const asked = (sent: { [Name in keyof SentAsked]: SentAsked[Name] | undefined }, at: string) =>
  askedIn(Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)), at);

/** Windows are compared column by column, so both sides need the same ones. */
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
