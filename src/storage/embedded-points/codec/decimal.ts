// Encodes decimal numbers as integers without loss: value = integer / 10^exponent.
//
// Also encodes values that differ from a decimal by the rounding of a few calculations, and decimals rounded
// to single precision. Exceptions (-0, or values with too many digits) are stored separately.
import { freeChunk } from "../../../lib/free-memory.ts";
import { type ByteReader, type ByteWriter, MalformedBlock } from "./bytes.ts";
import { integerMax, readColumn, unpredicted, writeColumn } from "./column.ts";

/** 10^22 is the largest power of ten that is exact in a double. */
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const exponentMax = powers.length - 1;
const exponentBits = Math.log2(10);
/** Added to the exponent of values that were rounded to single precision. */
const single = 0x80;
/** Adding and subtracting 1.5 * 2^52 rounds a number below 2^51 to an integer. */
const rounder = 1.5 * 2 ** 52;

/** A value is a rounded decimal when it is this near to one with an integer of at most this size. */
const nearness = 2 ** -49;
const nearIntegerMax = 2 ** 43;

const sampleSize = 64;
/** At most one value in this many is an exception; with more, another codec is better. */
const pointsPerException = 16;
/** Cost of an exception. */
const exceptionBits = 80;
const attempts = 3;

interface Scale {
  readonly exponent: number;
  readonly isSingle: boolean;
}

interface Decimals extends Scale {
  readonly integers: Float64Array;
  /** How many doubles each value is farther from zero than its decimal. */
  readonly offsets: Float64Array | undefined;
  /** Indexes of values that are not decimals with this exponent. */
  readonly exceptions: readonly number[];
}

/** Whether decimals are exact, or changed by rounding. */
export type DecimalForm = "exact" | "rounded";

/** Writes the values and returns their form. Returns undefined when they are not decimals. */
export function writeDecimals(values: Float64Array, writer: ByteWriter): DecimalForm | undefined {
  const exceptionsMax = Math.floor(values.length / pointsPerException);
  let scale = scaleOf(sampleOf(values));
  for (let attempt = 0; attempt < attempts && scale !== undefined; attempt++) {
    const decimals = toIntegers(values, scale, exceptionsMax);
    if (decimals.exceptions.length <= exceptionsMax) return writeIntegers(values, decimals, writer);
    const others = scaleOf(decimals.exceptions.map((index) => values[index]!));
    if (others === undefined || others.exponent <= scale.exponent) return undefined;
    scale = others;
  }
  return undefined;
}

/** The first `wanted` of `count` values that `writeDecimals` wrote. */
export function readDecimals(
  reader: ByteReader,
  { count, wanted }: { readonly count: number; readonly wanted: number },
  form: DecimalForm,
): Float64Array {
  const head = reader.u8();
  const isSingle = form === "rounded" && head >= single;
  const power = powers[isSingle ? head - single : head];
  if (power === undefined) throw new MalformedBlock("an exponent above 22");
  const exceptionCount = reader.varint();
  if (exceptionCount > count) throw new MalformedBlock(`${exceptionCount} exceptions`);
  const exceptions: { index: number; value: number }[] = [];
  for (let at = 0, index = 0; at < exceptionCount; at++) {
    index += reader.varint();
    const value = reader.f64();
    if (index < wanted) exceptions.push({ index, value });
  }
  const values = readColumn(reader, count, power, wanted);
  if (isSingle) for (let at = 0; at < values.length; at++) values[at] = Math.fround(values[at]!);
  else if (form === "rounded") addOffsets(values, readColumn(reader, count, 1, wanted));
  for (const one of exceptions) values[one.index] = one.value;
  return values;
}

function writeIntegers(values: Float64Array, decimals: Decimals, writer: ByteWriter): DecimalForm {
  const { exponent, isSingle, integers, offsets, exceptions } = decimals;
  writer.u8(isSingle ? exponent + single : exponent);
  writer.varint(exceptions.length);
  let last = 0;
  for (const index of exceptions) {
    writer.varint(index - last);
    writer.f64(values[index]!);
    last = index;
  }
  writeColumn(integers, writer);
  freeChunk(integers);
  if (offsets !== undefined) {
    writeColumn(offsets, writer, unpredicted);
    freeChunk(offsets);
  }
  return isSingle || offsets !== undefined ? "rounded" : "exact";
}

