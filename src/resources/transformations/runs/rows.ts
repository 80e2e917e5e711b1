// Maps rows of a query's result to values of records.
import { type Failure, fail } from "../../../errors.ts";
import { parseJson } from "../../../lib/json.ts";
import { limits } from "../../../limits.ts";
import type { SqlColumn, SqlRow, SqlValue } from "../../../sql-runner/sql-runner.ts";
import type { RowError, TransformationInput } from "../schema.ts";
import type { Candidate, ColumnType, RecordDestination } from "./destination.ts";

const pairPrefix = "metadata.";

/** Refuses (400) columns that the destination does not have, and a result without the column of the key. */
export function refuseUnknownColumns(destination: RecordDestination, columns: readonly SqlColumn[]): void {
  const names = columns.map(({ name }) => name);
  const refused = (problem: string) => fail("transformation-columns-refused", { problem });
  if (!names.includes(destination.key)) throw refused(`The query must return the column ${destination.key}`);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw refused(`The query returns the column ${repeated} twice`);
  const known = destination.columns;
  if (!known) return;
  const isKnown = (name: string) => name in known || ("metadata" in known && name.startsWith(pairPrefix));
  const unknown = names.filter((name) => !isKnown(name));
  const list = Object.keys(known).join(", ");
  if (unknown.length > 0)
    throw refused(`The destination has no column ${unknown.slice(0, 10).join(", ")}; it has ${list}`);
}

export interface RowMapping extends Pick<TransformationInput, "nulls"> {
  readonly destination: RecordDestination;
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
    if (destination.columns && column.name.startsWith(pairPrefix))
      pairs[column.name.slice(pairPrefix.length)] = value === null ? null : String(value);
    else values[column.name] = converted(value, typesOf(destination, column), column.name);
  }
  const key = values[destination.key];
  if (typeof key === "string" && key !== "") return { row: number, key, values, pairs };
  const at = columns.findIndex(({ name }) => name === destination.key);
  const reason = "The column of the key must be a string that is not empty";
  return { row: number, column: destination.key, value: shown(row[at]), reason };
}

function typesOf(
  { columns, key }: RecordDestination,
  { name, type }: SqlColumn,
): readonly ColumnType[] | undefined {
  if (columns) return columns[name];
  if (name === key) return ["text"];
  return type === "json" ? ["json"] : undefined;
}

/** The value with the type of its column. The check of the destination refuses one that has no such value. */
function converted(value: SqlValue, types: readonly ColumnType[] | undefined, column: string): unknown {
  if (value === null) return null;
  const number = typeof value === "bigint" ? exact(value) : value;
  if (!types) return number;
  if (types.includes("boolean") && (number === 0 || number === 1)) return number === 1;
  if (typeof number === "number") return types.includes("number") ? number : String(number);
  if (types.includes("json")) return column === "metadata" ? metadataIn(number) : jsonIn(number);
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

/** Metadata has strings only: other values become their JSON text, and nulls are left out. */
function metadataIn(text: string): unknown {
  const parsed = jsonIn(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return parsed;
  const pairs = Object.entries(parsed).filter(([, value]) => value !== null);
  return Object.fromEntries(
    pairs.map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : String(value ?? null);
  const length = limits.transformationValueLength;
  return text.length > length ? `${text.slice(0, length)}...` : text;
};

interface FieldDetails {
  readonly field?: unknown;
  readonly got?: unknown;
}

/** Why a row was refused; `problem` is of a check of the row alone or of a write of it alone. */
export function rowErrorOf(row: Pick<Candidate, "row" | "key">, problem: Failure): RowError {
  const { field, got } = (problem.details ?? {}) as FieldDetails;
  const column = typeof field === "string" ? withoutPlace(field) : "";
  return {
    ...{ row: row.row, key: row.key },
    ...(column !== "" && column !== "items" && { column }),
    ...(got !== undefined && { value: shown(got) }),
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
