// Numbers that were written as decimals, kept as whole numbers: value = whole / 10^exponent, bit for bit.
//
// Values of a block that are no such decimal (-0, or with too many digits) are kept aside as they are.
import { type ByteReader, type ByteWriter, Malformed } from "./bytes.ts";
import { integerMax, writeColumn } from "./column.ts";

/** 10^22 is the last power of ten that a double holds exactly. */
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Adding and taking away 1.5 * 2^52 rounds a number below 2^51 to a whole one. */
const rounder = 1.5 * 2 ** 52;

const sampleSize = 64;
/** At most one value in this many is kept aside; with more, another codec fits better. */
const pointsPerException = 16;
const attempts = 3;

interface Decimals {
  readonly wholes: Float64Array;
  /** Indexes of values that are no decimal of this exponent. */
  readonly aside: readonly number[];
}

/** Writes the values, or nothing and returns false when they are not decimals. */
export function writeDecimals(values: Float64Array, writer: ByteWriter): boolean {
  const asideMax = Math.floor(values.length / pointsPerException);
  let exponent = exponentOf(sampleOf(values));
  for (let attempt = 0; attempt < attempts && exponent >= 0; attempt++) {
    const { wholes, aside } = scale(values, exponent, asideMax);
    if (aside.length <= asideMax) {
      writeScaled(values, exponent, { wholes, aside }, writer);
      return true;
    }
    const larger = exponentOf(aside.map((index) => values[index]!));
    if (larger <= exponent) return false;
    exponent = larger;
  }
  return false;
}

/**
 * The reverse of `writeDecimals` for `count` values, with the function that reads the whole numbers: older
 * blocks have them in another form.
 */
export function readDecimals(
  reader: ByteReader,
  count: number,
  readWholes: (reader: ByteReader, count: number) => Float64Array,
): Float64Array {
  const power = powers[reader.u8()];
  if (power === undefined) throw new Malformed("an exponent above 22");
  const asideCount = reader.varint();
  if (asideCount > count) throw new Malformed(`${asideCount} values aside`);
  const aside: { index: number; value: number }[] = [];
  let index = 0;
  while (aside.length < asideCount) {
    index += reader.varint();
    aside.push({ index, value: reader.f64() });
  }
  const values = readWholes(reader, count);
  if (power !== 1) for (let at = 0; at < count; at++) values[at] = values[at]! / power;
  for (const one of aside) values[one.index] = one.value;
  return values;
}

function writeScaled(values: Float64Array, exponent: number, decimals: Decimals, writer: ByteWriter): void {
  writer.u8(exponent);
  writer.varint(decimals.aside.length);
  let last = 0;
  for (const index of decimals.aside) {
    writer.varint(index - last);
    writer.f64(values[index]!);
    last = index;
  }
  writeColumn(decimals.wholes, writer);
}

function sampleOf(values: Float64Array): number[] {
  const apart = Math.max(1, Math.floor(values.length / sampleSize));
  const sample: number[] = [];
  for (let index = 0; index < values.length; index += apart) sample.push(values[index]!);
  return sample;
}

/** The smallest exponent for all of the sample that are decimals, -1 when most of it are not. */
function exponentOf(sample: readonly number[]): number {
  let exponent = 0;
  let others = 0;
  for (const value of sample) {
    let wanted = exponent;
    while (wanted < powers.length && !isDecimal(value, powers[wanted]!)) wanted++;
    if (wanted === powers.length) others++;
    else exponent = wanted;
  }
  return others * 2 > sample.length ? -1 : exponent;
}

function isDecimal(value: number, power: number): boolean {
  const whole = value * power + rounder - rounder;
  return whole / power === value && Math.abs(whole) <= integerMax && !Object.is(value, -0);
}

/** All values as whole numbers, giving up with more than `asideMax` others; these repeat their neighbour. */
function scale(values: Float64Array, exponent: number, asideMax: number): Decimals {
  const power = powers[exponent]!;
  const count = values.length;
  const wholes = new Float64Array(count);
  const aside: number[] = [];
  let last = 0;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    const whole = value * power + rounder - rounder;
    const isWhole = whole / power === value && whole <= integerMax && whole >= -integerMax;
    if (isWhole && (whole !== 0 || !Object.is(value, -0))) last = whole;
    else if (aside.push(index) > asideMax) break;
    wholes[index] = last;
  }
  return { wholes, aside };
}