function sampleOf(values: Float64Array): number[] {
  const apart = Math.max(1, Math.floor(values.length / sampleSize));
  const sample: number[] = [];
  for (let index = 0; index < values.length; index += apart) sample.push(values[index]!);
  return sample;
}

/** The cheapest exponent with which most of a sample are integers; undefined without one. */
function scaleOf(sample: readonly number[]): Scale | undefined {
  const asDoubles = cheapest(sample, false);
  if (asDoubles.bits === 0 || sample.some((value) => Math.fround(value) !== value)) return asDoubles.scale;
  const asSingles = cheapest(sample, true);
  return asSingles.bits < asDoubles.bits ? asSingles.scale : asDoubles.scale;
}

function cheapest(sample: readonly number[], isSingle: boolean): { bits: number; scale: Scale | undefined } {
  const exponents = sample.map((value) => smallestExponent(value, isSingle)).sort((a, b) => a - b);
  let best = { bits: Number.POSITIVE_INFINITY, scale: undefined as Scale | undefined };
  for (const [index, exponent] of exponents.entries()) {
    if (exponent > exponentMax || exponents[index + 1] === exponent) continue;
    const others = sample.length - 1 - index;
    const bits = exponent * exponentBits + (others / sample.length) * exceptionBits;
    if (others * 2 <= sample.length && bits < best.bits) best = { bits, scale: { exponent, isSingle } };
  }
  return best;
}

/** Greater than `exponentMax` for a value that is not a decimal. */
function smallestExponent(value: number, isSingle: boolean): number {
  let exponent = 0;
  for (; exponent <= exponentMax; exponent++) {
    const power = powers[exponent]!;
    const integer = value * power + rounder - rounder;
    if (Math.abs(integer) > integerMax) return exponentMax + 1;
    const decimal = isSingle ? Math.fround(integer / power) : integer / power;
    if (decimal === value && !Object.is(value, -0)) break;
    if (!isSingle && isNear(value, decimal, integer)) break;
  }
  return exponent;
}

const isNear = (value: number, decimal: number, integer: number): boolean =>
  Math.abs(value - decimal) <= Math.abs(value) * nearness &&
  Math.abs(integer) <= nearIntegerMax &&
  integer !== 0;

/**
 * The values as integers. Stops after `exceptionsMax` exceptions; an exception repeats the integer before it.
 */
function toIntegers(values: Float64Array, { exponent, isSingle }: Scale, exceptionsMax: number): Decimals {
  const power = powers[exponent]!;
  const count = values.length;
  const integers = new Float64Array(count);
  let offsets: Float64Array | undefined;
  const exceptions: number[] = [];
  const doublesBetween = doubleCounter();
  let last = 0;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    const integer = value * power + rounder - rounder;
    const decimal = isSingle ? Math.fround(integer / power) : integer / power;
    const isExact = decimal === value && integer <= integerMax && integer >= -integerMax;
    if (isExact && (integer !== 0 || !Object.is(value, -0))) last = integer;
    else if (!isSingle && isNear(value, decimal, integer)) {
      offsets ??= new Float64Array(count);
      offsets[index] = doublesBetween(decimal, value);
      last = integer;
    } else if (exceptions.push(index) > exceptionsMax) break;
    integers[index] = last;
  }
  return { exponent, isSingle, integers, offsets, exceptions };
}

/**
 * Counts the doubles from one number to another of the same sign: the difference of their bits as integers.
 */
function doubleCounter(): (from: number, to: number) => number {
  const pair = new Float64Array(2);
  const halves = new Uint32Array(pair.buffer);
  return (from, to) => {
    pair[0] = from;
    pair[1] = to;
    return (halves[3]! - halves[1]!) * 2 ** 32 + (halves[2]! - halves[0]!);
  };
}

/** Moves each value away from zero by its offset in doubles. */
function addOffsets(values: Float64Array, offsets: Float64Array): void {
  const halves = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  for (let index = 0; index < values.length; index++) {
    if (offsets[index] === 0) continue;
    const low = halves[index * 2]! + offsets[index]!;
    halves[index * 2] = low;
    halves[index * 2 + 1]! += Math.floor(low / 2 ** 32);
  }
}
