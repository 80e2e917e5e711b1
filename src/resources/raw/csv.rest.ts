// Raw rows as CSV: a column for the key and one for each name, numbers as they were written.
import { pipeline } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { CsvError, parse } from "csv-parse";
import { fail } from "../../errors.ts";
import { asItIs, type CellText } from "../../lib/csv.ts";
import { membersIn, stringIn } from "../../lib/json-text.ts";
import { LineTooLong, withLinesBounded } from "../../lib/lines.ts";
import { bytesOrStream, textChunks } from "../../lib/streams.ts";
import { shortened } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { requireUtf8 } from "../../rest/text-body.ts";
import { refuseLongColumns } from "./row-json.rest.ts";
import type { NewRawRow, RawRow } from "./rows.ts";

export const csvType = "text/csv";

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const plainCell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? quoted(text) : text);

/**
 * Writes a header with `"key"` and the column names, all quoted, and a line for each row
 * (docs/reference/raw.md#csv). The columns are the requested ones, or all columns of the rows in the order
 * of their first occurrence. Missing values and `null` are empty cells; arrays and objects are JSON
 * strings.
 */
export async function csvResponse(
  rows: readonly RawRow[],
  names: readonly string[] | undefined,
  cellText: CellText = asItIs,
) {
  const positions = await columnPositions(rows, names);
  const pieces = textChunks([csvLines(rows, positions, cellText)]);
  const contentType = `${csvType}; charset=utf-8`;
  return { contentType, ...(await bytesOrStream(pieces, limits.responseChunkBytes)) };
}

/** The position of each column. Reads the names of all rows if the request names no columns. */
async function columnPositions(rows: readonly RawRow[], names: readonly string[] | undefined) {
  const positions = new Map((names ?? []).map((name, index) => [name, index]));
  if (names) return positions;
  let looked = 0;
  for (const { columns } of rows) {
    for (const { name } of membersIn(columns, 0))
      if (!positions.has(name)) positions.set(name, positions.size);
    looked += columns.length;
    if (looked < chunkBytes) continue;
    looked = 0;
    await turn();
  }
  return positions;
}

function* csvLines(
  rows: readonly RawRow[],
  positions: ReadonlyMap<string, number>,
  cellText: CellText,
): Generator<string> {
  yield `${["key", ...positions.keys()].map((name) => quoted(cellText(name))).join(",")}\n`;
  for (const { key, columns } of rows) {
    const cells = Array<string>(positions.size).fill("");
    for (const { name, valueStart, end } of membersIn(columns, 0)) {
      const place = positions.get(name);
      if (place !== undefined) cells[place] = cellOf(columns.slice(valueStart, end), cellText);
    }
    yield `${[plainCell(cellText(key)), ...cells].join(",")}\n`;
  }
}

function cellOf(written: string, cellText: CellText): string {
  if (written === "null") return "";
  if (written.startsWith('"')) return plainCell(cellText(stringIn(written, 0, written.length)));
  return written.startsWith("{") || written.startsWith("[") ? quoted(written) : written;
}

/**
 * Reads CSV whose first header cell is `key`. All cells are strings, as CSV has no other type. An empty
 * cell is an absent column, as `csvResponse` writes absent values.
 */
export async function readCsvRows(body: Buffer): Promise<NewRawRow[]> {
  requireUtf8(body);
  const records = parse({ bom: true, skip_empty_lines: true });
  // An error in any stage destroys the parser, and is thrown where its records are read.
  pipeline(withLinesBounded(chunksOf(body), limits.rawCsvLineBytesMax), records, () => undefined);
  const rows: NewRawRow[] = [];
  let header: readonly string[] | undefined;
  try {
    for await (const record of records as AsyncIterable<readonly string[]>) {
      if (header) rows.push(rowOf(header, record, rows.length));
      else header = checkedHeader(record);
      if (rows.length > limits.rawRowsMax) throw tooMany(rows.length);
    }
  } catch (problem) {
    if (problem instanceof LineTooLong || problem instanceof CsvError) throw notCsv(problem.message);
    throw problem;
  }
  if (!header) throw notCsv("it has no header");
  return rows;
}

/** Small enough to let other requests run between two chunks. */
const chunkBytes = 16 * 1024;

async function* chunksOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += chunkBytes) {
    yield body.subarray(at, at + chunkBytes);
    await turn();
  }
}

function checkedHeader(names: readonly string[]): readonly string[] {
  if (names[0] !== "key") throw notCsv(`its first header cell is not "key" but ${JSON.stringify(names[0])}`);
  if (names.length > limits.rawCsvColumnsMax)
    throw fail("too-many", { field: "columns", limit: limits.rawCsvColumnsMax, got: names.length });
  const seen = new Set<string>();
  const repeated = names.find((name) => {
    const isKnown = seen.has(name);
    seen.add(name);
    return isKnown;
  });
  if (repeated !== undefined) throw notCsv(`two columns are named ${JSON.stringify(repeated)}`);
  return names;
}

function rowOf(names: readonly string[], [key = "", ...cells]: readonly string[], index: number): NewRawRow {
  if (key === "" || key.length > limits.rawKeyLengthMax || key.includes("\0"))
    throw fail("field-invalid", {
      field: `items[${index}].key`,
      expected: `1 to ${limits.rawKeyLengthMax} characters, without U+0000,`,
      got: `${key.length} characters`,
    });
  const members = cells.flatMap((cell, place) =>
    cell === "" ? [] : [`${JSON.stringify(names[place + 1])}:${JSON.stringify(cell)}`],
  );
  return { key, columns: refuseLongColumns(`{${members.join(",")}}`, index) };
}

const notCsv = (problem: string) => fail("body-not-csv", { problem: shortened(problem) });

const tooMany = (got: number) => fail("too-many", { field: "items", limit: limits.rawRowsMax, got });
