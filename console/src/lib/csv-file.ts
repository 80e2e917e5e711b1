// A CSV file that a person chose: its encoding, delimiter and first rows, and its records in parts.
import { CsvReader, delimiterOf, type Encoding, encodingOf } from "./csv.ts";

export interface CsvFormat {
  readonly encoding: Encoding;
  readonly delimiter: string;
}

export interface Preview {
  readonly names: readonly string[];
  readonly records: readonly (readonly string[])[];
  /** The row in which a quote opens that is not closed; the header is row 1. Undefined if none was found. */
  readonly openQuoteRow: number | undefined;
}

const previewRowsMax = 8;
const previewBytes = 256 * 1024;
/** A longer cell at the end of the preview, rather than a cut one, is taken for one that does not end. */
const cellCharactersMax = 64 * 1024;

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
  const isWhole = file.size <= previewBytes;
  const complete = [...reader.read(text)];
  const openLength = reader.openCell?.length ?? -1;
  const isOpen = openLength > (isWhole ? -1 : cellCharactersMax);
  const records = [...complete, ...(isWhole ? reader.end() : [])];
  const [header = [], ...rest] = records.slice(0, previewRowsMax + 1);
  return {
    ...{ names: namesIn(header), records: rest },
    openQuoteRow: isOpen ? complete.length + 1 : undefined,
  };
}

function namesIn(header: readonly string[]): string[] {
  const seen = new Set<string>();
  return header.map((cell, index) => {
    const name = cell.trim() === "" || seen.has(cell) ? `column ${index + 1}` : cell;
    seen.add(name);
    return name;
  });
}

/** Records of the file, the header among them, and the bytes that are read. */
export interface CsvPart {
  readonly records: readonly (readonly string[])[];
  readonly bytesRead: number;
}

/** Reads the file in parts of some kilobytes. */
export async function* partsOf(file: File, { encoding, delimiter }: CsvFormat): AsyncGenerator<CsvPart> {
  const csv = new CsvReader(delimiter);
  const decoder = new TextDecoder(encoding);
  let bytesRead = 0;
  const stream = file.stream() as unknown as AsyncIterable<Uint8Array>;
  for await (const bytes of stream) {
    bytesRead += bytes.length;
    yield { records: [...csv.read(decoder.decode(bytes, { stream: true }))], bytesRead };
  }
  yield { records: [...csv.end()], bytesRead };
}
