// The data file as a stream of rows, from its start or from a row boundary further on.
import { createReadStream } from "node:fs";
import { type CsvError, type Info, parse } from "csv-parse";

export interface Row {
  readonly cells: readonly string[];
  /** The line of the file on which the row ends, from 1. */
  readonly line: number;
  /** The bytes of the file up to and including this row. */
  readonly endBytes: number;
}

/** Where a row ends; the start of a file is before line 1. */
export interface Boundary {
  readonly line: number;
  readonly endBytes: number;
}

export const startOfFile: Boundary = { line: 0, endBytes: 0 };

/** The file is not CSV from some line on. */
export class UnreadableFile extends Error {}

/** The rows after a boundary; memory does not grow with the file. */
export async function* rowsOf(file: string, delimiter: string, from: Boundary): AsyncGenerator<Row> {
  const parser = parse({
    delimiter,
    bom: from.endBytes === 0,
    info: true,
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const input = createReadStream(file, { start: from.endBytes });
  input.on("error", (problem) => parser.destroy(problem));
  input.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>)
      yield { cells: record, line: from.line + info.lines, endBytes: from.endBytes + info.bytes };
  } catch (problem) {
    const { code, lines } = problem as CsvError & { lines?: number };
    const place = lines === undefined ? "" : ` at line ${from.line + lines}`;
    const why = String(code).startsWith("CSV_") ? "is not CSV" : "cannot be read";
    throw new UnreadableFile(`${file} ${why}${place}: ${(problem as Error).message}`);
  } finally {
    input.destroy();
  }
}

/** The header and the first row of values. */
export async function openingOf(file: string, delimiter: string): Promise<{ header: Row; first?: Row }> {
  const opening: Row[] = [];
  for await (const row of rowsOf(file, delimiter, startOfFile)) if (opening.push(row) === 2) break;
  const [header, first] = opening;
  if (!header) throw new UnreadableFile(`${file} is empty; it needs a header line`);
  return { header, ...(first && { first }) };
}
