// The columns of a SELECT: expands wildcards to the fields and tags of a measurement, and names columns.
import { compareText } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import type { QueryExpression, Select, SelectColumn } from "./ast.ts";
import { arithmetic } from "./bucket-select.ts";
import type { ResultCell } from "./conditions.ts";
import { isRowFunction, stringFunctions } from "./functions.ts";
import { regexMatcher } from "./pattern.ts";
import { queryProblem, statementProblem } from "./problems.ts";
import type { RawColumn, RowValue } from "./raw-select.ts";
import { isField, type Measurement, ownValue } from "./series-model.ts";

/** A column with its name in the result. */
export interface NamedExpression {
  readonly name: string;
  readonly expression: QueryExpression;
}

/** Whether the statement has functions. Refuses (400) one with functions and bare fields. */
export function hasFunctions({ columns, time }: Select): boolean {
  const isCalled = columns.map(({ expression }) => kindOf(expression) === "call");
  if (isCalled.every((one) => one)) return true;
  if (isCalled.includes(true))
    throw queryProblem("mixing aggregate and non-aggregate queries is not supported");
  if (time) throw queryProblem("GROUP BY requires at least one aggregate function");
  return false;
}

function kindOf(expression: QueryExpression): "call" | "bare" | "constant" {
  if (expression.kind === "call") return "call";
  if (expression.kind !== "binary") return expression.kind === "number" ? "constant" : "bare";
  const sides = [kindOf(expression.left), kindOf(expression.right)];
  return sides.includes("bare") ? "bare" : sides.includes("call") ? "call" : "constant";
}

/** The select list for a measurement, without wildcards. */
export function expandedColumns(
  columns: readonly SelectColumn[],
  measurement: Measurement,
  grouped: ReadonlySet<string>,
): NamedExpression[] {
  const named = columns
    .filter(({ expression }) => !(expression.kind === "reference" && expression.name === "time"))
    .flatMap((column) => expanded(column, measurement, grouped));
  if (named.length > limits.influxqlColumnsMax)
    throw statementProblem(`the result has ${named.length} columns; at most ${limits.influxqlColumnsMax}`);
  const used = new Set<string>(["time"]);
  return named.map(({ name, expression }) => {
    let free = name;
    for (let number = 1; used.has(free); number += 1) free = `${name}_${number}`;
    used.add(free);
    return { name: free, expression };
  });
}

function expanded(
  { expression, alias }: SelectColumn,
  measurement: Measurement,
  grouped: ReadonlySet<string>,
): NamedExpression[] {
  const wild = wildIn(expression);
  if (!wild) return [{ name: alias ?? nameOf(expression), expression }];
  const { fieldKeys, tagKeys } = measurement;
  const isBare = expression === wild;
  const ofType = wild.kind === "wildcard" ? wild.type : undefined;
  const fields = ofType === "tag" ? [] : isBare ? fieldKeys : fieldsOfFunction(expression, measurement);
  const tags = isBare && ofType !== "field" ? tagKeys.filter((key) => !grouped.has(key)) : [];
  const matches = wild.kind === "regex" ? regexMatcher(wild.source).matches : () => true;
  const references = [
    ...fields.map((name) => ({ kind: "reference", name, type: "field" }) as const),
    ...tags.map((name) => ({ kind: "reference", name, type: "tag" }) as const),
  ];
  return references
    .filter(({ name }) => matches(name))
    .sort((a, b) => compareText(a.name, b.name))
    .map((reference) => ({
      name: isBare ? reference.name : `${alias ?? nameOf(expression)}_${reference.name}`,
      expression: replaced(expression, wild, reference),
    }));
}

type Wild = Extract<QueryExpression, { kind: "wildcard" | "regex" }>;

function wildIn(expression: QueryExpression): Wild | undefined {
  if (expression.kind === "wildcard" || expression.kind === "regex") return expression;
  if (expression.kind === "binary") return wildIn(expression.left) ?? wildIn(expression.right);
  return expression.kind === "call" && expression.parameters[0]
    ? wildIn(expression.parameters[0])
    : undefined;
}

function replaced(expression: QueryExpression, wild: Wild, by: QueryExpression): QueryExpression {
  if (expression === wild) return by;
  const within = (part: QueryExpression) => replaced(part, wild, by);
  if (expression.kind === "binary")
    return { ...expression, left: within(expression.left), right: within(expression.right) };
  return expression.kind === "call"
    ? { ...expression, parameters: expression.parameters.map(within) }
    : expression;
}

/** Fields of strings have few functions: a wildcard leaves them out of others. */
function fieldsOfFunction(
  expression: QueryExpression,
  { fieldKeys, tagSets }: Measurement,
): readonly string[] {
  let inner = expression;
  while (inner.kind === "call" && isRowFunction(inner.name)) inner = inner.parameters[0]!;
  if (inner.kind === "call" && stringFunctions.has(inner.name)) return fieldKeys;
  const hasNumbers = (field: string) =>
    tagSets.some(({ fields }) => fields.get(field)?.some(({ isString }) => !isString));
  return fieldKeys.filter(hasNumbers);
}

/** The names of the functions and fields, as InfluxDB joins them. */
function nameOf(expression: QueryExpression): string {
  if (expression.kind === "reference" || expression.kind === "call") return expression.name;
  if (expression.kind !== "binary") return "";
  return [nameOf(expression.left), nameOf(expression.right)].filter((name) => name !== "").join("_");
}

/** The fields in an expression. */
export function fieldsIn(expression: QueryExpression, measurement: Measurement): readonly string[] {
  switch (expression.kind) {
    case "reference":
      return isField(measurement, expression.name, expression.type) ? [expression.name] : [];
    case "binary":
      return [...fieldsIn(expression.left, measurement), ...fieldsIn(expression.right, measurement)];
    case "call":
      return expression.parameters.flatMap((part) => fieldsIn(part, measurement));
    default:
      return [];
  }
}

/** A column of a statement without functions. */
export function rawColumn({ name, expression }: NamedExpression, measurement: Measurement): RawColumn {
  const value = rowValueOf(expression, measurement);
  const [field] = expression.kind === "reference" ? fieldsIn(expression, measurement) : [];
  return { name, value, ...(field !== undefined && { field }) };
}

function rowValueOf(expression: QueryExpression, measurement: Measurement): RowValue {
  if (expression.kind === "number") return () => expression.value;
  if (expression.kind === "reference") {
    const { name, type } = expression;
    return isField(measurement, name, type)
      ? (fieldOf) => fieldOf(name)
      : (_, tags) => ownValue(tags, name) ?? null;
  }
  if (expression.kind !== "binary")
    throw queryProblem("the select list has fields, tags, functions and numbers");
  const { operator } = expression;
  const [left, right] = [rowValueOf(expression.left, measurement), rowValueOf(expression.right, measurement)];
  return (fieldOf, tags) => {
    const [one, other]: readonly ResultCell[] = [left(fieldOf, tags), right(fieldOf, tags)];
    return typeof one === "number" && typeof other === "number" ? arithmetic(operator, one, other) : null;
  };
}
