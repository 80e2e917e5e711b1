// Copies the columns of rows between bodies, the store and responses as JSON strings, without parsing
// numbers: 1.0, 1e400 and long integers stay as they were sent.
import type { Static } from "typebox";
import { fail } from "../../errors.ts";
import { JsonText } from "../../lib/json-reader.ts";
import { membersIn } from "../../lib/json-text.ts";
import { limits } from "../../limits.ts";
import { type BodyDecoder, jsonDecoder } from "../../rest/json.ts";
import type { NewRawRow, RawRow } from "./rows.ts";
import { restoredRowsBody, rowsBody } from "./schemas.rest.ts";

/** Reads `{"items":[{"key","columns"},...]}`; absent columns are `{}`. */
export const readRows = rowsReader(rowsBody, ({ key }) => ({ key }));

/** Like `readRows`, with the time at which each row was last written. */
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

/**
 * Refuses a row whose columns are longer than the limit; `index` is the index of the row in the request.
 */
export function refuseLongColumns(columns: string, index: number): string {
  if (columns.length <= limits.rawColumnsLengthMax) return columns;
  throw fail("field-invalid", {
    field: `items[${index}].columns`,
    expected: `at most ${limits.rawColumnsLengthMax} characters of JSON`,
    got: `${columns.length}`,
  });
}

/** Writes rows as JSON, with only these columns if any are named. */
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
