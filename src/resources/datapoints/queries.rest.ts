// Reads the queries of series from query parameters and request bodies, in every spelling that clients send.
import { Type } from "typebox";
import { fail } from "../../errors.ts";
import { isTimeZone } from "../../lib/clock-buckets.ts";
import {
  type Granularity,
  now,
  parseGranularity,
  parseTimePoint,
  type TimePoint,
  type TimeRange,
  timePointMs,
} from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { boolean, integer, type Parameter } from "../../rest/parameters.ts";
import type { ApiVersion } from "../../rest/route.ts";
import { eitherOf } from "../../rest/two-names.ts";
import type { AggregateName } from "../../storage/points.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import type { SeriesQuery } from "./datapoints.ts";
import {
  type CalendarGranularity,
  isCalendar,
  parseCalendarGranularity,
  type ZonedGranularity,
} from "./zoned-granularity.ts";

const timeFormats = "milliseconds since 1970, `now`, or a time ago such as `2h-ago` (units w, d, h, m, s)";

/** A query parameter for a time, in any of its formats (docs/reference/common.md#times). */
export const timeParameter = (description: string): Parameter<TimePoint | undefined> => ({
  schema: Type.String({ examples: ["1541210091980", "2h-ago", "now"] }),
  description: `${description}: ${timeFormats}`,
  required: false,
  decode: (input, field) => (input.at(-1) ? readTime(input.at(-1)!, field) : undefined),
});

/** A member of a body for a time, in any of its formats. */
export const timeField = (description: string) =>
  Type.Optional(
    Type.Union([Type.Number(), Type.String()], { description: `${description}: ${timeFormats}` }),
  );

/** Decodes a time of a request. Refuses (400) other formats, naming the field. */
export function readTime(input: string | number, field: string): TimePoint {
  const found = parseTimePoint(input);
  if (!found) throw fail("field-invalid", { field, expected: timeFormats, got: String(input) });
  return found;
}

const timeZoneText =
  "In 0.6: the IANA name of the time zone in which days, months and other buckets start; UTC when absent";

/** The query parameters of a read. A body has the same members, for all items or for one. */
export const queryParameters = {
  start: timeParameter("The first time, included; 0 when absent"),
  end: timeParameter("The end, not included; now when absent"),
  aggregates: {
    schema: Type.String({ examples: ["avg,max"] }),
    description: "Aggregates instead of points, separated by commas or as repeated parameters",
    required: false,
    decode: (input: readonly string[], field: string) => {
      const names = readAggregates(input, field);
      return names.length > 0 ? names : undefined;
    },
  },
  granularity: {
    schema: Type.String({ examples: ["1h"] }),
    description:
      "The time that an aggregate covers: d, h, m or s (day, hour, minute, second), or a multiple such as " +
      "`12h`; in 0.6 also w, mo or y (week, month, year)",
    required: false,
    decode: (input: readonly string[], field: string) =>
      input.at(-1) ? readAnyGranularity(input.at(-1)!, field) : undefined,
  },
  timeZone: {
    schema: Type.String({ examples: ["Europe/Oslo"] }),
    description: timeZoneText,
    required: false,
    decode: (input: readonly string[], field: string) =>
      input.at(-1) ? readTimeZone(input.at(-1)!, field) : undefined,
  },
  limit: integer(
    `The most points or aggregates in the response; ${limits.pointsPerReadDefault} when absent, at most ` +
      `${limits.pointsPerReadMax} points or ${limits.bucketsPerReadMax} aggregates`,
    { min: 0 },
  ),
  includeOutsidePoints: boolean(
    "Also the last point before start and the first one at or after end; only for points",
  ),
} as const;

export function readGranularity(input: string, field: string): Granularity {
  const found = parseGranularity(input, limits.granularityDaysMax);
  if (found) return found;
  throw fail("field-invalid", { field, expected: granularityText, got: input });
}

const longest = `${limits.granularityDaysMax} days`;
const granularityText = `d, h, m or s, or a multiple such as 12h of at most ${longest}`;

