// Writes strings as bytes into buffers that grow and that are sent in chunks.
import type { BufferPool } from "./buffer-pool.ts";
import { freeBuffer } from "./free-memory.ts";

/** A string of at least four bytes that is written many times, stored as words of eight or four bytes. */
export class BytesLiteral {
  readonly length: number;
  readonly #first: number;
  readonly #last: number;
  /** No word is NaN, because UTF-8 does not use the bytes that a NaN needs. */
  readonly #between: Float64Array;

  constructor(content: string) {
    const bytes = Buffer.from(content);
    const { length } = bytes;
    const isLong = length >= 8;
    this.length = length;
    this.#first = isLong ? bytes.readDoubleLE(0) : bytes.readInt32LE(0);
    this.#last = isLong ? bytes.readDoubleLE(length - 8) : bytes.readInt32LE(length - 4);
    const between = Math.max(0, Math.ceil(length / 8) - 2);
    this.#between = Float64Array.from({ length: between }, (_, i) => bytes.readDoubleLE(8 + i * 8));
  }

  /** Writes it at `at` and returns its end; many times as fast as byte by byte. */
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

/** Most responses are shorter. */
const firstBytes = 8 * 1024;

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const noBytes = Buffer.alloc(0);
const viewOfNoBytes = viewOf(noBytes);

const [quote, backslash] = [34, 92];

/** A call of `Buffer.write` takes as long as writing this many characters one by one. */
const shortLength = 32;

/** Writes ASCII that JSON does not escape and returns its end; returns -1 if `value` has other characters. */
function writePlain(bytes: Uint8Array, start: number, value: string): number {
  const { length } = value;
  for (let at = 0; at < length; at++) {
    const code = value.charCodeAt(at);
    if (code < 32 || code > 126 || code === quote || code === backslash) return -1;
    bytes[start + at] = code;
  }
  return start + length;
}

/** Runs `write` with a new writer. If it fails, the memory of the writer returns to the pool. */
export async function withWriter<Result>(
  pool: BufferPool,
  write: (writer: BufferWriter) => Result | Promise<Result>,
): Promise<Result> {
  const writer = new BufferWriter(pool);
  try {
    return await write(writer);
  } catch (problem) {
    writer.release();
    throw problem;
  }
}

/** Chunks of one long response that return to the pool; the garbage collector frees the others. */
const releasedMax = 4;

export class BufferWriter {
  bytes: Buffer = noBytes;
  /** A view of the same bytes. */
  view: DataView = viewOfNoBytes;
  /** The position of the next byte. */
  at = 0;
  readonly #pool: BufferPool | undefined;
  /**
   * The size of the last chunk's buffer: the next one of a long response need not grow to it. At most the
   * `bytesMin` of the pool, so that one long chunk does not make all later ones as large.
   */
  #lastBytes = 0;
  /** Whether `bytes` belongs to the pool. */
  #isPooled = false;
  /** Chunks whose memory belongs to the pool. */
  readonly #taken: Buffer[] = [];

  /** Takes long buffers from the pool; without a pool they are new. */
  constructor(pool?: BufferPool) {
    this.#pool = pool;
  }

  /** Makes sure that `count` more bytes fit. */
  ensure(count: number): void {
    const needed = this.at + count;
    if (needed <= this.bytes.length) return;
    const pool = needed > firstBytes ? this.#pool : undefined;
    const larger =
      pool?.take(Math.max(needed, this.#lastBytes)) ?? Buffer.allocUnsafeSlow(this.#sizeFor(needed));
    this.bytes.copy(larger, 0, 0, this.at);
    if (this.#isPooled) this.#pool!.putBack(this.bytes);
    this.bytes = larger;
    this.view = viewOf(larger);
    this.#isPooled = pool !== undefined;
  }

  string(value: string): void {
    this.ensure(value.length * 3);
    const end = value.length > shortLength ? -1 : writePlain(this.bytes, this.at, value);
    this.at = end < 0 ? this.at + this.bytes.write(value, this.at) : end;
  }

  /** Writes a JSON string: in quotes, escaped where necessary. */
  jsonString(value: string): void {
    this.ensure(value.length * 3 + 2);
    const { at, bytes } = this;
    const end = value.length > shortLength ? -1 : writePlain(bytes, at + 1, value);
    if (end < 0) this.string(JSON.stringify(value));
    else {
      bytes[at] = quote;
      bytes[end] = quote;
      this.at = end + 1;
    }
  }

  /** Writes an ASCII character by its code. */
  byte(code: number): void {
    this.ensure(1);
    this.bytes[this.at++] = code;
  }

  literal(literal: BytesLiteral): void {
    this.ensure(literal.length);
    this.at = literal.write(this.view, this.at);
  }

  /** Returns the bytes written so far and continues with an empty buffer. */
  takeWritten(): Buffer {
    const written = this.bytes.subarray(0, this.at);
    if (this.#isPooled && this.#taken.length < releasedMax) this.#taken.push(written);
    this.#lastBytes = Math.min(this.bytes.length, this.#pool?.bytesMin ?? 0);
    this.bytes = noBytes;
    this.view = viewOfNoBytes;
    this.#isPooled = false;
    this.at = 0;
    return written;
  }

  /** Returns all memory to the pool. Call it when the chunks are sent, or never will be. */
  release(): void {
    this.takeWritten();
    for (const chunk of this.#taken.splice(0)) this.#pool!.putBack(chunk);
  }

  /** Frees the memory of chunks that `takeWritten` returned and that are never sent. */
  discard(chunks: readonly Buffer[]): void {
    const pooled = new Set(this.#taken);
    this.release();
    for (const chunk of chunks) if (!pooled.has(chunk)) freeBuffer(chunk.buffer);
  }

  #sizeFor(bytes: number): number {
    return bytes <= firstBytes ? firstBytes : Math.max(bytes, this.bytes.length * 2);
  }
}
