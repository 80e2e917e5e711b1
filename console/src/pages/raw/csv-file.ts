// A CSV file that a person chose: its encoding, delimiter and first rows, and its rows in batches.
import { CsvReader, delimiterOf, type Encoding, encodingOf } from "../../lib/csv.ts";
import { numberAsWritten } from "../../lib/exact-json.ts";
import type { NewRow } from "./raw-data.ts";

export interface CsvFormat {
  readonly encoding: Encoding;
  readonly delimiter: string;
}

/** How the records of a file become rows. */
export interface RowMapping {
  /** The index of the column with the keys; -1: the number of the row in the file is the key. */
  readonly keyIndex: number;
  /** The names of the columns; an empty cell is no column. */
  readonly names: readonly string[];
  /** Whether cells that are numbers in JSON are written as numbers, with all their digits. */
  readonly hasNumbers: boolean;
}

export interface Preview {
  readonly names: readonly string[];
  readonly records: readonly (readonly string[])[];
}

export interface Batch {
  readonly rows: readonly NewRow[];
  /** The records of the file up to the end of this batch, without the header. */
  readonly recordsRead: number;
  readonly bytesRead: number;
  /** Records of this batch that have no key. */
  readonly withoutKey: number;
}

const previewRowsMax = 8;
const previewBytes = 256 * 1024;
/** A batch is one request: well below the 10,000 rows and the body that the server accepts. */
const batchMost = { rows: 5_000, characters: 4_000_000 };

export async function formatOf(file: File): Promise<CsvFormat> {
  const bytes = new Uint8Array(await file.slice(0, previewBytes).arrayBuffer());
  const encoding = encodingOf(bytes);
  return { encoding, delimiter: delimiterOf(new TextDecoder(encoding).decode(bytes)) };
}

/**
 * The names of the columns and the first records. A column without a name, or with a repeated one, gets one.
 */
export async function previewOf(file: File, { encoding, delimiter }: CsvFormat): Promise<Preview> {
  const bytes = await file.slice(0, previewBytes).arrayBuffer();
  const reader = new CsvReader(delimiter);
  const text = new TextDecoder(encoding).decode(bytes);
  const records = [...reader.read(text), ...(file.size <= previewBytes ? reader.end() : [])];
  const [header = [], ...rest] = records.slice(0, previewRowsMax + 1);
  return { names: namesIn(header), records: rest };
}

function namesIn(header: readonly string[]): string[] {
  const seen = new Set<string>();
  return header.map((cell, index) => {
    const name = cell.trim() === "" || seen.has(cell) ? `column ${index + 1}` : cell;
    seen.add(name);
    return name;
  });
}

/** Reads the file in parts; the first `skip` records are read and left out. */
export async function* batchesOf(
  file: File,
  { encoding, delimiter }: CsvFormat,
  { mapping, skip }: { readonly mapping: RowMapping; readonly skip: number },
): AsyncGenerator<Batch> {
  const csv = new CsvReader(delimiter);
  const decoder = new TextDecoder(encoding);
  let [rows, characters, withoutKey] = [[] as NewRow[], 0, 0];
  // The header is record 0.
  let recordsRead = -1;
  let bytesRead = 0;
  const batch = (): Batch => ({ rows, recordsRead, bytesRead, withoutKey });
  const take = (record: readonly string[]) => {
    recordsRead += 1;
    if (recordsRead <= skip) return;
    const row = rowOf(record, mapping, recordsRead);
    if (row.key === "") withoutKey += 1;
    else rows.push(row);
    characters += record.reduce((sum, { length }) => sum + length + 20, 0);
  };
  const isFull = () => rows.length >= batchMost.rows || characters >= batchMost.characters;
  const stream = file.stream() as unknown as AsyncIterable<Uint8Array>;
  for await (const bytes of stream) {
    bytesRead += bytes.length;
    for (const record of csv.read(decoder.decode(bytes, { stream: true }))) {
      take(record);
      if (!isFull()) continue;
      yield batch();
      [rows, characters, withoutKey] = [[], 0, 0];
    }
  }
  for (const record of csv.end()) take(record);
  yield batch();
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function rowOf(record: readonly string[], mapping: RowMapping, recordNumber: number): NewRow {
  const { keyIndex, names, hasNumbers } = mapping;
  const columns: Record<string, unknown> = {};
  for (const [index, cell] of record.entries()) {
    if (index === keyIndex || cell === "") continue;
    const name = names[index] ?? `column ${index + 1}`;
    columns[name] = hasNumbers && jsonNumber.test(cell) ? numberAsWritten(cell) : cell;
  }
  const key = keyIndex === -1 ? String(recordNumber).padStart(9, "0") : (record[keyIndex] ?? "");
  return { key, columns };
}
