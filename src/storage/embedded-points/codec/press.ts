// Sections of a block through zstd, where that pays.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ByteReader, ByteWriter, Malformed } from "./bytes.ts";

/** Set in the codec id of a section that went through zstd. */
const pressed = 0x80;

const level = 3;
/** Unpacking costs time on every read: less than one part in this many is not worth it. */
const savedParts = 16;
const smallestBytes = 256;
/** A section that says it unpacks to more is taken for damaged. */
const unpackedBytesMax = 2 ** 28;

/** A section that was written, with the id of its codec. */
export interface Section {
  readonly codec: number;
  readonly bytes: Uint8Array;
}

/** The section through zstd if that makes it clearly smaller, else as it is. */
export function pressSection(section: Section): Section {
  const { bytes, codec } = section;
  if (bytes.length < smallestBytes || !looksRepetitive(bytes)) return section;
  const writer = new ByteWriter();
  writer.u32(bytes.length);
  writer.bytes(zstd(bytes));
  const pays = writer.length < bytes.length - bytes.length / savedParts;
  return pays ? { codec: codec | pressed, bytes: writer.finish() } : section;
}

/** The reverse of `pressSection`. */
export function unpressSection(section: Section): Section {
  if ((section.codec & pressed) === 0) return section;
  const reader = new ByteReader(section.bytes);
  const length = reader.u32();
  if (length === 0 || length > unpackedBytesMax) throw new Malformed(`a section of ${length} bytes`);
  return { codec: section.codec & ~pressed, bytes: unzstd(reader.rest(), length) };
}

/** The bytes as one zstd frame. */
export const zstd = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } });

/** The `length` (1 or more) bytes of a zstd frame. */
export function unzstd(frame: Uint8Array, length: number): Uint8Array {
  const bytes = zstdDecompressSync(frame, { maxOutputLength: length });
  if (bytes.length !== length) throw new Malformed(`${bytes.length} bytes unpacked instead of ${length}`);
  return bytes;
}

const seen = new Uint32Array(4096);
/** One sequence in this many must have been there before. */
const repeatedParts = 12;

/**
 * Whether zstd is worth trying, in a tenth of its time: it lives on repeated sequences, and bit-packed noise
 * has none.
 */
function looksRepetitive(bytes: Uint8Array): boolean {
  seen.fill(0);
  let sequence = 0;
  let repeated = 0;
  const count = bytes.length;
  for (let index = 0; index < count; index++) {
    sequence = ((sequence << 8) | bytes[index]!) >>> 0;
    const slot = Math.imul(sequence, 0x9e3779b1) >>> 20;
    if (seen[slot] === sequence) repeated++;
    else seen[slot] = sequence;
  }
  return repeated * repeatedParts > count;
}