/** Decodes a granularity, also of weeks and months. */
function readAnyGranularity(input: string, field: string): Granularity | CalendarGranularity {
  const found = parseCalendarGranularity(input) ?? parseGranularity(input, limits.granularityDaysMax);
  if (found) return found;
  const [weeks, months] = [limits.granularityWeeksMax, limits.granularityMonthsMax];
  const expected = `${granularityText}; in 0.6 also w, mo or y, at most ${weeks} weeks or ${months} months,`;
  throw fail("field-invalid", { field, expected, got: input });
}

function readTimeZone(input: string, field: string): string {
  if (isTimeZone(input)) return input;
  throw fail("field-invalid", { field, expected: "an IANA time zone such as Europe/Oslo", got: input });
}

/** Options of a read, decoded. An item with `aggregates: []` reads points where the body names aggregates. */
export interface ReadOptions {
  readonly start?: TimePoint | undefined;
  readonly end?: TimePoint | undefined;
  readonly aggregates?: readonly AggregateName[] | undefined;
  readonly granularity?: Granularity | CalendarGranularity | undefined;
  readonly timeZone?: string | undefined;
  readonly limit?: number | undefined;
  readonly includeOutsidePoints?: boolean | undefined;
}

const aggregatesField = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]));

/** The members of a query, on a body or an item; every version accepts all spellings of its clients. */
export const optionFields = {
  start: timeField("Included"),
  end: timeField("Not included"),
  aggregates: aggregatesField,
  aggregateFunctions: aggregatesField,
  granularity: Type.Optional(Type.String()),
  timeZone: Type.Optional(Type.String({ description: timeZoneText })),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  includeOutsidePoints: Type.Optional(Type.Boolean()),
};

export interface OptionsInput {
  readonly start?: string | number;
  readonly end?: string | number;
  readonly aggregates?: string | readonly string[];
  readonly aggregateFunctions?: string | readonly string[];
  readonly granularity?: string;
  readonly timeZone?: string;
  readonly limit?: number;
  readonly includeOutsidePoints?: boolean;
}

/** Decodes the options of a body or an item. `at` is the path of their members: `items[0].` */
export function readOptions(input: OptionsInput, at: string): ReadOptions {
  return {
    start: input.start === undefined ? undefined : readTime(input.start, `${at}start`),
    end: input.end === undefined ? undefined : readTime(input.end, `${at}end`),
    aggregates: eitherOf(
      aggregatesIn(input, "aggregates", at),
      aggregatesIn(input, "aggregateFunctions", at),
    ),
    granularity: input.granularity ? readAnyGranularity(input.granularity, `${at}granularity`) : undefined,
    timeZone: input.timeZone ? readTimeZone(input.timeZone, `${at}timeZone`) : undefined,
    limit: input.limit,
    includeOutsidePoints: input.includeOutsidePoints,
  };
}

function aggregatesIn(input: OptionsInput, name: "aggregates" | "aggregateFunctions", at: string) {
  const field = `${at}${name}`;
  const sent = input[name];
  return [field, sent === undefined ? undefined : readAggregates([sent].flat(), field)] as const;
}

/** The options of an item; those that it does not have are the options of the body. */
export function mergeOptions(item: ReadOptions, body: ReadOptions): ReadOptions {
  const present = Object.entries(item).filter(([, value]) => value !== undefined);
  return { ...body, ...Object.fromEntries(present) };
}

/**
 * The range of a query, from 0 to `nowMs` by default. Refuses (400) a start after the end.
 */
export function timeRange(
  nowMs: number,
  { start, end }: Pick<ReadOptions, "start" | "end">,
  fields = { start: "start", end: "end" },
): TimeRange {
  const startMs = start ? timePointMs(start, nowMs) : 0;
  const endMs = timePointMs(end ?? now, nowMs);
  if (startMs <= endMs) return { startMs, endMs };
  const expected = `a time not after ${fields.end} (${endMs})`;
  throw fail("field-invalid", { field: fields.start, expected, got: String(startMs) });
}

