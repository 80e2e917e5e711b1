// Reads a data file in the encoding that the user names: as UTF-8, with the offsets of the file.
import { createReadStream, type ReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { NotUtf8, utf8Chunks } from "../lib/utf8.ts";

export const encodings = ["utf-8", "latin1", "windows-1252", "utf-16", "utf-16le", "utf-16be"] as const;
export type Encoding = (typeof encodings)[number];

/** The file cannot be read, or not in the encoding that the user named. */
export class UnreadableFile extends Error {}

/** `utf-16` is one of two, by the byte order mark. */
type Decoded = Exclude<Encoding, "utf-16">;

const marks: readonly { readonly encoding: Decoded; readonly bytes: Buffer }[] = [
  { encoding: "utf-8", bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", bytes: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", bytes: Buffer.from([0xfe, 0xff]) },
];

/** A file from an offset that is no part of a character. Read it once. */
export class TextFile {
  readonly #file: string;
  readonly #encoding: Encoding;
  readonly #startBytes: number;
  #input: ReadStream | undefined;
  #offsets: Offsets | undefined;

  constructor(file: string, encoding: Encoding, startBytes = 0) {
    this.#file = file;
    this.#encoding = encoding;
    this.#startBytes = startBytes;
  }

  /** The text as UTF-8, with its byte order mark. Throws `UnreadableFile` at a byte that is not valid. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      const encoding = await this.#decoded();
      this.#input = createReadStream(this.#file, { start: this.#startBytes });
      if (encoding === "utf-8") yield* utf8Chunks(this.#input);
      else yield* this.#transcoded(this.#input, encoding);
    } catch (problem) {
      if (problem instanceof NotUtf8) throw this.#notValid("utf-8", problem.offset);
      if (problem instanceof UnreadableFile) throw problem;
      throw new UnreadableFile(`${this.#file} cannot be read: ${(problem as Error).message}`);
    }
  }

  /** The offset in the file of an offset in the chunks, where a character ends. Offsets must not decrease. */
  offsetOf(utf8Bytes: number): number {
    return this.#startBytes + (this.#offsets?.at(utf8Bytes) ?? utf8Bytes);
  }

  close(): void {
    this.#input?.destroy();
  }

  /** Refuses a byte order mark of another encoding: the text would become other characters. */
  async #decoded(): Promise<Decoded> {
    const [file, encoding] = [this.#file, this.#encoding];
    const start = await startOf(file);
    const mark = marks.find(({ bytes }) => start.subarray(0, bytes.length).equals(bytes));
    const isMeant = mark?.encoding.startsWith(encoding);
    if (mark && !isMeant)
      throw new UnreadableFile(
        `${file} begins with the byte order mark of ${mark.encoding}, not ${encoding}`,
      );
    if (encoding !== "utf-16") return encoding;
    if (mark) return mark.encoding;
    throw new UnreadableFile(`${file} has no byte order mark; --encoding is utf-16le or utf-16be`);
  }

  async *#transcoded(input: ReadStream, encoding: keyof typeof decoders): AsyncGenerator<Buffer> {
    const { unitBytes, decode, firstWrong } = decoders[encoding];
    const offsets = new Offsets(unitBytes);
    this.#offsets = offsets;
    let held: Buffer = Buffer.alloc(0);
    let passed = 0;
    for await (const chunk of input as AsyncIterable<Buffer>) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const whole = bytes.subarray(0, bytes.length - (unitBytes === 2 ? incompleteBytes(bytes, decode) : 0));
      held = bytes.subarray(whole.length);
      const text = decode(whole);
      const wrong = text.search(firstWrong);
      if (wrong >= 0) throw this.#notValid(encoding, passed + wrong * unitBytes);
      passed += whole.length;
      const utf8 = Buffer.from(text);
      offsets.add(utf8);
      yield utf8;
    }
    if (held.length > 0) throw this.#notValid(encoding, passed);
  }

  #notValid(encoding: Decoded, offset: number): UnreadableFile {
    const place = `at byte ${this.#startBytes + offset} (from 0)`;
    return new UnreadableFile(`${this.#file} is not ${encoding} ${place}; --encoding names another encoding`);
  }
}

/** Throws `UnreadableFile` unless the whole file is valid, so that nothing of such a file is loaded. */
export async function requireEncoding({ file, encoding }: { file: string; encoding: Encoding }) {
  for await (const _ of new TextFile(file, encoding).chunks());
}

async function startOf(file: string): Promise<Buffer> {
  const opened = await open(file, "r");
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(3), 0, 3, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await opened.close();
  }
}

interface Decoder {
  /** The bytes of each code unit of the text. */
  readonly unitBytes: 1 | 2;
  readonly decode: (bytes: Buffer) => string;
  readonly firstWrong: RegExp;
}

/**
 * ISO 8859-1 has no characters at 80 to 9f, and Windows none at five of them; decoders make controls of both.
 */
const control = /[\u0080-\u009f]/;
const loneSurrogate = /\p{Surrogate}/u;
const windows1252 = new TextDecoder("windows-1252");

const decoders = {
  latin1: { unitBytes: 1, decode: (bytes) => bytes.toString("latin1"), firstWrong: control },
  "windows-1252": { unitBytes: 1, decode: (bytes) => windows1252.decode(bytes), firstWrong: control },
  "utf-16le": { unitBytes: 2, decode: (bytes) => bytes.toString("utf16le"), firstWrong: loneSurrogate },
  "utf-16be": {
    unitBytes: 2,
    decode: (bytes) => Buffer.from(bytes).swap16().toString("utf16le"),
    firstWrong: loneSurrogate,
  },
} as const satisfies Readonly<Record<string, Decoder>>;

/** How many bytes at the end begin a character of UTF-16 that the next chunk completes. */
function incompleteBytes(bytes: Buffer, decode: Decoder["decode"]): number {
  const odd = bytes.length % 2;
  const last = decode(bytes.subarray(Math.max(0, bytes.length - odd - 2), bytes.length - odd));
  return /[\ud800-\udbff]$/.test(last) ? odd + 2 : odd;
}

/**
 * Counts the code units before an offset in UTF-8. Keeps the bytes after the last offset it was called with.
 */
class Offsets {
  readonly #unitBytes: number;
  readonly #held: Buffer[] = [];
  #utf8Bytes = 0;
  #units = 0;

  constructor(unitBytes: number) {
    this.#unitBytes = unitBytes;
  }

  add(utf8: Buffer): void {
    this.#held.push(utf8);
  }

  at(utf8Bytes: number): number {
    while (this.#utf8Bytes < utf8Bytes) {
      const first = this.#held.shift()!;
      const passed = first.subarray(0, utf8Bytes - this.#utf8Bytes);
      this.#units += unitsIn(passed);
      this.#utf8Bytes += passed.length;
      if (passed.length < first.length) this.#held.unshift(first.subarray(passed.length));
    }
    return this.#units * this.#unitBytes;
  }
}

/** A character beyond U+FFFF has four bytes in UTF-8 and two code units in UTF-16. */
function unitsIn(utf8: Uint8Array): number {
  let units = 0;
  for (let at = 0; at < utf8.length; at++) {
    const byte = utf8[at]!;
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}
