// Computes the rows of a SELECT with functions: aggregates of the store in each bucket, combined over the
// series of a group, filled, and put into the expressions of the select list.
import type { RequestContext } from "../../context.ts";
import type { BucketValue } from "../../storage/points.ts";
import type { Call, Fill, Operator, QueryExpression } from "./ast.ts";
import {
  type BucketColumns,
  type Buckets,
  readBuckets,
  readStringBuckets,
  type StringBuckets,
} from "./buckets.ts";
import { filled, overRows } from "./fill.ts";
import {
  type AggregateFunction,
  aggregateFunctions,
  type BucketOf,
  combined,
  isRowFunction,
  stringFunctions,
} from "./functions.ts";
import { statementProblem } from "./problems.ts";
import { cellOf, type ResultColumn, type ResultRows } from "./rows.ts";
import type { StoredSeries, TagSet } from "./series-model.ts";

export interface BucketQuery {
  readonly tagSets: readonly TagSet[];
  /** Without wildcards. */
  readonly expressions: readonly QueryExpression[];
  readonly buckets: Buckets;
  /** The interval of GROUP BY time; undefined without it. */
  readonly intervalMs: number | undefined;
  readonly fill: Fill;
}

/** Undefined if no function has a point in any bucket. */
export async function bucketRows(ctx: RequestContext, query: BucketQuery): Promise<ResultRows | undefined> {
  const { expressions, buckets, intervalMs } = query;
  const calls = expressions.flatMap(aggregatesIn);
  const columns = await columnsOfCalls(ctx, query, calls);
  if (columns.size === 0) return undefined;
  const fill = intervalMs === undefined ? "none" : query.fill;
  const fills = (call: Call) => filled(columns.get(keyOf(call))!, fill, call.name === "count");
  const shown = expressions.map((one) => evaluated(one, { query, columnOf: fills }));
  const isSparse = fill === "none" || expressions.some(hasRowFunction);
  const times = intervalMs === undefined ? await selectedTime(ctx, query, calls) : buckets.times;
  return isSparse ? withoutEmptyRows({ times, columns: shown }) : { times, columns: shown };
}

/** The calls that read points. */
function aggregatesIn(expression: QueryExpression): Call[] {
  if (expression.kind === "binary")
    return [...aggregatesIn(expression.left), ...aggregatesIn(expression.right)];
  if (expression.kind !== "call") return [];
  return isRowFunction(expression.name) ? expression.parameters.flatMap(aggregatesIn) : [expression];
}

const hasRowFunction = (one: QueryExpression): boolean =>
  one.kind === "binary"
    ? hasRowFunction(one.left) || hasRowFunction(one.right)
    : one.kind === "call" && isRowFunction(one.name);

const keyOf = ({ name, parameters }: Call): string => `${name} ${fieldOf({ name, parameters })}`;

function fieldOf({ name, parameters: [first] }: Pick<Call, "name" | "parameters">): string {
  if (first?.kind === "reference") return first.name;
  if (!aggregateFunctions.has(name)) throw undefinedFunction(name);
  throw statementProblem(`${name}() needs a field`);
}

/** Reads each field once, with all aggregates that its functions need. Empty if no field has points. */
async function columnsOfCalls(
  ctx: RequestContext,
  query: BucketQuery,
  calls: readonly Call[],
): Promise<ReadonlyMap<string, ResultColumn>> {
  const columns = new Map<string, ResultColumn>();
  let hasPoints = false;
  const reads = [...Map.groupBy(calls, fieldOf)].map(async ([field, ofField]) => {
    const series = query.tagSets.flatMap(({ fields }) => fields.get(field) ?? []);
    const isString = series.some((one) => one.isString);
    if (isString && !series.every((one) => one.isString))
      throw statementProblem(`field ${field} has numbers and strings: add a condition on tags`);
    const found = isString
      ? await stringColumns(ctx, query, { series, calls: ofField })
      : await numberColumns(ctx, query, { series, calls: ofField });
    hasPoints ||= found.hasPoints;
    for (const [name, column] of found.columns) columns.set(`${name} ${field}`, column);
  });
  await Promise.all(reads);
  return hasPoints ? columns : new Map();
}

interface FieldColumns {
  readonly hasPoints: boolean;
  /** By the names of functions. */
  readonly columns: ReadonlyMap<string, ResultColumn>;
}

interface FieldRead {
  readonly series: readonly StoredSeries[];
  readonly calls: readonly Call[];
}

/** The most series of a group that are read at once. */
const seriesAtOnce = 32;

