// The declared tables in any SQL database: hidden columns, values in and out, and their own
// soundness.
import { invariant } from "../../lib/invariant.ts";
import { wellFormed } from "../../lib/text.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import { limits } from "../../limits.ts";
import { type AnyTable, linksTo, type TableColumn } from "../catalog.ts";
import type { Values } from "./dialect.ts";

/** The column of project tables with the project of a record; resource modules never see it. */
export const projectColumn = "in_project";

/** The columns of an index as stored: the project first. */
export const indexColumns = (table: AnyTable, columns: readonly string[]): string[] =>
  table.belongsTo === "project" ? [projectColumn, ...columns] : [...columns];

/** The declaration of a column that a query names. */
export function columnOf(table: AnyTable, field: string): TableColumn {
  const column = table.columns[field];
  invariant(column !== undefined, `${table.name} declares the column ${field}`);
  return column;
}

/** As `encodeValue`, of a value to store: one integer beyond 2^53 would fail every read of its table. */
export function storedValue(column: TableColumn, value: unknown): string | number | null {
  const encoded = encodeValue(column, value);
  const isReadable = column.type !== "integer" || encoded === null || Number.isSafeInteger(encoded);
  invariant(isReadable, "a stored integer is one that can be read again");
  return encoded;
}

/** A record's value as the database holds it; `null` when missing. */
export function encodeValue(column: TableColumn, value: unknown): string | number | null {
  if (value === undefined || value === null) {
    invariant(column.optional, "a value that is not optional is there");
    return null;
  }
  if (column.type === "json") return encodeJson(value);
  const expected = column.type === "text" ? "string" : column.type === "boolean" ? "boolean" : "number";
  invariant(typeof value === expected, `a ${column.type} column holds a ${expected}`);
  if (typeof value === "number") invariant(Number.isFinite(value), "a stored number is finite");
  return typeof value === "boolean" ? Number(value) : (value as string | number);
}

/** JSON.stringify writes lone surrogates, and nothing else, as `\ud...`; text columns lose them in UTF-8. */
function encodeJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.includes("\\ud") ? JSON.stringify(wellFormed(value)) : json;
}

/** Which columns a database's rows have, and how their JSON is parsed. */
interface Encoded {
  readonly table: AnyTable;
  readonly fields: readonly string[];
  readonly parseJson: (text: string) => unknown;
}

/**
 * Turns a database's rows of these columns, in place, into records; absent values are left out. Other
 * requests have their turn while many rows are read.
 */
export async function decodeRows<Row extends object>(
  { table, fields, parseJson }: Encoded,
  rows: readonly object[],
): Promise<Row[]> {
  const slice = new TimeSlice(limits.timeSliceMs);
  for (const name of fields) {
    const { type } = columnOf(table, name);
    if (type !== "json" && type !== "boolean") continue;
    for (const row of rows as Record<string, unknown>[]) {
      const value = row[name];
      if (value === undefined) continue;
      if (slice.isOver()) await slice.next();
      row[name] = type === "json" ? decodeJson(value as string, parseJson) : value === 1;
    }
  }
  return rows as Row[];
}

/** Most records have no metadata, and parsing it is most of the cost of reading a record. */
const decodeJson = (text: string, parseJson: Encoded["parseJson"]): unknown =>
  text === "{}" ? {} : parseJson(text);

/** A table's declaration must hold together before a database is made from it. */
export function checkTables(tables: readonly AnyTable[]): void {
  const isName = (name: string): boolean => /^[a-z][a-z0-9_]*$/i.test(name) && !name.includes("__");
  for (const table of tables) {
    const names = Object.keys(table.columns);
    invariant([table.name, ...names].every(isName), `names of ${table.name} are plain`);
    invariant(!names.includes(projectColumn), `${projectColumn} is not a declared column`);
    const known = (table.key ?? ["id"]).map((name) => columnOf(table, name));
    invariant(
      known.length > 0 && !known.some(({ optional }) => optional),
      `${table.name} has an id or a key`,
    );
    for (const field of [...table.indexes, ...table.unique, table.wordsOf, table.sortedBy ?? []].flat())
      columnOf(table, field);
    const { key, tree, links = [] } = table;
    const isBare = !names.includes("id") && table.wordsOf.length === 0 && !tree && links.length === 0;
    invariant(!key || isBare, `${table.name} has nothing that goes by an id`);
    if (tree) invariant(columnOf(table, tree.path).type === "text", `${table.name} has paths`);
    const targets = links.map(({ to }) => to);
    invariant(new Set(targets).size === targets.length, `${table.name} has one link to each table`);
    for (const { column, to, onDelete } of links) {
      const { type, optional } = columnOf(table, column);
      const isRemovable = type === "integer" && linksTo(tables, table).length === 0;
      invariant(
        onDelete === "remove" ? isRemovable : type === "json" || (type === "integer" && optional),
        `${table.name}.${column} can be cleared, or its records removed`,
      );
      const target = tables.find(({ name }) => name === to);
      invariant(
        target !== undefined && !target.key && target.belongsTo === table.belongsTo,
        `${table.name}.${column} links to records with ids of the same tenant`,
      );
    }
  }
}

/** Compares rows of values by those at these places. */
export const comparingAt =
  (places: readonly number[]) =>
  (one: Values, other: Values): number => {
    const place = places.find((at) => one[at] !== other[at]);
    return place === undefined ? 0 : one[place]! < other[place]! ? -1 : 1;
  };
