// Reads what is asked of a series from query parameters and from bodies, in every spelling clients send.
import { Type } from "typebox";
import { fail } from "../../errors.ts";
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
import type { AggregateName } from "../../storage/points.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import type { SeriesQuestion } from "./datapoints.ts";

const momentText = "milliseconds since 1970, `now`, or a time ago such as `2h-ago` (units w, d, h, m, s)";

/** A point in time in any of its forms (docs/reference/common.md#times). */
export const moment = (description: string): Parameter<TimePoint | undefined> => ({
  schema: Type.String({ examples: ["1541210091980", "2h-ago", "now"] }),
  description: `${description}: ${momentText}`,
  required: false,
  decode: (sent, field) => (sent.at(-1) ? momentIn(sent.at(-1)!, field) : undefined),
});

function momentIn(sent: string | number, field: string): TimePoint {
  const found = parseTimePoint(sent);
  if (!found) throw fail("field-invalid", { field, expected: momentText, got: String(sent) });
  return found;
}

/** What may be asked of one series; in bodies each member may stand on the item or on the body. */
export const questionParameters = {
  start: moment("The first time, included; 0 when absent"),
  end: moment("The end, not included; now when absent"),
  aggregates: {
    schema: Type.String({ examples: ["avg,max"] }),
    description: "Aggregates instead of points, with commas between them or repeated",
    required: false,
    decode: (sent: readonly string[], field: string) => {
      const names = readAggregates(sent, field);
      return names.length > 0 ? names : undefined;
    },
  },
  granularity: {
    schema: Type.String({ examples: ["1h"] }),
    description:
      "How long an aggregate reaches: d, h, m or s (day, hour, minute, second), or a multiple as in `12h`",
    required: false,
    decode: (sent: readonly string[], field: string) =>
      sent.at(-1) ? granularityIn(sent.at(-1)!, field) : undefined,
  },
  limit: integer(
    `Points or aggregates in the answer; ${limits.pointsPerReadDefault} when absent, at most ` +
      `${limits.pointsPerReadMax} points or ${limits.bucketsPerReadMax} aggregates`,
    { min: 0 },
  ),
  includeOutsidePoints: boolean(
    "Also the last point before start and the first at or after end; points only",
  ),
} as const;

export function granularityIn(sent: string, field: string): Granularity {
  const found = parseGranularity(sent);
  if (!found)
    throw fail("field-invalid", { field, expected: "d, h, m or s, or a multiple such as 12h", got: sent });
  return found;
}

/** Decoded; `aggregates: []` asks for points where the body asks for aggregates. */
export interface Asked {
  readonly start?: TimePoint | undefined;
  readonly end?: TimePoint | undefined;
  readonly aggregates?: readonly AggregateName[] | undefined;
  readonly granularity?: Granularity | undefined;
  readonly limit?: number | undefined;
  readonly includeOutsidePoints?: boolean | undefined;
}

const aggregatesField = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]));

/** The members of a query, on a body or an item; every version accepts all spellings of its clients. */
export const askedFields = {
  start: Type.Optional(
    Type.Union([Type.Number(), Type.String()], { description: `Included: ${momentText}` }),
  ),
  end: Type.Optional(
    Type.Union([Type.Number(), Type.String()], { description: `Not included: ${momentText}` }),
  ),
  aggregates: aggregatesField,
  aggregateFunctions: aggregatesField,
  granularity: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  includeOutsidePoints: Type.Optional(Type.Boolean()),
};

/** What names a series: `name`, in 0.4 `tagId`, or `id`. */
export const keyFields = {
  name: Type.Optional(Type.String()),
  tagId: Type.Optional(Type.String()),
  id: Type.Optional(Type.Integer()),
};

export interface SentKey {
  readonly name?: string;
  readonly tagId?: string;
  readonly id?: number;
}

/**
 * How an item names its series; refuses (400) one that does not. `at` is where the item stands: `items[0].`
 */
export function keyOf({ name, tagId, id }: SentKey, at: string): SeriesKey {
  const key = name ?? tagId ?? id;
  if (key === undefined) throw fail("fields-missing", { fields: [`${at}name`] });
  return key;
}

