// Rows between the wire and the store: columns are cut out of bodies and put into answers as text, never
// read into numbers and written again, so that 1.0, 1e400 and long integers stay what they were.
import type { Static } from "typebox";
import { fail } from "../../errors.ts";
import { JsonText } from "../../lib/json-reader.ts";
import { membersIn } from "../../lib/json-text.ts";
import { limits } from "../../limits.ts";
import { type BodyDecoder, jsonDecoder } from "../../rest/json.ts";
import type { NewRawRow, RawRow } from "./rows.ts";
import { restoredRowsBody, rowsBody } from "./schemas.rest.ts";

/** The rows of `{"items":[{"key","columns"},...]}`; no columns are `{}`. */
export const readRows = rowsReader(rowsBody, ({ key }) => ({ key }));

/** As `readRows`, with the time at which each was last written. */
export const readRestoredRows = rowsReader(restoredRowsBody, ({ key, lastUpdatedTime }) => ({
  key,
  lastUpdatedTime,
}));

function rowsReader<Body extends typeof rowsBody | typeof restoredRowsBody>(
  schema: Body,
  known: (item: Static<Body>["items"][number]) => Omit<NewRawRow, "columns">,
): BodyDecoder<NewRawRow[]> {
  const decode = jsonDecoder<Static<Body>>(schema, { keptText: ["items", "columns"] });
  return async (body, sent) => {
    const { items } = await decode(body, sent);
    return items.map((item, index) => ({
      ...known(item),
      columns: refuseLongColumns(JsonText.of(item.columns) ?? "{}", index),
    }));
  };
}

/** A row whose columns are longer than the limit is refused; `index` is its place in the request. */
export function refuseLongColumns(columns: string, index: number): string {
  if (columns.length <= limits.rawColumnsLengthMax) return columns;
  throw fail("field-invalid", {
    field: `items[${index}].columns`,
    expected: `at most ${limits.rawColumnsLengthMax} characters of JSON`,
    got: `${columns.length}`,
  });
}

/** The rows as JSON texts, with these columns alone if any are named. */
export function rowsJson(rows: readonly RawRow[], names: readonly string[] | undefined): Iterable<string> {
  const selectedNames = names && new Set(names);
  return rows.values().map(({ key, columns, lastUpdatedTime }) => {
    const shown = selectedNames ? selected(columns, selectedNames) : columns;
    return `{"key":${JSON.stringify(key)},"columns":${shown},"lastUpdatedTime":${lastUpdatedTime}}`;
  });
}

function selected(columns: string, selectedNames: ReadonlySet<string>): string {
  if (selectedNames.size === 0) return "{}";
  const members = membersIn(columns, 0).filter(({ name }) => selectedNames.has(name));
  return `{${members.map(({ start, end }) => columns.slice(start, end)).join(",")}}`;
}
