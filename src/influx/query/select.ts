// Runs SELECT: finds the series, groups them by tags, and reads the rows of each group.
import type { RequestContext } from "../../context.ts";
import { compareText } from "../../lib/text.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { Dimension, Select } from "./ast.ts";
import { bucketRows } from "./bucket-select.ts";
import { type Buckets, bucketsOf, oneBucket } from "./buckets.ts";
import { expandedColumns, fieldsIn, hasFunctions, type NamedExpression, rawColumn } from "./columns.ts";
import { isAlways, namesIn, testOf } from "./conditions.ts";
import { selectEvents } from "./events.ts";
import { type Member, matchingMembers } from "./members.ts";
import { matcherOf } from "./pattern.ts";
import { statementProblem } from "./problems.ts";
import { rawRows } from "./raw-select.ts";
import { type ResultRows, type ResultSeries, rowCount, windowed } from "./rows.ts";
import {
  type Measurement,
  namesEvents,
  ownValue,
  plantMeasurements,
  readMeasurements,
} from "./series-model.ts";
import { millisecondsOf } from "./time-range.ts";

export async function* runSelect(ctx: RequestContext, select: Select): AsyncGenerator<ResultSeries> {
  if (namesEvents(select.from)) return yield* selectEvents(ctx, select);
  const isAggregated = hasFunctions(select);
  const test = testOf(select.where.condition);
  const measurements = await readMeasurements(ctx, { from: select.from, test, tags: tagsNeeded(select) });
  const groups: Group[] = [];
  for (const measurement of measurements)
    groups.push(...groupsOf(select, measurement, await matchingMembers(ctx, measurement, test)));
  const { limit = Number.POSITIVE_INFINITY, offset } = select.series;
  const shown = groups.slice(offset, offset + limit);
  if (isAggregated) yield* aggregatedSeries(ctx, select, shown);
  else for (const group of shown) yield rawSeries(ctx, select, group);
}

/** The tags of the result; wildcards and regular expressions can have any. */
function tagsNeeded({ columns, dimensions }: Select): "every" | readonly string[] {
  const names: string[] = [];
  for (const { expression } of columns) {
    if (expression.kind === "wildcard" || expression.kind === "regex") return "every";
    if (expression.kind === "reference") names.push(expression.name);
  }
  for (const dimension of dimensions) {
    if (dimension.kind === "every tag" || "source" in dimension.pattern) return "every";
    names.push(dimension.pattern.name);
  }
  return names;
}

/** The tag sets that have the same values of the tags of GROUP BY. */
interface Group {
  readonly measurement: Measurement;
  readonly columns: readonly NamedExpression[];
  /** The fields of the columns. */
  readonly fields: readonly string[];
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly members: readonly Member[];
}

function groupsOf(select: Select, measurement: Measurement, matching: readonly Member[]): Group[] {
  const keys = dimensionsOf(select.dimensions, measurement);
  const columns = expandedColumns(select.columns, measurement, new Set(keys));
  const fields = [...new Set(columns.flatMap(({ expression }) => fieldsIn(expression, measurement)))];
  const members = matching.filter(({ tagSet }) => fields.some((field) => tagSet.fields.has(field)));
  if (members.length > 1 && isImplied(measurement, keys, columns)) keys.push("name");
  const tagsOf = ({ tagSet }: Member) => keys.map((key) => ownValue(tagSet.tags, key) ?? "");
  const byTags = [...Map.groupBy(members, (member) => JSON.stringify(tagsOf(member)))];
  return byTags
    .sort(([a], [b]) => compareText(a, b))
    .map(([, same]) => {
      const values = tagsOf(same[0]!);
      const tags =
        keys.length > 0 ? Object.fromEntries(keys.map((key, at) => [key, values[at]!])) : undefined;
      return { measurement, columns, fields, tags, members: same };
    });
}

function dimensionsOf(dimensions: readonly Dimension[], { tagKeys }: Measurement): string[] {
  const keys = dimensions.flatMap((dimension) => {
    if (dimension.kind === "every tag") return tagKeys;
    if ("name" in dimension.pattern) return [dimension.pattern.name];
    return tagKeys.filter(matcherOf(dimension.pattern).matches);
  });
  return [...new Set(keys)].sort(compareText);
}

/** Rows of several series of the plant must show their series: they are grouped by name. */
function isImplied(
  { name }: Measurement,
  keys: readonly string[],
  columns: readonly NamedExpression[],
): boolean {
  const showsName = columns.some(
    ({ expression }) => expression.kind === "reference" && expression.name === "name",
  );
  return plantMeasurements.includes(name) && keys.length === 0 && !showsName;
}

