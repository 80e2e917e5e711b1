// The table `millrace.aggregates(series, start, end, granularity, aggregates...)` of queries: a row for each
// bucket of each series. The store computes the aggregates, and only those that the query uses.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { parseJson } from "../../../lib/json.ts";
import { limits } from "../../../limits.ts";
import { equals } from "../../../query/filter.ts";
import type { PageQuery } from "../../../query/page.ts";
import type { SqlColumn, SqlPage, SqlTable, SqlValue } from "../../../sql-runner/sql-runner.ts";
import type { AggregateName } from "../../../storage/points.ts";
import { allAggregates, refuseStrings, type SeriesQuery } from "../../datapoints/datapoints.ts";
import type { Rows } from "../../datapoints/limited-rows.ts";
import { aggregateNames, readOptions, seriesQuery } from "../../datapoints/queries.rest.ts";
import { listTimeSeries, resolveSeries, type SeriesRef } from "../../timeseries/timeseries.ts";

const keyColumns: readonly SqlColumn[] = [
  { name: "seriesId", type: "integer" },
  { name: "name", type: "text" },
  { name: "timestamp", type: "integer" },
];

interface Arguments extends Required<Pick<SeriesQuery, "range" | "aggregates">> {
  /** Names of series; undefined for all series of numbers. */
  readonly names: readonly string[] | undefined;
}

/** Refuses (400) arguments that are not those of the function, unknown series, and series of strings. */
export async function describeAggregates(ctx: RequestContext, args: readonly SqlValue[]): Promise<SqlTable> {
  const { names = [], aggregates } = argumentsOf(ctx, args);
  for (const series of await namedSeries(ctx, names)) refuseStrings(series);
  const values = aggregates.names.map((name): SqlColumn => ({ name, type: "real" }));
  return { columns: [...keyColumns, ...values], hasCommits: false };
}

function argumentsOf(ctx: RequestContext, args: readonly SqlValue[]): Arguments {
  const [series, start, end, granularity, ...aggregates] = args;
  const refused = (field: string, expected: string, got: unknown) =>
    fail("field-invalid", { field: `aggregates.${field}`, expected, got: String(got) });
  if (typeof series !== "string" && series !== null)
    throw refused("series", "the name of a series, a JSON array of names, or NULL", series);
  if (typeof granularity !== "string") throw refused("granularity", "a string such as '1h'", granularity);
  const [length, timeZone] = granularity.trim().split(/\s+/, 2);
  const expected = `at least one of ${aggregateNames.join(", ")}`;
  if (aggregates.length === 0) throw refused("aggregates", expected, "none");
  const options = readOptions(
    {
      ...{ start: timeIn(start, "start"), end: timeIn(end, "end"), granularity: length! },
      ...{ aggregates: aggregates.map(String), ...(timeZone && { timeZone }) },
    },
    "aggregates.",
  );
  const query = seriesQuery(ctx.system.nowMs(), 0, { options, version: "0.6", at: "aggregates." });
  return { names: namesIn(series), range: query.range, aggregates: query.aggregates! };
}

function timeIn(value: SqlValue | undefined, field: string): string | number {
  if (typeof value === "string" || typeof value === "number") return value;
  const expected = "a time in milliseconds, 'now', or a time ago such as '2w-ago'";
  throw fail("field-invalid", { field: `aggregates.${field}`, expected, got: String(value) });
}

/** A JSON array of strings is a list of names; any other string is one name. */
function namesIn(series: string | null): readonly string[] | undefined {
  if (series === null) return undefined;
  if (!series.trim().startsWith("[")) return [series];
  try {
    const names = parseJson(series);
    const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
    return isList ? [...new Set(names as string[])] : [series];
  } catch {
    return [series];
  }
}

async function namedSeries(ctx: RequestContext, names: readonly string[]): Promise<SeriesRef[]> {
  const found = await resolveSeries(ctx, names, "READ");
  const unknown = names.find((_, at) => found[at] === undefined);
  if (unknown === undefined) return found as SeriesRef[];
  const expected = "names of series that the account may read";
  throw fail("field-invalid", { field: "aggregates.series", expected, got: unknown });
}

async function* visibleNumbers(ctx: RequestContext): AsyncGenerator<readonly SeriesRef[]> {
  const limit = limits.transformationSourceRows;
  for (let page: PageQuery | undefined = { limit }; page; ) {
    const query = { filter: equals("isString", false), page, fields: ["id", "name"] };
    const found: Awaited<ReturnType<typeof listTimeSeries>> = await listTimeSeries(ctx, query);
    const series = await resolveSeries(
      ctx,
      found.items.map(({ id }) => id),
      "READ",
    );
    yield series.filter((one) => one !== undefined);
    page = found.next && { limit, after: found.next };
  }
}

/** Rows with these columns, by series and time. */
export async function* readAggregatePages(
  ctx: RequestContext,
  args: readonly SqlValue[],
  columns: readonly string[],
): AsyncGenerator<SqlPage> {
  const { names, range, aggregates } = argumentsOf(ctx, args);
  const groups = names ? [await namedSeries(ctx, names)] : visibleNumbers(ctx);
  for await (const group of groups)
    for (const series of group)
      for await (const rows of allAggregates(ctx, series, { range, aggregates }))
        yield* pagesOf(series, rows, { names: aggregates.names, columns });
}

function* pagesOf(
  { id, name }: SeriesRef,
  rows: Rows<Float64Array>,
  { names, columns }: { readonly names: readonly AggregateName[]; readonly columns: readonly string[] },
): Generator<SqlPage> {
  const fixed: Readonly<Record<string, unknown>> = { seriesId: id, name };
  const values = columns.map((column): ((row: number) => unknown) => {
    if (column === "timestamp") return (row) => rows.times[row];
    const found = rows.columns[names.indexOf(column as AggregateName)];
    return found ? (row) => (Number.isNaN(found[row]) ? null : found[row]) : () => fixed[column];
  });
  const size = limits.transformationSourceRows;
  for (let from = 0; from < rows.times.length; from += size) {
    const length = Math.min(size, rows.times.length - from);
    yield JSON.stringify(Array.from({ length }, (_, row) => values.map((value) => value(from + row))));
  }
}
