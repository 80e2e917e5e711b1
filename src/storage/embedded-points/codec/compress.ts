// zstd compression of the sections of a block, where it makes them clearly smaller.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ByteReader, ByteWriter, MalformedBlock } from "./bytes.ts";

/** Set in the codec id of a compressed section. */
const compressedFlag = 0x80;

const level = 3;
/** Decompression costs time on every read. A section must shrink by more than one part in this many. */
const savedParts = 16;
const smallestBytes = 256;
/** A section with a larger decompressed size is damaged. */
const decompressedBytesMax = 2 ** 28;

/** An encoded section and the id of its codec. */
export interface BlockSection {
  readonly codec: number;
  readonly bytes: Uint8Array;
}

/** The compressed section if it is clearly smaller, else the section itself. */
export function compressSection(section: BlockSection): BlockSection {
  const { bytes, codec } = section;
  if (bytes.length < smallestBytes || !looksRepetitive(bytes)) return section;
  const writer = new ByteWriter();
  writer.u32(bytes.length);
  writer.bytes(compress(bytes));
  const isClearlySmaller = writer.length < bytes.length - bytes.length / savedParts;
  return isClearlySmaller ? { codec: codec | compressedFlag, bytes: writer.finish() } : section;
}

/** The reverse of `compressSection`. */
export function decompressSection(section: BlockSection): BlockSection {
  if ((section.codec & compressedFlag) === 0) return section;
  const reader = new ByteReader(section.bytes);
  const length = reader.u32();
  if (length === 0 || length > decompressedBytesMax) throw new MalformedBlock(`a section of ${length} bytes`);
  return { codec: section.codec & ~compressedFlag, bytes: decompress(reader.rest(), length) };
}

/** Returns one zstd frame. */
export const compress = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } });

/** The content of a zstd frame, which has `length` (1 or more) bytes. */
export function decompress(frame: Uint8Array, length: number): Uint8Array {
  const bytes = zstdDecompressSync(frame, { maxOutputLength: length });
  if (bytes.length !== length)
    throw new MalformedBlock(`${bytes.length} bytes decompressed instead of ${length}`);
  return bytes;
}

const hashSlots = 4096;
/** One sequence in this many must have occurred before. */
const repeatedParts = 12;

/**
 * Estimates whether zstd will save bytes, in a tenth of its time. zstd uses repeated sequences, and
 * bit-packed noise has none.
 */
function looksRepetitive(bytes: Uint8Array): boolean {
  const seen = new Uint32Array(hashSlots);
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