function rawSeries(ctx: RequestContext, select: Select, group: Group): ResultSeries {
  const { measurement, members, fields, columns: named } = group;
  const tested = members.flatMap(({ test }) => namesIn(test));
  const columns = named.map((one) => rawColumn(one, measurement));
  const { limit = Number.POSITIVE_INFINITY, offset } = select.rows;
  const query = {
    members,
    columns,
    fields: [...new Set([...fields, ...tested])],
    shownFields: fields.length,
    range: rangeOf(select, limits.timeMsMax + 1),
    isDescending: select.isDescending,
    isLatest: measurement.name === "latest",
    limit: limit + offset,
  };
  return seriesOf(select, group, windowed(rawRows(ctx, query), select.rows));
}

const seriesOf = (
  { timeZone }: Select,
  { measurement, tags, columns }: Group,
  rows: AsyncIterable<ResultRows>,
): ResultSeries => ({
  name: measurement.name,
  ...(tags && { tags }),
  timeZone,
  columns: ["time", ...columns.map(({ name }) => name)],
  rows,
});

const rangeOf = ({ where }: Select, endMs: number): TimeRange => ({
  startMs: limits.timeMsMin,
  endMs,
  ...millisecondsOf(where.time),
});

/** Groups that are read at once, as far as they have at most so many buckets together. */
const [groupsAtOnce, bucketsAtOnce] = [64, 20_000];

async function* aggregatedSeries(
  ctx: RequestContext,
  select: Select,
  groups: readonly Group[],
): AsyncGenerator<ResultSeries> {
  const { startMs, endMs } = rangeOf(select, ctx.system.nowMs());
  const buckets = select.time ? Math.max(1, (endMs - startMs) / select.time.lengthMs) : 1;
  const count = Math.max(1, Math.min(groupsAtOnce, Math.floor(bucketsAtOnce / buckets)));
  const bucketsFor = bucketsOfGroups(ctx, select);
  for (let at = 0; at < groups.length; at += count) {
    ctx.signal.throwIfAborted();
    const some = groups.slice(at, at + count);
    const batches = await Promise.all(
      some.map((group) => aggregatedRows(ctx, select, { group, bucketsFor })),
    );
    for (const [i, batch] of batches.entries())
      if (batch) yield seriesOf(select, some[i]!, windowed(only(batch), select.rows));
  }
}

async function* only(batch: ResultRows): AsyncGenerator<ResultRows> {
  yield batch;
}

async function aggregatedRows(
  ctx: RequestContext,
  select: Select,
  { group, bucketsFor }: { readonly group: Group; readonly bucketsFor: BucketsFor },
): Promise<ResultRows | undefined> {
  const { measurement, members } = group;
  if (measurement.name === "latest")
    throw statementProblem("functions of latest are not supported: use last() of points");
  if (!members.every(({ test }) => isAlways(test)))
    throw statementProblem("conditions on fields with functions are not supported");
  const buckets = await bucketsFor(group);
  if (!buckets) return undefined;
  const rows = await bucketRows(ctx, {
    tagSets: members.map(({ tagSet }) => tagSet),
    expressions: group.columns.map(({ expression }) => expression),
    buckets,
    intervalMs: select.time?.lengthMs,
    fill: select.fill,
  });
  return rows && rowCount(rows) > 0 && select.isDescending ? reversed(rows) : rows;
}

const reversed = ({ times, columns }: ResultRows): ResultRows => ({
  ...(times && { times: times.toReversed() }),
  columns: columns.map((column) => column.toReversed()),
});

/** Undefined if there is no point in the range. */
type BucketsFor = (group: Group) => Promise<Buckets | undefined>;

/** All groups have the same buckets, unless the range has no start: then they begin with the first point. */
function bucketsOfGroups(ctx: RequestContext, select: Select): BucketsFor {
  const { time, timeZone, where } = select;
  const isOpen = where.time.start === undefined;
  const range = rangeOf(select, time ? ctx.system.nowMs() + 1 : limits.timeMsMax + 1);
  let same: Buckets | undefined;
  return async (group) => {
    if (range.startMs >= range.endMs) return undefined;
    if (!time) return oneBucket(range, isOpen ? 0 : range.startMs);
    if (!isOpen) {
      same ??= bucketsOf(range, time, timeZone);
      return same;
    }
    const startMs = await firstTime(ctx, group, range);
    return startMs === undefined ? undefined : bucketsOf({ ...range, startMs }, time, timeZone);
  };
}

async function firstTime(
  ctx: RequestContext,
  { members, fields }: Group,
  range: TimeRange,
): Promise<number | undefined> {
  const series = members.flatMap(({ tagSet }) => fields.flatMap((field) => tagSet.fields.get(field) ?? []));
  let firstMs: number | undefined;
  for (const { id, isString } of series) {
    const endMs = firstMs ?? range.endMs;
    const { times } = await ctx.points.scan({ ...range, endMs, series: id, isString, limit: 1 });
    firstMs = times[0] ?? firstMs;
  }
  return firstMs;
}
