// Numbers as their places among all doubles, which are as close to each other as the numbers are.
//
// For numbers that are no decimals: measured in single precision, or computed. The layout is in FORMAT.md.
import { pack, packedWords, unpack } from "./bit-packing.ts";
import { readWords } from "./bits.ts";
import { type ByteReader, type ByteWriter, Malformed } from "./bytes.ts";
import { readColumn, writeColumn } from "./column.ts";

/** A place has 63 bits and a sign; without so many low ones it is a number for a column. */
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
  const kept = unset >= lowBits ? 0 : lowBits;
  const places = new Float64Array(count);
  const low = new Uint32Array(count);
  const highScale = 2 ** (32 - lowBits);
  for (let index = 0; index < count; index++) {
    const half = halves[index * 2 + 1]!;
    const place = (half & 0x7fffffff) * highScale + (halves[index * 2]! >>> lowBits);
    places[index] = half >>> 31 === 0 ? place : -1 - place;
    low[index] = halves[index * 2]! & (2 ** lowBits - 1);
  }
  writer.u8(lowBits);
  writer.u8(kept);
  writeColumn(places, writer);
  const words = new Uint32Array(packedWords(count, kept));
  pack(low, count, kept, { words, at: 0 });
  writer.bytes(new Uint8Array(words.buffer));
}

/** The reverse of `writeOrdinals` for `count` values. */
export function readOrdinals(reader: ByteReader, count: number): Float64Array {
  const lowBits = reader.u8();
  const kept = reader.u8();
  if (lowBits < lowBitsMin || lowBits > lowBitsMax || (kept !== 0 && kept !== lowBits))
    throw new Malformed(`${kept} of ${lowBits} low bits`);
  const places = readColumn(reader, count);
  const low = new Uint32Array(count);
  unpack(readWords(reader, packedWords(count, kept)), 0, kept, { numbers: low, count });
  const values = new Float64Array(count);
  const halves = new Uint32Array(values.buffer);
  const highScale = 2 ** (32 - lowBits);
  for (let index = 0; index < count; index++) {
    const place = places[index]!;
    const size = place < 0 ? -1 - place : place;
    const half = Math.floor(size / highScale);
    halves[index * 2] = ((size - half * highScale) << lowBits) | low[index]!;
    halves[index * 2 + 1] = place < 0 ? half | 0x80000000 : half;
  }
  return values;
}