interface ReadContext {
  readonly version: ApiVersion;
  /** The path of the members: `items[0].` */
  readonly at?: string;
}

/**
 * The granularity of a read, if it has one. Refuses (400) weeks, months and time zones in versions before
 * 0.6.
 */
export function granularityIn(
  { granularity, timeZone }: Pick<ReadOptions, "granularity" | "timeZone">,
  { version, at = "" }: ReadContext,
): Granularity | ZonedGranularity | undefined {
  const isOfCalendar = granularity !== undefined && isCalendar(granularity);
  if (version !== "0.6" && (isOfCalendar || timeZone)) {
    const field = isOfCalendar ? `${at}granularity` : `${at}timeZone`;
    throw fail("field-invalid", {
      field,
      expected: "weeks, months and time zones in version 0.6 only",
      got: version,
    });
  }
  if (!granularity) return undefined;
  if (!timeZone && !isCalendar(granularity)) return granularity;
  return { timeZone: timeZone ?? "UTC", length: granularity, isFromStart: true };
}

/**
 * The query of one series. Refuses (400) aggregates without a granularity and the reverse, and outside points
 * of aggregates.
 */
export function seriesQuery(
  nowMs: number,
  key: SeriesKey,
  { options, version, at = "" }: ReadContext & { readonly options: ReadOptions },
): SeriesQuery {
  const range = timeRange(nowMs, options, { start: `${at}start`, end: `${at}end` });
  const limit = options.limit ?? limits.pointsPerReadDefault;
  const { aggregates } = options;
  const granularity = granularityIn(options, { version, at });
  if (aggregates === undefined && (granularity || options.timeZone))
    throw fail("fields-missing", { fields: [`${at}aggregates`] });
  const includeOutside = options.includeOutsidePoints ?? false;
  if (aggregates === undefined || aggregates.length === 0) return { key, range, limit, includeOutside };
  if (!granularity) throw fail("fields-missing", { fields: [`${at}granularity`] });
  if (includeOutside)
    throw fail("field-invalid", {
      field: `${at}includeOutsidePoints`,
      expected: "false with aggregates",
      got: "true",
    });
  return { key, range, limit, aggregates: { names: [...new Set(aggregates)], granularity } };
}

/** The short name of each aggregate, where there is one. */
const shortNames: Readonly<Record<AggregateName, string | undefined>> = {
  average: "avg",
  max: undefined,
  min: undefined,
  count: undefined,
  sum: undefined,
  interpolation: "int",
  stepInterpolation: "step",
  continuousVariance: "cv",
  discreteVariance: "dv",
  totalVariation: "tv",
};

export const aggregateNames = Object.keys(shortNames) as AggregateName[];

/** `variance` is the continuous one (docs/aggregates.md#the-interpolated-series). */
const byName: ReadonlyMap<string | undefined, AggregateName> = new Map([
  ...aggregateNames.flatMap((name): [string | undefined, AggregateName][] => [
    [name.toLowerCase(), name],
    [shortNames[name], name],
  ]),
  ["variance", "continuousVariance"],
]);

/**
 * Reads long and short names in any capitalisation. Each string may have several, separated by commas.
 */
function readAggregates(input: readonly string[], field: string): AggregateName[] {
  const words = input.flatMap((text) => text.split(",")).map((word) => word.trim());
  return words.filter((word) => word !== "").map((word) => readAggregate(word, field));
}

export function readAggregate(word: string, field: string): AggregateName {
  const found = byName.get(word.toLowerCase());
  if (!found)
    throw fail("field-invalid", { field, expected: `one of ${aggregateNames.join(", ")}`, got: word });
  return found;
}

/** The JavaScript SDK misspells one of them in 0.5, the Spark data source does not; both get their member. */
export const membersOfAggregate = (name: AggregateName, version: ApiVersion): readonly string[] =>
  name === "continuousVariance" && version !== "0.6" ? ["continousVariance", name] : [name];
