// The data file as a stream of rows, from its start or from a row boundary further on.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { CsvError, type Info, parse } from "csv-parse";
import { LineTooLong, withLinesBounded } from "../lib/lines.ts";
import { shortened } from "../lib/text.ts";
import { limits } from "../limits.ts";

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
    // A quote that is never closed makes one row of the rest of the file.
    max_record_size: limits.importLineBytesMax,
  });
  const input = createReadStream(file, { start: from.endBytes });
  // An error of any part destroys the parser, and is thrown where the rows are read.
  pipeline(
    input,
    (chunks: AsyncIterable<Buffer>) => withLinesBounded(chunks, limits.importLineBytesMax),
    parser,
    () => undefined,
  );
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>)
      yield { cells: record, line: from.line + info.lines, endBytes: from.endBytes + info.bytes };
  } catch (problem) {
    throw new UnreadableFile(`${file} ${reasonOf(problem, from.line)}`);
  } finally {
    input.destroy();
  }
}

function reasonOf(problem: unknown, linesBefore: number): string {
  if (problem instanceof LineTooLong)
    return `cannot be read: line ${linesBefore + problem.line} is longer than ${problem.bytesMax} bytes`;
  if (!(problem instanceof CsvError)) return `cannot be read: ${(problem as Error).message}`;
  const { code, message, lines } = problem as CsvError & { readonly lines: number };
  const text =
    code === "CSV_MAX_RECORD_SIZE"
      ? `a row is longer than ${limits.importLineBytesMax} bytes; is a quote not closed?`
      : shortened(message);
  return `is not CSV at line ${linesBefore + lines}: ${text}`;
}

/** The header and the first row of values. */
export async function openingOf(file: string, delimiter: string): Promise<{ header: Row; first?: Row }> {
  const opening: Row[] = [];
  for await (const row of rowsOf(file, delimiter, startOfFile)) if (opening.push(row) === 2) break;
  const [header, first] = opening;
  if (!header) throw new UnreadableFile(`${file} is empty; it needs a header line`);
  return { header, ...(first && { first }) };
}
