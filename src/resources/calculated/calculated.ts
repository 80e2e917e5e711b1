// Evaluates calculated series: expressions over series and their aggregates.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import type { Granularity, TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName } from "../../storage/points.ts";
import { LimitedRows, type Rows } from "../datapoints/limited-rows.ts";
import { requireSeries, type SeriesRef } from "../timeseries/timeseries.ts";
import { evaluate, sizeOf } from "./evaluate.ts";
import { type Expression, type Leaf, leavesOf, parseFunction } from "./expression.ts";
import { isOperator } from "./functions.ts";
import { LeafReader, type LeafSource } from "./leaf-reader.ts";

/** A name for a series in a function; with an aggregate, it stands for that aggregate. */
export interface Alias {
  readonly alias: string;
  readonly id: number;
  readonly aggregate?: AggregateName;
  readonly granularity?: Granularity;
}

export interface CalculatedQuery {
  /** The expression (docs/calculated.md#the-language). */
  readonly text: string;
  readonly aliases: readonly Alias[];
  /** Whether functions such as `sqrt` and `max` take points, not aggregates alone. */
  readonly functionsTakePoints: boolean;
  readonly range: TimeRange;
  /** The most results; lowered to the limit of one read. */
  readonly limit: number;
  /** Continues an earlier read: only results at or after this time. */
  readonly fromMs?: number;
  /** The field of the expression, for refusals. */
  readonly field: string;
}

/**
 * Prepares these calculations. Results have one column without NaN. Refuses (400) malformed functions,
 * unknown aliases and series of strings, and (404) unknown series.
 */
export async function calculate(
  ctx: RequestContext,
  queries: readonly CalculatedQuery[],
): Promise<LimitedRows[]> {
  const parsed = queries.map((query) => {
    const { expression, leaves } = parseFunction(query.text, query.field);
    const meanings = [...leaves].map((leaf) => ({ leaf, ...meaningOf(leaf, query) }));
    if (!query.functionsTakePoints) {
      const points = new Set(meanings.filter(({ aggregate }) => !aggregate).map(({ leaf }) => leaf));
      refuseFunctionsOf(points, expression, query.field);
    }
    return { expression, leaves: meanings };
  });
  const ids = [...new Set(parsed.flatMap(({ leaves }) => leaves.map(({ id }) => id)))];
  const found = await requireSeries(ctx, ids, "READ");
  const series = new Map(found.map((one) => [one.id, one]));
  return parsed.map(({ expression, leaves }, index) => {
    const query = queries[index]!;
    const sources = new Map<Leaf, LeafSource>(
      leaves.map(({ leaf, id, aggregate }) => {
        const one = series.get(id)!;
        if (one.isString) throw hasStrings(one, leaf, query.field);
        return [leaf, { series: one, ...(aggregate && { aggregate }) }];
      }),
    );
    const limit = Math.min(query.limit, limits.pointsPerReadMax);
    const source = (most: number) => resultRows(ctx, { expression, sources }, { ...query, limit: most });
    return new LimitedRows(limit, source);
  });
}

interface Meaning {
  readonly id: number;
  readonly aggregate: LeafSource["aggregate"];
}

/** Resolves a leaf. An alias comes before an id of the same digits. */
function meaningOf({ name, aggregate, position }: Leaf, { aliases, field }: CalculatedQuery): Meaning {
  const refused = (expected: string) =>
    fail("field-invalid", { field, expected, got: `[${name}]`, position });
  const alias = aliases.find((one) => one.alias === name);
  const id = alias?.id ?? (/^\d+$/.test(name) ? Number(name) : undefined);
  if (id === undefined || !Number.isSafeInteger(id))
    throw refused("an alias of this item or the id of a series in square brackets");
  const wanted = alias?.aggregate ?? aggregate;
  if (aggregate !== undefined && wanted !== aggregate)
    throw refused(`an alias of the aggregate ${aggregate}, or of none, in the function of that name`);
  if (wanted === undefined) return { id, aggregate: undefined };
  if (!alias?.granularity)
    throw refused("an alias with an aggregate and a granularity, as functions apply to aggregates,");
  return { id, aggregate: { name: wanted, granularity: alias.granularity } };
}

