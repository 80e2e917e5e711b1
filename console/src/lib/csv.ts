// CSV: reading in parts of any size, and writing.

/** Reads records of cells from text in parts; quotes are as in RFC 4180. */
export class CsvReader {
  readonly #delimiter: string;
  #cells: string[] = [];
  #cell = "";
  #isQuoted = false;
  /** The last character was a quote inside of quotes: the end of the cell, or half of an escaped quote. */
  #isAfterQuote = false;
  #isAfterReturn = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  /** The beginning of a cell whose quote is still open; undefined if none is. */
  get openCell(): string | undefined {
    return this.#isQuoted && !this.#isAfterQuote ? this.#cell : undefined;
  }

  /** The records that end in this part. */
  *read(part: string): Generator<string[]> {
    for (let at = 0; at < part.length; at++) {
      const character = part[at]!;
      if (this.#isQuoted && !this.#isAfterQuote) {
        at = this.#quoted(part, at);
        continue;
      }
      if (this.#isAfterQuote && character === '"') {
        this.#cell += '"';
        this.#isAfterQuote = false;
        continue;
      }
      if (this.#isAfterQuote) this.#isQuoted = this.#isAfterQuote = false;
      const isSecondOfPair = this.#isAfterReturn && character === "\n";
      this.#isAfterReturn = character === "\r";
      if (isSecondOfPair) continue;
      if (character === '"' && this.#cell === "") this.#isQuoted = true;
      else if (character === this.#delimiter) this.#endCell();
      else if (character === "\n" || character === "\r") yield* this.#endRecord();
      else this.#cell += character;
    }
  }

  /** The record without a line end at the end of the text. */
  *end(): Generator<string[]> {
    if (this.#cell !== "" || this.#cells.length > 0) yield* this.#endRecord();
  }

  /** Adds the characters up to the next quote; returns the place of the last one that was read. */
  #quoted(part: string, at: number): number {
    const quote = part.indexOf('"', at);
    const end = quote === -1 ? part.length : quote;
    this.#cell += part.slice(at, end);
    this.#isAfterQuote = quote !== -1;
    return end;
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = "";
  }

  *#endRecord(): Generator<string[]> {
    const isBlank = this.#cells.length === 0 && this.#cell === "";
    this.#endCell();
    const record = this.#cells;
    this.#cells = [];
    if (!isBlank) yield record;
  }
}

/** A line of CSV with its end. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;

const csvCell = (text: string): string =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const delimiters = [",", ";", "\t", "|"] as const;

/** The delimiter that divides the first lines into the most cells, as many in each line as possible. */
export function delimiterOf(text: string): string {
  const scores = delimiters.map((delimiter) => {
    const lengths = [...new CsvReader(delimiter).read(text)].slice(0, 20).map(({ length }) => length);
    const first = lengths[0] ?? 1;
    const alike = lengths.filter((length) => length === first).length / Math.max(1, lengths.length);
    return first > 1 ? alike * 100 + first : 0;
  });
  return delimiters[scores.indexOf(Math.max(...scores))]!;
}

export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1252"] as const;
export type Encoding = (typeof encodings)[number];

/** The encoding by the mark at the start of the bytes, or by whether they can be UTF-8. */
export function encodingOf(bytes: Uint8Array): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  try {
    // A character may be cut at the end of the bytes: `stream` does not refuse that.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}
