// A column of whole numbers: differences of a chosen order, in groups packed to the bits that each needs.
//
// The layout is in FORMAT.md ("Integers"). Numbers lie within 2^50 of zero, so that second differences stay
// exact in a double.
import { pack, packedWords, unpack } from "./bit-packing.ts";
import { type ByteReader, type ByteWriter, Malformed } from "./bytes.ts";

/** Largest magnitude of a number in a column. */
export const integerMax = 2 ** 50;

const groupSize = 128;
const widthMax = 54;
const hasExceptions = 0x80;
const exceptionsMax = 32;
/** Groups looked at when the order is chosen. */
const sampledGroups = 8;

const low = new Uint32Array(groupSize);
const high = new Uint32Array(groupSize);
const sorted = new Float64Array(groupSize);

/** Writes the column with the order of differences, one of `orders` (0 to 2, ascending), that fits best. */
export function writeIntegers(column: Float64Array, orders: readonly number[], writer: ByteWriter): void {
  const order = chooseOrder(column, orders);
  writer.u8(order);
  let residuals = column;
  for (let step = 0; step < order; step++) {
    writer.zigzag(residuals[0]!);
    residuals = differences(residuals);
  }
  const words = new Uint32Array(
    packedWords(groupSize, widthMax + 10) * Math.ceil(residuals.length / groupSize),
  );
  let at = 0;
  for (let from = 0; from < residuals.length; from += groupSize) {
    const group = residuals.subarray(from, from + groupSize);
    at = writeGroup(group, planOf(group), writer, { words, at });
  }
  writer.bytes(new Uint8Array(words.buffer, 0, at * 4));
}

/** The reverse of `writeIntegers` for a column of `count` numbers. */
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

function differences(numbers: Float64Array): Float64Array {
  const count = numbers.length - 1;
  const found = new Float64Array(count);
  let last = numbers[0]!;
  for (let index = 0; index < count; index++) {
    const next = numbers[index + 1]!;
    found[index] = next - last;
    last = next;
  }
  return found;
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

/** Bits of the groups of a sample, by order of differences; the smallest wins, of equals the lowest order. */
function chooseOrder(column: Float64Array, orders: readonly number[]): number {
  let best = { order: 0, bits: Infinity };
  const apart = Math.max(1, Math.floor(column.length / groupSize / sampledGroups)) * groupSize;
  for (const order of orders) {
    if (order >= column.length) break;
    let bits = 0;
    for (let from = 0; from + order < column.length; from += apart) {
      let residuals = column.subarray(from, from + groupSize + order);
      for (let step = 0; step < order; step++) residuals = differences(residuals);
      bits += planOf(residuals).bits;
    }
    if (bits < best.bits) best = { order, bits };
  }
  return best.order;
}

/** How a group is packed: what lies in [base, base + 2^width) in `width` bits, the others as exceptions. */
interface Plan {
  readonly base: number;
  readonly width: number;
  readonly exceptions: number;
  /** About what the group takes, header included. */
  readonly bits: number;
}

function planOf(group: Float64Array): Plan {
  const count = group.length;
  let min = group[0]!;
  let max = min;
  let sum = 0;
  for (let index = 0; index < count; index++) {
    const number = group[index]!;
    if (number < min) min = number;
    if (number > max) max = number;
    sum += number;
  }
  const plain = plan(count, { min, max, exceptions: 0 });
  // Most numbers close together and a few far away are the sign that exceptions pay.
  const mean = sum / count;
  let spread = 0;
  for (let index = 0; index < count; index++) spread += Math.abs(group[index]! - mean);
  return max - min > (10 * spread) / count ? planWithExceptions(group, plain) : plain;
}

function plan(count: number, range: { min: number; max: number; exceptions: number }): Plan {
  const width = bitsOf(range.max - range.min);
  const exceptionBits = 24 + 2 * bitsOf(Math.abs(range.min));
  return {
    base: range.min,
    width,
    exceptions: range.exceptions,
    bits: 16 + count * width + range.exceptions * exceptionBits,
  };
}

/** The cheapest way to leave out some of the smallest and some of the largest. */
function planWithExceptions(group: Float64Array, plain: Plan): Plan {
  const count = group.length;
  const ordered = sorted.subarray(0, count);
  ordered.set(group);
  ordered.sort();
  let best = plain;
  for (let exceptions = 1; exceptions <= Math.min(exceptionsMax, count >> 2); exceptions++) {
    let from = 0;
    for (let start = 1; start <= exceptions; start++) {
      const range = ordered[start + count - exceptions - 1]! - ordered[start]!;
      if (range < ordered[from + count - exceptions - 1]! - ordered[from]!) from = start;
    }
    const found = plan(count, {
      min: ordered[from]!,
      max: ordered[from + count - exceptions - 1]!,
      exceptions,
    });
    if (found.bits < best.bits) best = found;
  }
  return best;
}

/** Bits that hold the whole numbers from 0 to `range` (below 2^54). */
function bitsOf(range: number): number {
  return range < 2 ** 32 ? 32 - Math.clz32(range) : 64 - Math.clz32(Math.floor(range / 2 ** 32));
}

const groupWords = (count: number, width: number): number =>
  packedWords(count, Math.min(width, 32)) + packedWords(count, Math.max(width - 32, 0));

/** Writes the header of the group to `writer` and its packed numbers to `out`; returns where those end. */
function writeGroup(
  group: Float64Array,
  plan: Plan,
  writer: ByteWriter,
  out: { words: Uint32Array; at: number },
): number {
  const { base, width } = plan;
  const count = group.length;
  const limit = 2 ** width;
  const positions: number[] = [];
  for (let index = 0; index < count; index++) {
    const above = group[index]! - base;
    if (above >= 0 && above < limit) {
      low[index] = above;
      if (width > 32) high[index] = above / 2 ** 32;
    } else {
      positions.push(index);
      low[index] = 0;
      high[index] = 0;
    }
  }
  writer.u8(positions.length === 0 ? width : width | hasExceptions);
  writer.zigzag(base);
  if (positions.length > 0) writer.u8(positions.length);
  for (const position of positions) {
    writer.u8(position);
    writer.zigzag(group[position]!);
  }
  pack(low, count, Math.min(width, 32), out);
  const between = out.at + packedWords(count, Math.min(width, 32));
  pack(high, count, Math.max(width - 32, 0), { words: out.words, at: between });
  return out.at + groupWords(count, width);
}

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