/** Functions apply to aggregates, not to points (docs/calculated.md#the-language). */
function refuseFunctionsOf(points: ReadonlySet<Leaf>, expression: Expression, field: string): void {
  if (expression.kind !== "call") return;
  const { name, given } = expression;
  const found = isOperator(name) ? undefined : given.flatMap(leavesOf).find((leaf) => points.has(leaf));
  if (found) {
    const expected = `aggregates in ${name}, such as an alias with an aggregate and a granularity,`;
    throw fail("field-invalid", { field, expected, got: `[${found.name}]`, position: found.position });
  }
  for (const one of given) refuseFunctionsOf(points, one, field);
}

function hasStrings(series: SeriesRef, { position }: Leaf, field: string) {
  const got = `${series.name}, which has strings`;
  return fail("field-invalid", { field, expected: "series of numbers", got, position });
}

/** Rows of one step. Columns of this length stay in the processor's caches. */
const rowsPerStep = { least: 16, most: 4_096 };
/** Operations of one step, each a function of one value: about 2 ms. */
const operationsPerStep = 200_000;
/** Points of one leaf in one read, and of all leaves together. */
const leafPoints = { least: 256, most: 20_000, ofAll: 100_000 };

interface Calculation {
  readonly expression: Expression;
  readonly sources: ReadonlyMap<Leaf, LeafSource>;
}

/** A row at each time in the range at which any leaf has a point and every leaf has a value. */
async function* resultRows(
  ctx: RequestContext,
  { expression, sources }: Calculation,
  { range, limit, fromMs = range.startMs }: CalculatedQuery,
): AsyncGenerator<Rows> {
  let left = limit;
  if (left === 0 || range.startMs === range.endMs) return;
  const wanted = Math.min(left + 2, Math.floor(leafPoints.ofAll / sources.size));
  const pointsPerRead = Math.min(Math.max(wanted, leafPoints.least), leafPoints.most);
  const fitting = Math.floor(operationsPerStep / sizeOf(expression));
  const rowsMax = Math.min(Math.max(fitting, rowsPerStep.least), rowsPerStep.most);
  const readers = [...sources].map(([leaf, source]) => ({
    leaf,
    reader: new LeafReader(ctx, source, { range, fromMs, pointsPerRead }),
  }));
  for (let doneMs = fromMs - 1; doneMs < range.endMs - 1 && left > 0; ) {
    await Promise.all(readers.map(({ reader }) => reader.readBeyond(doneMs)));
    const untilMs = Math.min(range.endMs - 1, ...readers.map(({ reader }) => reader.completeUntilMs));
    const times = await ctx.computing.step(ctx, () =>
      union(readers.map(({ reader }) => reader.timesBetween(doneMs, untilMs))),
    );
    for (let from = 0; from < times.length && left > 0; from += rowsMax) {
      const rows = await ctx.computing.step(ctx, () => {
        const wanted = times.subarray(from, Math.min(from + rowsMax, times.length));
        const columns = new Map(readers.map(({ leaf, reader }) => [leaf, reader.valuesAt(wanted)]));
        return rowsWithValue(wanted, evaluate(expression, columns, wanted.length), left);
      });
      left -= rows.times.length;
      yield rows;
    }
    for (const { reader } of readers) reader.dropBefore(untilMs);
    doneMs = untilMs;
  }
}

/** The union of ascending times. Merges in pairs, because there can be many leaves with many times. */
function union(lists: readonly Float64Array[]): Float64Array {
  if (lists.length === 1) return lists[0]!;
  const half = lists.length >> 1;
  const [a, b] = [union(lists.slice(0, half)), union(lists.slice(half))];
  const both = new Float64Array(a.length + b.length);
  let count = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length; count += 1) {
    const timeMs = Math.min(a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY);
    if (a[i] === timeMs) i += 1;
    if (b[j] === timeMs) j += 1;
    both[count] = timeMs;
  }
  return both.subarray(0, count);
}

/** The first `limit` rows that have a value. */
function rowsWithValue(times: Float64Array, values: Float64Array, limit: number): Rows {
  if (times.length <= limit && !values.includes(Number.NaN)) return { times, columns: [values] };
  const has = (_: number, i: number) => !Number.isNaN(values[i]!);
  return { times: times.filter(has).subarray(0, limit), columns: [values.filter(has).subarray(0, limit)] };
}
