// The data file as a stream of rows, from its start or from a row boundary further on.
import { pipeline } from "node:stream";
import { CsvError, type Info, parse } from "csv-parse";
import { LineTooLong, withLinesBounded } from "../lib/lines.ts";
import { shortened } from "../lib/text.ts";
import { limits } from "../limits.ts";
import { type Boundary, csvOptions, type Row, startOfFile } from "./row.ts";
import { type Encoding, TextFile, UnreadableFile } from "./text-file.ts";

export interface CsvFile {
  readonly file: string;
  readonly encoding: Encoding;
  readonly delimiter: string;
}

/** The rows after a boundary; memory does not grow with the file. */
export async function* rowsOf({ file, encoding, delimiter }: CsvFile, from: Boundary): AsyncGenerator<Row> {
  const parser = parse({
    delimiter,
    bom: from.endBytes === 0,
    info: true,
    ...csvOptions,
  });
  const text = new TextFile(file, encoding, from.endBytes);
  // An error of any part destroys the parser, and is thrown where the rows are read.
  pipeline(withLinesBounded(text.chunks(), limits.importLineBytesMax), parser, () => undefined);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>)
      yield { cells: record, line: from.line + info.lines, endBytes: text.offsetOf(info.bytes) };
  } catch (problem) {
    if (problem instanceof UnreadableFile) throw problem;
    throw new UnreadableFile(`${file} ${reasonOf(problem, from.line)}`);
  } finally {
    text.close();
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
export async function openingOf(csv: CsvFile): Promise<{ header: Row; first?: Row }> {
  const opening: Row[] = [];
  for await (const row of rowsOf(csv, startOfFile)) if (opening.push(row) === 2) break;
  const [header, first] = opening;
  if (!header) throw new UnreadableFile(`${csv.file} is empty; it needs a header line`);
  return { header, ...(first && { first }) };
}
