// The rows of a CSV file of points, read in slices as `millrace import csv` reads them.
import { CsvError, parse } from "csv-parse/browser/esm/sync";
import { csvOptions, type Row } from "../../../../src/import/row.ts";
import { type CsvFormat, decoderOf, UnreadableCsv } from "../../lib/csv-file.ts";

/** A slice takes some 30 ms with its requests, so the page stays responsive. */
const sliceBytesUsual = 64 * 1024;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/** All rows, the header first. Memory does not grow with the file. */
export async function* rowsOf(
  file: File,
  { encoding, delimiter }: CsvFormat,
  sliceBytes = sliceBytesUsual,
): AsyncGenerator<Row> {
  const decode = decoderOf(file, encoding);
  const encoder = new TextEncoder();
  let recordEnd: string | undefined;
  let held = new Uint8Array();
  let line = 0;
  let heldAtLastTry = 0;
  for (let start = 0; start < file.size; start += sliceBytes) {
    const endBytes = Math.min(start + sliceBytes, file.size);
    const isLast = endBytes === file.size;
    const text = decode(await file.slice(start, endBytes).arrayBuffer(), isLast);
    held = joined(held, encoder.encode(text));
    // A row of several slices: parsing it at each of them would take quadratic time.
    if (!isLast && held.length < 2 * heldAtLastTry) continue;
    recordEnd ??= recordEndOf(held);
    const part = isLast ? held : wholeLines(held, recordEnd);
    const { rows, readBytes } = recordsIn(part, { delimiter, recordEnd, isLast, lineBefore: line });
    for (const { cells, line: rowLine } of rows) yield { cells, line: rowLine, endBytes };
    line = rows.at(-1)?.line ?? line;
    held = held.slice(readBytes);
    heldAtLastTry = rows.length === 0 ? held.length : 0;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** The end of the first record; undefined when it is not there yet, or may be half of a pair. */
function recordEndOf(bytes: Uint8Array): string | undefined {
  let isQuoted = false;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (bytes[at] === lineFeed) return "\n";
    if (bytes[at] !== carriageReturn) continue;
    if (at + 1 === bytes.length) return undefined;
    return bytes[at + 1] === lineFeed ? "\r\n" : "\r";
  }
  return undefined;
}

/** The bytes up to the last end of a line. It may be in a quoted cell, whose row is then read later. */
function wholeLines(bytes: Uint8Array, recordEnd: string | undefined): Uint8Array {
  if (recordEnd === undefined) return bytes.subarray(0, 0);
  return bytes.subarray(0, bytes.lastIndexOf(recordEnd.charCodeAt(recordEnd.length - 1)) + 1);
}

interface Part {
  readonly delimiter: string;
  readonly recordEnd: string | undefined;
  readonly isLast: boolean;
  readonly lineBefore: number;
}

/** The rows that end in the bytes. */
function recordsIn(bytes: Uint8Array, { delimiter, recordEnd, isLast, lineBefore }: Part) {
  const rows: { readonly cells: string[]; readonly line: number }[] = [];
  let readBytes = 0;
  const options = {
    ...{ ...csvOptions, delimiter, ...(recordEnd !== undefined && { record_delimiter: recordEnd }) },
    on_record: (cells: string[], info: { readonly lines: number; readonly bytes: number }) => {
      rows.push({ cells, line: lineBefore + info.lines });
      readBytes = info.bytes;
      return null;
    },
  };
  try {
    // The parser of browsers takes bytes, too, but its types have the Buffer of Node.
    parse(bytes as Parameters<typeof parse>[0], options as never);
  } catch (problem) {
    if (!(problem instanceof CsvError)) throw problem;
    if (problem.code !== "CSV_QUOTE_NOT_CLOSED" || isLast) throw unreadable(problem, lineBefore);
  }
  return { rows, readBytes };
}

function unreadable(problem: CsvError, lineBefore: number): UnreadableCsv {
  const { code, message, lines } = problem as CsvError & { readonly lines: number };
  const text =
    code === "CSV_MAX_RECORD_SIZE" ? "a row is too long. Is a quote not closed?" : message.slice(0, 200);
  return new UnreadableCsv(`The file is not CSV at line ${lineBefore + lines}: ${text}`);
}
