// A CSV file that a person chose: its encoding, delimiter and first rows, and its records in parts.
import { CsvReader, delimiterOf, type Encoding, encodingOf } from "./csv.ts";
import { bytesText } from "./format.ts";

/** The file is not CSV, or not in its encoding. */
export class UnreadableCsv extends Error {}

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
/** To decode bytes takes a tenth of the time of their rows. */
const checkedBytes = 2 ** 20;

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

interface EncodingCheck {
  readonly signal: AbortSignal;
  /** Gets the progress as text for people. */
  onCheck(progress: string): void;
}

/** Throws unless the whole file is in the encoding, so that nothing of such a file is stored. */
export async function requireEncoding(
  file: File,
  { encoding }: CsvFormat,
  { signal, onCheck }: EncodingCheck,
): Promise<void> {
  const decode = decoderOf(file, encoding);
  for (let start = 0; start < file.size; start += checkedBytes) {
    signal.throwIfAborted();
    const endBytes = Math.min(start + checkedBytes, file.size);
    const read = `${bytesText(start)} of ${bytesText(file.size)}`;
    onCheck(`Before anything is written: checks that the file is ${encoding}, ${read}`);
    decode(await file.slice(start, endBytes).arrayBuffer(), endBytes === file.size);
  }
}

type Decode = (bytes: ArrayBuffer, isLast: boolean) => string;

/** Decodes slices; throws at a byte that is no character of the encoding. */
export function decoderOf(file: File, encoding: Encoding): Decode {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const refuse = () => new UnreadableCsv(`${file.name} has bytes that are not ${encoding}.`);
  return (bytes, isLast) => {
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: !isLast });
    } catch {
      throw refuse();
    }
    // Windows has no characters at five bytes, and decoders make controls of them.
    if (encoding === "windows-1252" && /[\u0080-\u009f]/.test(text)) throw refuse();
    return text;
  };
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
