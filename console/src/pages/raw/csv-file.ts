// The rows of a CSV file in batches.
import { type CsvFormat, partsOf } from "../../lib/csv-file.ts";
import { numberAsWritten } from "../../lib/exact-json.ts";
import type { NewRow } from "./raw-data.ts";

/** How the records of a file become rows. */
export interface RowMapping {
  /** The index of the column with the keys; -1: the number of the row in the file is the key. */
  readonly keyIndex: number;
  /** The names of the columns; an empty cell is no column. */
  readonly names: readonly string[];
  /** Whether cells that are numbers in JSON are written as numbers, with all their digits. */
  readonly hasNumbers: boolean;
}

export interface Batch {
  readonly rows: readonly NewRow[];
  /** The records of the file up to the end of this batch, without the header. */
  readonly recordsRead: number;
  readonly bytesRead: number;
  /** Records of this batch that have no key. */
  readonly withoutKey: number;
}

/** A batch is one request: well below the 10,000 rows and the body that the server accepts. */
const batchMost = { rows: 5_000, characters: 4_000_000 };

/** Reads the file in parts; the first `skip` records are read and left out. */
export async function* batchesOf(
  file: File,
  format: CsvFormat,
  { mapping, skip }: { readonly mapping: RowMapping; readonly skip: number },
): AsyncGenerator<Batch> {
  let [rows, characters, withoutKey] = [[] as NewRow[], 0, 0];
  // The header is record 0.
  let recordsRead = -1;
  let read = 0;
  const batch = (): Batch => ({ rows, recordsRead, bytesRead: read, withoutKey });
  const take = (record: readonly string[]) => {
    recordsRead += 1;
    if (recordsRead <= skip) return;
    const row = rowOf(record, mapping, recordsRead);
    if (row.key === "") withoutKey += 1;
    else rows.push(row);
    characters += record.reduce((sum, { length }) => sum + length + 20, 0);
  };
  const isFull = () => rows.length >= batchMost.rows || characters >= batchMost.characters;
  for await (const { records, bytesRead } of partsOf(file, format)) {
    read = bytesRead;
    for (const record of records) {
      take(record);
      if (!isFull()) continue;
      yield batch();
      [rows, characters, withoutKey] = [[], 0, 0];
    }
  }
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
