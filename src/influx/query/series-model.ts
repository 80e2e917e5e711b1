// Maps series of the plant to measurements, tags and fields (docs/influx.md#measurements).
import type { RequestContext } from "../../context.ts";
import { compareText } from "../../lib/text.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import { limits } from "../../limits.ts";
import {
  equals,
  everything,
  type Filter,
  hasMember,
  hasMetadata,
  not,
  oneOf,
  or,
  related,
} from "../../query/filter.ts";
import type { Position } from "../../query/page.ts";
import { listTimeSeries, type TimeSeries } from "../../resources/timeseries/timeseries.ts";
import { AssetTags, type TagsOfAsset } from "./asset-tags.ts";
import type { NamePattern } from "./ast.ts";
import { impliedFilter, namesIn, type Test } from "./conditions.ts";
import { type Matcher, matcherOf } from "./pattern.ts";
import { statementProblem } from "./problems.ts";

/** A series of the store, as far as queries need it. */
export interface StoredSeries {
  readonly id: number;
  readonly isString: boolean;
  readonly isStep: boolean;
}

/** One combination of a measurement and tags, with its fields. A field can have several stored series. */
export interface TagSet {
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: ReadonlyMap<string, readonly StoredSeries[]>;
}

export interface Measurement {
  readonly name: string;
  /** In the order of the names of their first series. */
  readonly tagSets: readonly TagSet[];
  readonly tagKeys: readonly string[];
  readonly fieldKeys: readonly string[];
}

/** Whether the name is that of a field of the measurement; of one name, tags come before fields. */
export const isField = (
  { fieldKeys, tagKeys }: Measurement,
  name: string,
  type: string | undefined,
): boolean =>
  type === "tag" ? false : type !== undefined || (fieldKeys.includes(name) && !tagKeys.includes(name));

/** The value of a name of a query. Inherited members, such as `constructor`, are none. */
export const ownValue = <Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Series that line protocol did not write: all points, and the latest ones. */
export const plantMeasurements: readonly string[] = ["latest", "points"];
export const eventsMeasurement = "events";
const reserved: readonly string[] = [...plantMeasurements, eventsMeasurement];

/**
 * Whether one of the patterns names the events, as `events`, `/^events$/` or `/^(cpu|events)$/`. Other
 * regular expressions match series only, so that `/./` does not read all events.
 */
export const namesEvents = (from: readonly NamePattern[]): boolean =>
  from.some((pattern) => matcherOf(pattern).only?.includes(eventsMeasurement));

const assetKeys: readonly string[] = ["asset", "path", "root"];

export interface ModelQuery {
  /** The measurements; all if there is none. */
  readonly from: readonly NamePattern[];
  readonly test: Test;
  /** The tags that the result has besides those of the test; `every` for all. */
  readonly tags: "every" | readonly string[];
}

/** The measurements, by name, with the series that the caller may read and that can pass the test. */
export async function readMeasurements(ctx: RequestContext, query: ModelQuery): Promise<Measurement[]> {
  const matchers = query.from.map(matcherOf);
  const isFrom = (name: string) => matchers.length === 0 || matchers.some(({ matches }) => matches(name));
  const plant = plantMeasurements.filter(isFrom);
  const found = new Map<string, SetsByTags>();
  const setsOf = (name: string) => found.get(name) ?? found.set(name, new SetsByTags()).get(name)!;
  const assets = needsAssets(query) ? new AssetTags(ctx) : undefined;
  const turn = new TimeSlice(limits.timeSliceMs);
  let count = 0;
  for await (const page of pagesOf(ctx, filterFor(matchers, query.test))) {
    count += page.length;
    if (count > limits.influxSeriesMax)
      throw statementProblem(
        `the statement reads more than ${limits.influxSeriesMax} series: add a condition on tags`,
      );
    const tagsOf = await assets?.of(page.map(({ assetId }) => assetId));
    for (const series of page) {
      if (turn.isOver()) await turn.next(ctx.signal);
      const written = writtenAs(series);
      if (written) {
        if (isFrom(written.measurement)) setsOf(written.measurement).add(written.tags, written.field, series);
      } else for (const name of plant) setsOf(name).add(...plantSeries(series, tagsOf), series);
    }
  }
  return [...found].map(([name, sets]) => sets.measurement(name)).sort((a, b) => compareText(a.name, b.name));
}

