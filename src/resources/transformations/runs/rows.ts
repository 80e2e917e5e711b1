// Maps rows of a query's result to values of records.
import { type Failure, fail } from "../../../errors.ts";
import { parseJson } from "../../../lib/json.ts";
import { stringMembersIn } from "../../../lib/json-text.ts";
import { limits } from "../../../limits.ts";
import type { SqlColumn, SqlRow, SqlValue } from "../../../sql-runner/sql-runner.ts";
import {
  type Candidate,
  type ColumnType,
  type RecordDestination,
  WrittenJson,
} from "../destinations/destination.ts";
import type { RowError, TransformationInput } from "../schema.ts";

const pairPrefix = "metadata.";

/**
 * The columns of the result that name a record. Refuses (400) columns that the destination does not have, and
 * a result without a key or with several.
 */
export function keyColumns(destination: RecordDestination, columns: readonly SqlColumn[]): readonly string[] {
  const names = columns.map(({ name }) => name);
  const refused = (problem: string) => fail("transformation-columns-refused", { problem });
  const found = destination.keys.filter((key) => key.every((name) => names.includes(name)));
  const [key] = found;
  if (!key || found.length > 1) {
    const known = destination.keys.map((each) => each.join(" and ")).join(", or ");
    const needed = destination.keys.length === 1 && destination.keys[0]!.length === 1;
    throw refused(needed ? `The query must return the column ${known}` : `A row is named by ${known}`);
  }
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw refused(`The query returns the column ${repeated} twice`);
  const known = destination.columns;
  if (!known) return key;
  const isKnown = (name: string) => Object.hasOwn(known, name) || isPair(destination, name);
  const unknown = names.filter((name) => !isKnown(name));
  const list = Object.keys(known).join(", ");
  if (unknown.length > 0)
    throw refused(`The destination has no column ${unknown.slice(0, 10).join(", ")}; it has ${list}`);
  return key;
}

export interface RowMapping extends Pick<TransformationInput, "nulls"> {
  readonly destination: RecordDestination;
  /** The columns of the key. */
  readonly key: readonly string[];
  readonly columns: readonly SqlColumn[];
}

/** The values of a row, or why it has none. `number` is the number of the row. */
export function candidateOf(mapping: RowMapping, row: SqlRow, number: number): Candidate | RowError {
  const { destination, columns, nulls } = mapping;
  const values: Record<string, unknown> = {};
  const pairs: Record<string, string | null> = {};
  for (const [at, column] of columns.entries()) {
    const value = row[at] ?? null;
    if (value === null && nulls === "keep") continue;
    if (isPair(destination, column.name))
      pairs[column.name.slice(pairPrefix.length)] = value === null ? null : String(value);
    else values[column.name] = converted(value, typesOf(destination, column), column.name);
  }
  const key = destination.keyOf(values);
  if (key !== undefined) return { row: number, key, values, pairs };
  const [name] = mapping.key;
  if (mapping.key.length > 1)
    return { row: number, reason: `The columns of the key need values: ${mapping.key.join(", ")}` };
  const at = columns.findIndex((column) => column.name === name);
  const value = shown(row[at]);
  return { row: number, column: name!, value, reason: "The column of the key needs a value that can be one" };
}

/** A column `metadata.<key>`. */
const isPair = ({ columns = {} }: RecordDestination, name: string): boolean =>
  "metadata" in columns && !Object.hasOwn(columns, name) && name.startsWith(pairPrefix);

function typesOf(
  { columns, keys }: RecordDestination,
  { name, type }: SqlColumn,
): readonly ColumnType[] | undefined {
  if (columns) return columns[name];
  if (keys.flat().includes(name)) return ["text"];
  return type === "json" ? ["written"] : undefined;
}

/** The value with the type of its column. The check of the destination refuses one that has no such value. */
function converted(value: SqlValue, types: readonly ColumnType[] | undefined, column: string): unknown {
  if (value === null) return null;
  const number = typeof value === "bigint" ? exact(value) : value;
  if (!types) return number;
  if (types.includes("boolean") && (number === 0 || number === 1)) return number === 1;
  if (typeof number === "number") return types.includes("number") ? number : String(number);
  if (types.includes("json")) return column === "metadata" ? metadataIn(number) : jsonIn(number);
  if (types.includes("written")) return writtenIn(number);
  return number;
}

const exact = (value: bigint): number | string =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function writtenIn(text: string): unknown {
  const parsed = jsonIn(text);
  return typeof parsed === "object" && parsed !== null ? new WrittenJson(text) : parsed;
}

/** Metadata has strings only: other values become their JSON text as it is written. */
function metadataIn(text: string): unknown {
  const parsed = jsonIn(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return parsed;
  return stringMembersIn(text, text.indexOf("{"));
}

/** A value in the error of a row. */
export const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : String(value ?? null);
  const length = limits.transformationValueLength;
  return text.length > length ? `${text.slice(0, length)}...` : text;
};

interface FieldDetails {
  readonly field?: unknown;
  readonly got?: unknown;
}

/** Why a row was refused; `problem` is of a check of the row alone or of a write of it alone. */
export function rowErrorOf(row: Pick<Candidate, "row" | "key" | "values">, problem: Failure): RowError {
  const { field, got } = (problem.details ?? {}) as FieldDetails;
  const column = typeof field === "string" ? withoutPlace(field) : "";
  return {
    ...{ row: row.row, key: row.key },
    ...(column !== "" && column !== "items" && { column }),
    // A check names the type that it got and not the value.
    ...(Object.hasOwn(row.values, column)
      ? { value: shown(JSON.stringify(row.values[column])) }
      : got !== undefined && { value: shown(got) }),
    reason: problem.message.replaceAll(/items\[\d+\]\.?/g, ""),
  };
}

const withoutPlace = (field: string): string => field.replace(/^items\[\d+\]\.?/, "");

/** The number of rows, and the first of them. */
export class Sample<Row> {
  #count = 0;
  readonly rows: Row[] = [];

  add(...rows: readonly Row[]): void {
    this.#count += rows.length;
    const free = limits.transformationErrorsKept - this.rows.length;
    this.rows.push(...rows.slice(0, Math.max(0, free)));
  }

  get count(): number {
    return this.#count;
  }
}