export interface SentAsked {
  readonly start?: string | number;
  readonly end?: string | number;
  readonly aggregates?: string | readonly string[];
  readonly aggregateFunctions?: string | readonly string[];
  readonly granularity?: string;
  readonly limit?: number;
  readonly includeOutsidePoints?: boolean;
}

/** `at` is where the members stand, as in `items[0].`. */
export function askedIn(sent: SentAsked, at: string): Asked {
  const field = sent.aggregates === undefined ? "aggregateFunctions" : "aggregates";
  const aggregates = sent[field];
  return {
    start: sent.start === undefined ? undefined : momentIn(sent.start, `${at}start`),
    end: sent.end === undefined ? undefined : momentIn(sent.end, `${at}end`),
    aggregates: aggregates === undefined ? undefined : readAggregates([aggregates].flat(), `${at}${field}`),
    granularity: sent.granularity ? granularityIn(sent.granularity, `${at}granularity`) : undefined,
    limit: sent.limit,
    includeOutsidePoints: sent.includeOutsidePoints,
  };
}

/** The first's members where it has them, else the second's. */
export function askedOver(item: Asked, body: Asked): Asked {
  const present = Object.entries(item).filter(([, value]) => value !== undefined);
  return { ...body, ...Object.fromEntries(present) };
}

/**
 * The range, from 0 to `nowMs` where nothing is said; refuses one that runs backwards, naming its start's
 * field.
 */
export function rangeOf(
  nowMs: number,
  { start, end }: Pick<Asked, "start" | "end">,
  fields = { start: "start", end: "end" },
): TimeRange {
  const startMs = start ? timePointMs(start, nowMs) : 0;
  const endMs = timePointMs(end ?? now, nowMs);
  if (startMs <= endMs) return { startMs, endMs };
  const expected = `a time not after ${fields.end} (${endMs})`;
  throw fail("field-invalid", { field: fields.start, expected, got: String(startMs) });
}

/**
 * Refuses what does not fit together: aggregates and granularity need each other, and have no outside
 * points.
 */
export function questionOf(
  nowMs: number,
  key: SeriesKey,
  given: { asked: Asked; at?: string },
): SeriesQuestion {
  const { asked, at = "" } = given;
  const range = rangeOf(nowMs, asked, { start: `${at}start`, end: `${at}end` });
  const limit = asked.limit ?? limits.pointsPerReadDefault;
  const { aggregates, granularity } = asked;
  if (aggregates === undefined && granularity) throw fail("fields-missing", { fields: [`${at}aggregates`] });
  const includeOutside = asked.includeOutsidePoints ?? false;
  if (aggregates === undefined || aggregates.length === 0) return { key, range, limit, includeOutside };
  if (!granularity) throw fail("fields-missing", { fields: [`${at}granularity`] });
  if (includeOutside)
    throw fail("field-invalid", {
      field: `${at}includeOutsidePoints`,
      expected: "false with aggregates",
      got: "true",
    });
  return { key, range, limit, aggregates: { wanted: [...new Set(aggregates)], granularity } };
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
const byWord: ReadonlyMap<string | undefined, AggregateName> = new Map([
  ...aggregateNames.flatMap((name): [string | undefined, AggregateName][] => [
    [name.toLowerCase(), name],
    [shortNames[name], name],
  ]),
  ["variance", "continuousVariance"],
]);

/**
 * Long and short names in any capitalisation, each text perhaps several with commas between; repeats are
 * kept.
 */
function readAggregates(sent: readonly string[], field: string): AggregateName[] {
  const words = sent.flatMap((text) => text.split(",")).map((word) => word.trim());
  return words.filter((word) => word !== "").map((word) => readAggregate(word, field));
}

export function readAggregate(word: string, field: string): AggregateName {
  const found = byWord.get(word.toLowerCase());
  if (!found)
    throw fail("field-invalid", { field, expected: `one of ${aggregateNames.join(", ")}`, got: word });
  return found;
}

/** The JavaScript SDK misspells one of them in 0.5, the Spark data source does not; both get their member. */
export const membersOfAggregate = (name: AggregateName, version: ApiVersion): readonly string[] =>
  name === "continuousVariance" && version !== "0.6" ? ["continousVariance", name] : [name];