function needsAssets({ test, tags }: ModelQuery): boolean {
  return tags === "every" || [...tags, ...namesIn(test)].some((name) => assetKeys.includes(name));
}

/** The part of the query that the catalog evaluates: the names of measurements and the tests of tags. */
function filterFor(matchers: readonly Matcher[], test: Test): Filter {
  const names = matchers.map(({ only }) => only);
  if (names.length === 0 || names.includes(undefined)) return everything;
  const all = names.flatMap((only) => only!);
  const isPlant = all.some((name) => plantMeasurements.includes(name));
  if (!isPlant) return or(...all.map((name) => writtenFilter(name, test)));
  return all.every((name) => plantMeasurements.includes(name))
    ? impliedFilter(test, plantFilter)
    : everything;
}

const writtenFilter = (measurement: string, test: Test): Filter => ({
  kind: "and",
  parts: [hasMetadata(measurementKey, measurement), impliedFilter(test, tagFilter)],
});

/** A series without the tag stays, because the name can be that of a field. */
const tagFilter = (name: string, values: readonly string[]): Filter =>
  or(...values.map((value) => hasMetadata(name, value)), not(hasMember("metadata", name)));

function plantFilter(name: string, values: readonly string[]): Filter | undefined {
  if (name === "name") return values.length === 1 ? equals("name", values[0]!) : oneOf("name", values);
  if (name === "unit") return oneOf("unit", values);
  return name === "asset" ? related("assetId", "assets", oneOf("name", values)) : undefined;
}

const fields = ["id", "name", "isString", "isStep", "unit", "assetId", "metadata"];

async function* pagesOf(ctx: RequestContext, filter: Filter): AsyncGenerator<readonly TimeSeries[]> {
  for (let after: Position | undefined; ; ) {
    ctx.signal.throwIfAborted();
    const page = { limit: limits.influxSeriesPerPage, ...(after && { after }) };
    const { items, next } = await listTimeSeries(ctx, { filter, page, fields });
    yield items;
    if (!next) return;
    after = next;
  }
}

const [measurementKey, fieldKey] = ["_measurement", "_field"];

interface WrittenSeries {
  readonly measurement: string;
  readonly field: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** The names that a line gave the series, which its metadata has; undefined for other series. */
function writtenAs({ metadata }: TimeSeries): WrittenSeries | undefined {
  const { [measurementKey!]: measurement, [fieldKey!]: field, ...tags } = metadata;
  // No statement can name an empty one.
  if (!measurement || !field || reserved.includes(measurement)) return undefined;
  return { measurement, field, tags };
}

function plantSeries(
  { name, unit, assetId, isString }: TimeSeries,
  tagsOf: TagsOfAsset | undefined,
): [tags: Record<string, string>, field: string] {
  const tags = { name, ...(unit !== undefined && { unit }), ...(assetId !== undefined && tagsOf?.(assetId)) };
  return [tags, isString ? "text" : "value"];
}

/** Collects the fields of each combination of tags. */
class SetsByTags {
  readonly #sets = new Map<string, TagSet & { readonly fields: Map<string, StoredSeries[]> }>();
  readonly #tagKeys = new Set<string>();
  readonly #fieldKeys = new Set<string>();

  add(tags: Readonly<Record<string, string>>, field: string, { id, isString, isStep }: TimeSeries): void {
    const sorted = Object.entries(tags).sort(([a], [b]) => compareText(a, b));
    const key = JSON.stringify(sorted);
    const set = this.#sets.get(key) ?? { tags: Object.fromEntries(sorted), fields: new Map() };
    this.#sets.set(key, set);
    for (const [tag] of sorted) this.#tagKeys.add(tag);
    this.#fieldKeys.add(field);
    const same = set.fields.get(field);
    const series = { id, isString, isStep };
    if (same) same.push(series);
    else set.fields.set(field, [series]);
  }

  measurement(name: string): Measurement {
    const [tagKeys, fieldKeys] = [this.#tagKeys, this.#fieldKeys].map((keys) => [...keys].sort(compareText));
    return { name, tagSets: [...this.#sets.values()], tagKeys: tagKeys!, fieldKeys: fieldKeys! };
  }
}
