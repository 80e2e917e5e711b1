// A column of whole numbers as older blocks have it: differences of some order, in groups packed to the bits
// that each needs.
//
// The layout is in FORMAT.md ("Integers"). It is only read.
import { packedWords, unpack } from "./bit-packing.ts";
import { type ByteReader, Malformed } from "./bytes.ts";

const groupSize = 128;
const widthMax = 54;
const hasExceptions = 0x80;

const low = new Uint32Array(groupSize);
const high = new Uint32Array(groupSize);

/** A column of `count` numbers. */
export function readIntegers(reader: ByteReader, count: number): Float64Array {
  const order = reader.u8();
  if (order > 2 || order > count) throw new Malformed(`differences of order ${order}`);
  const column = new Float64Array(count);
  for (let index = 0; index < order; index++) column[index] = reader.zigzag();
  const groups: Group[] = [];
  for (let from = order; from < count; from += groupSize)
    groups.push(readGroup(reader, Math.min(groupSize, count - from)));
  const words = wordsOf(reader, groups);
  let at = 0;
  for (const [index, group] of groups.entries()) {
    const from = order + index * groupSize;
    unpackGroup(group, words, at, column.subarray(from, from + group.count));
    at += groupWords(group.count, group.width);
  }
  for (let step = order; step > 0; step--) addUp(column, step - 1);
  return column;
}

/** Turns differences back into sums, from `from` on. */
function addUp(column: Float64Array, from: number): void {
  const count = column.length;
  let sum = column[from]!;
  for (let index = from + 1; index < count; index++) {
    sum += column[index]!;
    column[index] = sum;
  }
}

const groupWords = (count: number, width: number): number =>
  packedWords(count, Math.min(width, 32)) + packedWords(count, Math.max(width - 32, 0));

interface Group {
  readonly count: number;
  readonly base: number;
  readonly width: number;
  readonly exceptions: readonly { readonly position: number; readonly number: number }[];
}

function readGroup(reader: ByteReader, count: number): Group {
  const head = reader.u8();
  const width = head & ~hasExceptions;
  if (width > widthMax) throw new Malformed(`numbers of ${width} bits`);
  const base = reader.zigzag();
  const exceptions: { position: number; number: number }[] = [];
  const wanted = head === width ? 0 : reader.u8();
  while (exceptions.length < wanted) exceptions.push({ position: reader.u8(), number: reader.zigzag() });
  return { count, base, width, exceptions };
}

/** The packed words of all groups, copied so that they are aligned. */
function wordsOf(reader: ByteReader, groups: readonly Group[]): Uint32Array {
  let count = 0;
  for (const group of groups) count += groupWords(group.count, group.width);
  const words = new Uint32Array(count);
  new Uint8Array(words.buffer).set(reader.bytes(count * 4));
  return words;
}

function unpackGroup(group: Group, words: Uint32Array, at: number, out: Float64Array): void {
  const { base, width, count } = group;
  unpack(words, at, Math.min(width, 32), { numbers: low, count });
  if (width <= 32) {
    for (let index = 0; index < count; index++) out[index] = base + low[index]!;
  } else {
    unpack(words, at + packedWords(count, 32), width - 32, { numbers: high, count });
    for (let index = 0; index < count; index++) out[index] = base + (high[index]! * 2 ** 32 + low[index]!);
  }
  for (const { position, number } of group.exceptions) out[position] = number;
}
