// Encodes numbers as their ordinals among all doubles: nearby numbers have nearby ordinals.
//
// For numbers that are not decimals: measured in single precision, or calculated. The layout is in FORMAT.md.
import { pack, packedWords, readPacked } from "./bit-packing.ts";
import { type ByteReader, type ByteWriter, MalformedBlock } from "./bytes.ts";
import { readColumn, writeColumn } from "./column.ts";

/** An ordinal has 63 bits and a sign. Without so many low bits, it fits into a column of integers. */
const lowBitsMin = 14;
const lowBitsMax = 31;

export function writeOrdinals(values: Float64Array, writer: ByteWriter): void {
  const count = values.length;
  const halves = new Uint32Array(values.buffer, values.byteOffset, count * 2);
  let used = 0;
  for (let index = 0; index < halves.length; index += 2) used |= halves[index]!;
  // Numbers in single precision have 29 low bits that are never set.
  const unset = used === 0 ? lowBitsMax : 31 - Math.clz32(used & -used);
  const lowBits = Math.min(lowBitsMax, Math.max(lowBitsMin, unset));
  const storedBits = unset >= lowBits ? 0 : lowBits;
  const ordinals = new Float64Array(count);
  const low = new Uint32Array(count);
  const highScale = 2 ** (32 - lowBits);
  for (let index = 0; index < count; index++) {
    const half = halves[index * 2 + 1]!;
    const ordinal = (half & 0x7fffffff) * highScale + (halves[index * 2]! >>> lowBits);
    ordinals[index] = half >>> 31 === 0 ? ordinal : -1 - ordinal;
    low[index] = halves[index * 2]! & (2 ** lowBits - 1);
  }
  writer.u8(lowBits);
  writer.u8(storedBits);
  writeColumn(ordinals, writer);
  const words = new Uint32Array(packedWords(count, storedBits));
  pack(low, count, storedBits, { words, at: 0 });
  writer.bytes(new Uint8Array(words.buffer));
}

/** The reverse of `writeOrdinals` for `count` values. */
export function readOrdinals(reader: ByteReader, count: number): Float64Array {
  const lowBits = reader.u8();
  const storedBits = reader.u8();
  if (lowBits < lowBitsMin || lowBits > lowBitsMax || (storedBits !== 0 && storedBits !== lowBits))
    throw new MalformedBlock(`${storedBits} of ${lowBits} low bits`);
  const ordinals = readColumn(reader, count);
  const low =
    storedBits === 0 ? new Uint32Array(count) : readPacked(reader, { count, wanted: count }, storedBits);
  const values = reader.kernels.column(count);
  const halves = new Uint32Array(values.buffer, values.byteOffset, count * 2);
  const highScale = 2 ** (32 - lowBits);
  for (let index = 0; index < count; index++) {
    const ordinal = ordinals[index]!;
    const size = ordinal < 0 ? -1 - ordinal : ordinal;
    const half = Math.floor(size / highScale);
    halves[index * 2] = ((size - half * highScale) << lowBits) | low[index]!;
    halves[index * 2 + 1] = ordinal < 0 ? half | 0x80000000 : half;
  }
  return values;
}
