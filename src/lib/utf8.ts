// Finds bytes that are not UTF-8. A decoder would replace them by U+FFFD, so different strings would become
// the same.
import { isUtf8 } from "node:buffer";

/** A body or a file has a byte that is not UTF-8. */
export class NotUtf8 extends Error {
  /** The first byte that is not part of a character, from 0. */
  readonly offset: number;

  constructor(offset: number) {
    super(`not UTF-8 at byte ${offset}`);
    this.offset = offset;
  }
}

/** The offset of the first byte that is not part of a character; undefined when there is none. */
export function notUtf8At(bytes: Uint8Array): number | undefined {
  if (isUtf8(bytes)) return undefined;
  let at = 0;
  for (;;) {
    const stop = at + stepBytes;
    const end = stop < bytes.length ? stop - incompleteBytes(bytes.subarray(at, stop)) : bytes.length;
    if (!isUtf8(bytes.subarray(at, end))) break;
    at = end;
  }
  for (;;) {
    const end = at + characterBytes(bytes[at]!);
    if (end > bytes.length || !isUtf8(bytes.subarray(at, end))) return at;
    at = end;
  }
}

/** The string of the bytes from `from` to `to`; undefined when they are not UTF-8. */
export function textOf(bytes: Buffer, from: number, to: number): string | undefined {
  const text = bytes.toString("utf8", from, to);
  // The decoder replaces invalid bytes by U+FFFD, but the input can contain that character too.
  return text.includes("\ufffd") && !isUtf8(bytes.subarray(from, to)) ? undefined : text;
}

/** Large enough for `isUtf8` to be fast, small enough to check each character of one step. */
const stepBytes = 2 ** 14;

/** The length of the character that starts with this byte. */
const characterBytes = (first: number): number =>
  first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** The number of bytes at the end that start a character of the next chunk. */
function incompleteBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count]!;
    if (!isContinuation(byte)) return byte >= 0xc0 && characterBytes(byte) > count ? count : 0;
  }
  return 0;
}

/** Passes the chunks through and splits no character. Throws `NotUtf8` before an invalid chunk. */
export async function* utf8Chunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = new Uint8Array(0);
  let passed = 0;
  for await (const chunk of source) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const whole = bytes.subarray(0, bytes.length - incompleteBytes(bytes));
    held = bytes.subarray(whole.length);
    yield checked(whole, passed);
    passed += whole.length;
  }
  if (held.length > 0) yield checked(held, passed);
}

function checked(bytes: Uint8Array, before: number): Uint8Array {
  const at = notUtf8At(bytes);
  if (at !== undefined) throw new NotUtf8(before + at);
  return bytes;
}
