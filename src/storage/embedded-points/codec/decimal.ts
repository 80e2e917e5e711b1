// Numbers that were written as decimals, kept as whole numbers: value = whole / 10^exponent, bit for bit.
//
// Also what computing has moved from such a decimal by the rounding of a few steps, and what was kept in
// single precision in between. Other values of a block (-0, or with too many digits) are kept aside as they
// are.
import { type ByteReader, type ByteWriter, Malformed } from "./bytes.ts";
import { integerMax, readColumn, unpredicted, writeColumn } from "./column.ts";

/** 10^22 is the last power of ten that a double holds exactly. */
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const exponentMax = powers.length - 1;
const exponentBits = Math.log2(10);
/** Added to the exponent of values that were rounded to single precision. */
const single = 0x80;
/** Adding and taking away 1.5 * 2^52 rounds a number below 2^51 to a whole one. */
const rounder = 1.5 * 2 ** 52;

/** A value counts as rounded when it is so near to a decimal, of which it has so few digits. */
const nearness = 2 ** -49;
const nearWholeMax = 2 ** 43;

const sampleSize = 64;
/** At most one value in this many is kept aside; with more, another codec fits better. */
const pointsPerException = 16;
/** What a value aside takes. */
const asideBits = 80;
const attempts = 3;

interface Scale {
  readonly exponent: number;
  readonly isSingle: boolean;
}

interface Decimals extends Scale {
  readonly wholes: Float64Array;
  /** By how many doubles each value is farther from zero than its decimal. */
  readonly nudges: Float64Array | undefined;
  /** Indexes of values that are no decimal of this exponent. */
  readonly aside: readonly number[];
}

/** Decimals as they are, or with what rounding made of them. */
export type DecimalForm = "exact" | "rounded";

/** Writes the values and answers how; nothing when they are no decimals. */
export function writeDecimals(values: Float64Array, writer: ByteWriter): DecimalForm | undefined {
  const asideMax = Math.floor(values.length / pointsPerException);
  let scale = scaleOf(sampleOf(values));
  for (let attempt = 0; attempt < attempts && scale !== undefined; attempt++) {
    const decimals = toWholes(values, scale, asideMax);
    if (decimals.aside.length <= asideMax) return writeWholes(values, decimals, writer);
    const others = scaleOf(decimals.aside.map((index) => values[index]!));
    if (others === undefined || others.exponent <= scale.exponent) return undefined;
    scale = others;
  }
  return undefined;
}

/** The reverse of `writeDecimals` for `count` values. */
export function readDecimals(reader: ByteReader, count: number, form: DecimalForm): Float64Array {
  const head = reader.u8();
  const isSingle = form === "rounded" && head >= single;
  const power = powers[isSingle ? head - single : head];
  if (power === undefined) throw new Malformed("an exponent above 22");
  const asideCount = reader.varint();
  if (asideCount > count) throw new Malformed(`${asideCount} values aside`);
  const aside: { index: number; value: number }[] = [];
  let index = 0;
  while (aside.length < asideCount) {
    index += reader.varint();
    aside.push({ index, value: reader.f64() });
  }
  const values = readColumn(reader, count);
  if (power !== 1) for (let at = 0; at < count; at++) values[at] = values[at]! / power;
  if (isSingle) for (let at = 0; at < count; at++) values[at] = Math.fround(values[at]!);
  else if (form === "rounded") nudge(values, readColumn(reader, count));
  for (const one of aside) values[one.index] = one.value;
  return values;
}

function writeWholes(values: Float64Array, decimals: Decimals, writer: ByteWriter): DecimalForm {
  const { exponent, isSingle, wholes, nudges, aside } = decimals;
  writer.u8(isSingle ? exponent + single : exponent);
  writer.varint(aside.length);
  let last = 0;
  for (const index of aside) {
    writer.varint(index - last);
    writer.f64(values[index]!);
    last = index;
  }
  writeColumn(wholes, writer);
  if (nudges !== undefined) writeColumn(nudges, writer, unpredicted);
  return isSingle || nudges !== undefined ? "rounded" : "exact";
}

function sampleOf(values: Float64Array): number[] {
  const apart = Math.max(1, Math.floor(values.length / sampleSize));
  const sample: number[] = [];
  for (let index = 0; index < values.length; index += apart) sample.push(values[index]!);
  return sample;
}

/**
 * The exponent that makes most of a sample whole in the fewest bits; nothing when the most of it never is.
 */
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
    const bits = exponent * exponentBits + (others / sample.length) * asideBits;
    if (others * 2 <= sample.length && bits < best.bits) best = { bits, scale: { exponent, isSingle } };
  }
  return best;
}

/** Above `exponentMax` for a value that is no decimal. */
function smallestExponent(value: number, isSingle: boolean): number {
  let exponent = 0;
  for (; exponent <= exponentMax; exponent++) {
    const power = powers[exponent]!;
    const whole = value * power + rounder - rounder;
    if (Math.abs(whole) > integerMax) return exponentMax + 1;
    const decimal = isSingle ? Math.fround(whole / power) : whole / power;
    if (decimal === value && !Object.is(value, -0)) break;
    if (!isSingle && isNear(value, decimal, whole)) break;
  }
  return exponent;
}

const isNear = (value: number, decimal: number, whole: number): boolean =>
  Math.abs(value - decimal) <= Math.abs(value) * nearness && Math.abs(whole) <= nearWholeMax && whole !== 0;

/** All values as whole numbers, giving up with more than `asideMax` others; these repeat their neighbour. */
function toWholes(values: Float64Array, { exponent, isSingle }: Scale, asideMax: number): Decimals {
  const power = powers[exponent]!;
  const count = values.length;
  const wholes = new Float64Array(count);
  let nudges: Float64Array | undefined;
  const aside: number[] = [];
  let last = 0;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    const whole = value * power + rounder - rounder;
    const decimal = isSingle ? Math.fround(whole / power) : whole / power;
    const isWhole = decimal === value && whole <= integerMax && whole >= -integerMax;
    if (isWhole && (whole !== 0 || !Object.is(value, -0))) last = whole;
    else if (!isSingle && isNear(value, decimal, whole)) {
      nudges ??= new Float64Array(count);
      nudges[index] = doublesBetween(decimal, value);
      last = whole;
    } else if (aside.push(index) > asideMax) break;
    wholes[index] = last;
  }
  return { exponent, isSingle, wholes, nudges, aside };
}

const pair = new Float64Array(2);
const halvesOfPair = new Uint32Array(pair.buffer);

/** By how much the bits of `to`, as a whole number, are above those of `from`, which has the same sign. */
function doublesBetween(from: number, to: number): number {
  pair[0] = from;
  pair[1] = to;
  const [fromLow, fromHigh, toLow, toHigh] = halvesOfPair;
  return (toHigh! - fromHigh!) * 2 ** 32 + (toLow! - fromLow!);
}

/** Moves each value by as many doubles away from zero. */
function nudge(values: Float64Array, nudges: Float64Array): void {
  const halves = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  for (let index = 0; index < values.length; index++) {
    if (nudges[index] === 0) continue;
    const low = halves[index * 2]! + nudges[index]!;
    halves[index * 2] = low;
    halves[index * 2 + 1]! += Math.floor(low / 2 ** 32);
  }
}
