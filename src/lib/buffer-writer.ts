// A sheet of bytes that text is written on and that is cut off when it is long enough to send.

/** A text of at least four bytes that is written over and over, kept as words of eight bytes or four. */
export class BytesLiteral {
  readonly length: number;
  readonly #first: number;
  readonly #last: number;
  /** None of the words is NaN, whatever the text: UTF-8 has no such bytes. */
  readonly #between: Float64Array;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    const { length } = bytes;
    const isLong = length >= 8;
    this.length = length;
    this.#first = isLong ? bytes.readDoubleLE(0) : bytes.readInt32LE(0);
    this.#last = isLong ? bytes.readDoubleLE(length - 8) : bytes.readInt32LE(length - 4);
    const between = Math.max(0, Math.ceil(length / 8) - 2);
    this.#between = Float64Array.from({ length: between }, (_, i) => bytes.readDoubleLE(8 + i * 8));
  }

  /** Writes it at `at` and returns where it ends; many times as fast as byte by byte. */
  write(view: DataView, at: number): number {
    const end = at + this.length;
    if (this.length < 8) {
      view.setInt32(at, this.#first, true);
      view.setInt32(end - 4, this.#last, true);
      return end;
    }
    const between = this.#between;
    view.setFloat64(at, this.#first, true);
    for (let i = 0; i < between.length; i += 1) view.setFloat64(at + 8 + i * 8, between[i]!, true);
    view.setFloat64(end - 8, this.#last, true);
    return end;
  }
}

/**
 * Memory for answers, used again when they are sent: were it new for each, the collector would run after
 * every few answers, and the system would hand out its pages anew.
 */
export class BufferPool {
  /** Of each sheet. */
  readonly bufferBytes: number;
  readonly #sheetsMax: number;
  readonly #free: ArrayBuffer[] = [];

  /** Keeps so many sheets at most; more are made when they are needed at once, and left to the collector. */
  constructor(sheetBytes: number, sheetsMax: number) {
    this.bufferBytes = sheetBytes;
    this.#sheetsMax = sheetsMax;
  }

  take(): Buffer {
    const free = this.#free.pop();
    return free === undefined ? Buffer.allocUnsafeSlow(this.bufferBytes) : Buffer.from(free);
  }

  /** Nobody may use the piece any more, nor another one of its sheet. One of other memory is let go. */
  putBack({ buffer }: Buffer): void {
    const isSheet = buffer instanceof ArrayBuffer && buffer.byteLength === this.bufferBytes;
    if (isSheet && this.#free.length < this.#sheetsMax) this.#free.push(buffer);
  }
}

/** Most answers fit on so many bytes. */
const firstBytes = 8 * 1024;

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const nothing = Buffer.alloc(0);
const viewOfNothing = viewOf(nothing);

const [quote, backslash] = [34, 92];

/** Calling the system's writer takes as long as so many letters one by one. */
const shortLength = 32;

/** Writes letters that bytes and JSON have as they are; returns where they end, or -1 if there are others. */
function writePlain(bytes: Uint8Array, start: number, text: string): number {
  const { length } = text;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126 || code === quote || code === backslash) return -1;
    bytes[start + at] = code;
  }
  return start + length;
}

/** Sheets of one long answer that are used again; the collector frees the others while it is sent. */
const keptMax = 4;

export class BufferWriter {
  bytes: Buffer = nothing;
  /** Of the same bytes. */
  view: DataView = viewOfNothing;
  /** Where the next byte goes. */
  at = 0;
  readonly #shelf: BufferPool | undefined;
  readonly #cut: Buffer[] = [];

  /** Takes longer sheets from the shelf; without one they are new. */
  constructor(shelf?: BufferPool) {
    this.#shelf = shelf;
  }

  /** Makes sure that `count` more bytes fit. */
  ensure(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = this.#larger(this.at + count);
    this.bytes.copy(larger, 0, 0, this.at);
    this.#shelf?.putBack(this.bytes);
    this.bytes = larger;
    this.view = viewOf(larger);
  }

  string(text: string): void {
    this.ensure(text.length * 3);
    const end = text.length > shortLength ? -1 : writePlain(this.bytes, this.at, text);
    this.at = end < 0 ? this.at + this.bytes.write(text, this.at) : end;
  }

  /** A text as JSON has it: in quotes, with what needs it escaped. */
  jsonString(text: string): void {
    this.ensure(text.length * 3 + 2);
    const { at, bytes } = this;
    const end = text.length > shortLength ? -1 : writePlain(bytes, at + 1, text);
    if (end < 0) this.string(JSON.stringify(text));
    else {
      bytes[at] = quote;
      bytes[end] = quote;
      this.at = end + 1;
    }
  }

  /** One character of ASCII, by its code. */
  byte(code: number): void {
    this.ensure(1);
    this.bytes[this.at++] = code;
  }

  literal(label: BytesLiteral): void {
    this.ensure(label.length);
    this.at = label.write(this.view, this.at);
  }

  /** What was written, to be sent; the sheet goes on empty. */
  takeWritten(): Buffer {
    const written = this.bytes.subarray(0, this.at);
    if (this.#cut.length < keptMax) this.#cut.push(written);
    this.bytes = nothing;
    this.view = viewOfNothing;
    this.at = 0;
    return written;
  }

  /** All that was cut off has been sent, or never will be: from now on it belongs to others. */
  release(): void {
    for (const piece of this.#cut.splice(0)) this.#shelf?.putBack(piece);
  }

  #larger(bytes: number): Buffer {
    if (bytes <= firstBytes) return Buffer.allocUnsafe(firstBytes);
    if (this.#shelf && bytes <= this.#shelf.bufferBytes) return this.#shelf.take();
    return Buffer.allocUnsafeSlow(Math.max(bytes, this.bytes.length * 2));
  }
}