async function numberColumns(
  ctx: RequestContext,
  { buckets }: BucketQuery,
  { series, calls }: FieldRead,
): Promise<FieldColumns> {
  const functions = new Map(calls.map(({ name }) => [name, functionOf(name, series.length)]));
  const needs = [...new Set([...functions.values()].flatMap((one) => one.needs))];
  const count = buckets.times.length;
  const [only, ...others] = series;
  if (only && others.length === 0)
    return singleColumns(await readBuckets(ctx, only, buckets, needs), functions);
  const found = new Array<BucketOf | undefined>(count);
  for (let at = 0; at < series.length; at += seriesAtOnce) {
    const some = series.slice(at, at + seriesAtOnce);
    for (const columns of await Promise.all(some.map((one) => readBuckets(ctx, one, buckets, needs))))
      await ctx.computing.step(ctx, () => addBuckets(found, columns, needs));
  }
  const resultOf = ({ result }: AggregateFunction) =>
    Float64Array.from(found, (bucket) => (bucket ? result(bucket) : Number.NaN));
  const columns = new Map([...functions].map(([name, one]) => [name, resultOf(one)]));
  return { hasPoints: found.some((bucket) => bucket !== undefined), columns };
}

/** The buckets of one series need not be in memory as objects: one object has each in turn. */
function singleColumns(
  columns: BucketColumns,
  functions: ReadonlyMap<string, AggregateFunction>,
): FieldColumns {
  const [first] = columns.values();
  const bucket: { -readonly [Name in keyof BucketOf]: BucketOf[Name] } = {};
  const bucketAt = (row: number): BucketOf => {
    for (const [name, column] of columns) bucket[name] = column[row]!;
    return bucket;
  };
  const resultOf = ({ result }: AggregateFunction) => first!.map((_, row) => result(bucketAt(row)));
  const hasPoints = [...columns.values()].some((column) => column.some((value) => !Number.isNaN(value)));
  return { hasPoints, columns: new Map([...functions].map(([name, one]) => [name, resultOf(one)])) };
}

const undefinedFunction = (name: string) => statementProblem(`undefined function ${name}()`);

function functionOf(name: string, seriesCount: number): AggregateFunction {
  const found = aggregateFunctions.get(name);
  if (!found) throw undefinedFunction(name);
  if (seriesCount > 1 && !found.isCombinable)
    throw statementProblem(
      `${name}() of ${seriesCount} series in one: use GROUP BY, so that each is on its own`,
    );
  return found;
}

/** Adds the buckets of a series that have points, or an interpolated value. */
function addBuckets(
  found: (BucketOf | undefined)[],
  columns: BucketColumns,
  needs: readonly BucketValue[],
): void {
  for (let at = 0; at < found.length; at += 1) {
    const bucket: Partial<Record<BucketValue, number>> = {};
    let isEmpty = true;
    for (const name of needs) {
      const value = columns.get(name)![at]!;
      bucket[name] = value;
      isEmpty &&= Number.isNaN(value);
    }
    if (isEmpty) continue;
    const before = found[at];
    found[at] = before ? combined(before, bucket) : bucket;
  }
}

async function stringColumns(
  ctx: RequestContext,
  { buckets }: BucketQuery,
  { series, calls }: FieldRead,
): Promise<FieldColumns> {
  const refused = calls.find(({ name }) => !stringFunctions.has(name));
  if (refused) throw statementProblem(`unsupported ${refused.name} iterator type: string`);
  const parts: StringBuckets[] = [];
  for (const one of series) parts.push(await readStringBuckets(ctx, one, buckets));
  const rows = buckets.times.map((_, row) => row);
  const partsAt = (row: number) => parts.filter(({ counts }) => counts[row]! > 0);
  const edge = (times: "firstTimes" | "lastTimes", of: "first" | "last", sign: number) =>
    Array.from(rows, (row) => {
      const [best] = partsAt(row).sort((a, b) => sign * (a[times][row]! - b[times][row]!));
      return best?.[of][row] ?? null;
    });
  const counts = rows.map(
    (row) => partsAt(row).reduce((sum, part) => sum + part.counts[row]!, 0) || Number.NaN,
  );
  const columns = new Map<string, ResultColumn>([
    ["count", counts],
    ["first", edge("firstTimes", "first", 1)],
    ["last", edge("lastTimes", "last", -1)],
  ]);
  return { hasPoints: counts.some((count) => count > 0), columns };
}

/**
 * Without GROUP BY time, the row of a single `first` or `last` has the time of its point, and others have the
 * start of the range.
 */
