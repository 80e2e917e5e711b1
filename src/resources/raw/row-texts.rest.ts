// Rows between the wire and the store: columns are cut out of bodies and put into answers as text, never
// read into numbers and written again, so that 1.0, 1e400 and long integers stay what they were.
import type { Static } from "typebox";
import { fail } from "../../errors.ts";
import { parseJson } from "../../lib/json.ts";
import { afterBlanks, elementsIn, membersIn } from "../../lib/json-text.ts";
import { limits } from "../../limits.ts";
import { jsonChecker, readJsonText } from "../../rest/json.ts";
import type { NewRow, RawRow } from "./rows.ts";
import { restoredRowsBody, rowsBody } from "./shapes.rest.ts";

/** The rows of `{"items":[{"key","columns"},...]}`; no columns are `{}`. */
export const readRows = rowsReader(rowsBody, ({ key }) => ({ key }));

/** As `readRows`, with the time at which each was last written. */
export const readRestoredRows = rowsReader(restoredRowsBody, ({ key, lastUpdatedTime }) => ({
  key,
  lastUpdatedTime,
}));

function rowsReader<Body extends typeof rowsBody | typeof restoredRowsBody>(
  schema: Body,
  known: (item: Static<Body>["items"][number]) => Omit<NewRow, "columns">,
): (body: Buffer) => NewRow[] {
  const checked = jsonChecker<Static<Body>>(schema);
  return (body) => {
    const columns: (string | undefined)[] = [];
    const { items } = checked(withoutColumns(readJsonText(body), columns));
    return items.map((item, index) => ({
      ...known(item),
      columns: boundedColumns(columns[index] ?? "{}", index),
    }));
  };
}

/** A row whose columns are longer than the limit is refused; `index` is its place in the request. */
export function boundedColumns(columns: string, index: number): string {
  if (columns.length <= limits.rawColumnsLengthMax) return columns;
  throw fail("field-invalid", {
    field: `items[${index}].columns`,
    expected: `at most ${limits.rawColumnsLengthMax} characters of JSON`,
    got: `${columns.length}`,
  });
}

/**
 * The body as a value in which `{}` stands for the columns of each item; their texts go to `columns`. Of
 * members with one name the last one counts, as `JSON.parse` has it.
 */
function withoutColumns(text: string, columns: (string | undefined)[]): unknown {
  const start = afterBlanks(text, 0);
  if (text[start] !== "{") return parseJson(text);
  const items = membersIn(text, start).findLast(({ name }) => name === "items");
  if (!items) return {};
  if (text[items.valueStart] !== "[") return { items: parseJson(text.slice(items.valueStart, items.end)) };
  return {
    items: elementsIn(text, items.valueStart).map((item, index) => {
      if (text[item.start] !== "{") return parseJson(text.slice(item.start, item.end));
      return rowWithoutColumns(text, item.start, (found) => {
        columns[index] = found;
      });
    }),
  };
}

const emptyColumns = {};

function rowWithoutColumns(text: string, at: number, keep: (columns: string | undefined) => void): object {
  const row: { key?: unknown; columns?: unknown; lastUpdatedTime?: unknown } = {};
  for (const { name, valueStart, end } of membersIn(text, at)) {
    if (name !== "key" && name !== "columns" && name !== "lastUpdatedTime") continue;
    const written = text.slice(valueStart, end);
    const isKept = name === "columns" && written.startsWith("{");
    row[name] = isKept ? emptyColumns : parseJson(written);
    if (name === "columns") keep(isKept ? written : undefined);
  }
  return row;
}

/** The rows as JSON texts, with these columns alone if any are named. */
export function rowTexts(rows: readonly RawRow[], names: readonly string[] | undefined): string[] {
  const wanted = names && new Set(names);
  return rows.map(({ key, columns, lastUpdatedTime }) => {
    const shown = wanted ? selected(columns, wanted) : columns;
    return `{"key":${JSON.stringify(key)},"columns":${shown},"lastUpdatedTime":${lastUpdatedTime}}`;
  });
}

function selected(columns: string, wanted: ReadonlySet<string>): string {
  if (wanted.size === 0) return "{}";
  const members = membersIn(columns, 0).filter(({ name }) => wanted.has(name));
  return `{${members.map(({ start, end }) => columns.slice(start, end)).join(",")}}`;
}