async function selectedTime(
  ctx: RequestContext,
  { tagSets, buckets, expressions }: BucketQuery,
  calls: readonly Call[],
): Promise<Float64Array> {
  const [call, ...others] = calls;
  if (!call || others.length > 0 || expressions.length > 1 || !["first", "last"].includes(call.name))
    return buckets.times;
  const isFirst = call.name === "first";
  let timeMs = Number.NaN;
  for (const series of tagSets.flatMap(({ fields }) => fields.get(fieldOf(call)) ?? [])) {
    const found = await edgeTime(ctx, series, buckets, isFirst);
    if (found === undefined) continue;
    timeMs = Number.isNaN(timeMs) || found < timeMs === isFirst ? found : timeMs;
  }
  return Number.isNaN(timeMs) ? buckets.times : Float64Array.of(timeMs);
}

async function edgeTime(
  ctx: RequestContext,
  { id, isString }: StoredSeries,
  { bounds }: Buckets,
  isFirst: boolean,
): Promise<number | undefined> {
  const [startMs, endMs] = [bounds[0]!, bounds.at(-1)!];
  if (isFirst) return (await ctx.points.scan({ series: id, isString, startMs, endMs, limit: 1 })).times[0];
  const [last] = await ctx.points.latest([{ series: id, isString }], endMs);
  return last && last.timeMs >= startMs ? last.timeMs : undefined;
}

interface Evaluation {
  readonly query: BucketQuery;
  /** The filled column of an aggregate. */
  readonly columnOf: (call: Call) => ResultColumn;
}

function evaluated(expression: QueryExpression, evaluation: Evaluation): ResultColumn {
  if (expression.kind === "call")
    return isRowFunction(expression.name)
      ? rowFunction(expression, evaluation)
      : aggregate(expression, evaluation);
  const { times } = evaluation.query.buckets;
  if (expression.kind === "number") return new Float64Array(times.length).fill(expression.value);
  if (expression.kind !== "binary")
    throw statementProblem("mixing aggregate and non-aggregate queries is not supported");
  const left = numbersOf(evaluated(expression.left, evaluation));
  const right = numbersOf(evaluated(expression.right, evaluation));
  return left.map((value, row) => arithmetic(expression.operator, value, right[row]!));
}

function aggregate(call: Call, { columnOf }: Evaluation): ResultColumn {
  const [, unit, ...more] = call.parameters;
  if (more.length > 0 || (unit && call.name !== "integral"))
    throw statementProblem(`invalid number of arguments for ${call.name}`);
  const column = columnOf(call);
  if (!unit) return column;
  if (unit.kind !== "duration") throw statementProblem("second argument to integral must be a duration");
  const seconds = Number(unit.nanoseconds) / 1e9;
  return numbersOf(column).map((value) => value / seconds);
}

/** A derivative is per interval of GROUP BY time, unless its second argument is another unit. */
function rowFunction({ name, parameters: [inner, second] }: Call, evaluation: Evaluation): ResultColumn {
  if (!isRowFunction(name) || !inner || inner.kind === "reference")
    throw statementProblem(`${name}() needs another function inside, such as ${name}(mean(value))`);
  const { buckets, intervalMs } = evaluation.query;
  if (intervalMs === undefined) throw statementProblem(`${name} aggregate requires a GROUP BY interval`);
  const isDerivative = name.endsWith("derivative");
  const rows = second?.kind === "number" ? second.value : 0;
  const unitMs = second?.kind === "duration" ? Number(second.nanoseconds) / 1e6 : intervalMs;
  if (name === "moving_average" && !(Number.isSafeInteger(rows) && rows > 1))
    throw statementProblem("moving_average window must be greater than 1");
  const call = { name, parameter: isDerivative ? unitMs : rows };
  return overRows(call, numbersOf(evaluated(inner, evaluation)), buckets.times);
}

function numbersOf(column: ResultColumn): Float64Array {
  if (column instanceof Float64Array) return column;
  throw statementProblem("strings cannot be computed with");
}

/** A quotient by zero is zero, as in InfluxDB. */
export function arithmetic(operator: Operator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 && !Number.isNaN(left) ? 0 : left / right;
    default:
      return left % right;
  }
}

function withoutEmptyRows({ times, columns }: Required<ResultRows>): ResultRows {
  const rows = [...times.keys()].filter((row) => columns.some((column) => cellOf(column, row) !== null));
  if (rows.length === times.length) return { times, columns };
  return {
    times: Float64Array.from(rows, (row) => times[row]!),
    columns: columns.map((column) =>
      column instanceof Float64Array
        ? Float64Array.from(rows, (row) => column[row]!)
        : rows.map((row) => column[row]!),
    ),
  };
}
