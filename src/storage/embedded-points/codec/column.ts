// Encodes a column of integers as the residuals of a prediction, each a symbol and raw bits.
//
// The layout is in FORMAT.md ("Columns"). The integers are within 2^50 of zero, so that residuals are exact
// in a double.
import { freeChunk } from "../../../lib/free-memory.ts";
import { firstAtOrAfter } from "../../point-columns.ts";
import { pack, packedWords, readPacked } from "./bit-packing.ts";
import { type ByteReader, type ByteWriter, MalformedBlock } from "./bytes.ts";
import { choosePredictor, predictors } from "./predictor.ts";
import { readSymbols, symbolsMax, writeSymbols } from "./symbols.ts";

/** Largest magnitude of a number in a column. */
export const integerMax = 2 ** 50;

const rawBitsMax = 52;
/**
 * Each symbol costs a few bits in the table, so short columns have few symbols and very short ones a single
 * one.
 */
const numbersPerSymbol = 16;
const numbersForSymbols = 96;
const sampleSize = 128;
/** Cost of a residual outside of the range, besides its own bits. */
const outsideBits = 16;

/**
 * Residuals in [base, base + 2^(rawBits) * symbols) are stored as a symbol and raw bits, those outside in
 * full.
 */
interface SymbolRange {
  readonly base: number;
  readonly rawBits: number;
  readonly symbols: number;
}

/** Residuals as they are stored: base + symbol * 2^rawBits + raw bits, those outside of the range in full. */
interface Residuals {
  readonly base: number;
  readonly rawBits: number;
  readonly symbols: Uint8Array;
  /** The low 32 raw bits of each. */
  readonly low: Uint32Array;
  /** The other raw bits. */
  readonly high: Uint32Array;
  readonly outside: readonly { readonly index: number; readonly residual: number }[];
}

/** A column that starts within this and whose residuals sum up to no more is calculated with 32 bits. */
const smallFirstMax = 2 ** 26;
const smallSumMax = 2 ** 29;

/** The id of no prediction, for columns in which no number predicts the next. */
export const unpredicted = 0;

/** Writes a column of one or more numbers, with the best predictor unless `choice` is passed. */
export function writeColumn(
  column: Float64Array,
  writer: ByteWriter,
  choice = choosePredictor(column),
): void {
  const { first, residualsOf } = predictors[choice]!;
  writer.u8(choice);
  for (let index = 0; index < first; index++) writer.zigzag(column[index]!);
  const residuals = residualsOf(column);
  if (residuals.length > 0) writeResiduals(residuals, writer);
  if (residuals !== column) freeChunk(residuals);
}

/**
 * The reverse of `writeColumn` for a column of `count` numbers; returns the first `wanted` of them, each
 * divided by `divisor`.
 */
export function readColumn(reader: ByteReader, count: number, divisor = 1, wanted = count): Float64Array {
  const predictor = predictors[reader.u8()];
  if (predictor === undefined || predictor.first > count) throw new MalformedBlock("no such predictor");
  const { kernels } = reader;
  const column = kernels.column(Math.min(count, Math.max(wanted, predictor.first + 1)));
  for (let index = 0; index < predictor.first; index++) column[index] = reader.zigzag();
  if (count === predictor.first) {
    divide(column, divisor);
    return column;
  }
  const [all, used] = [count - predictor.first, column.length - predictor.first];
  const residuals = readResiduals(reader, { count: all, wanted: used });
  if (
    predictor.restoreSmall !== undefined &&
    (predictor.first === 0 || Math.abs(column[0]!) <= smallFirstMax) &&
    residuals.symbols.length * largestOf(residuals) <= smallSumMax
  ) {
    const small = kernels.smallResiduals(residuals);
    for (const { index, residual } of residuals.outside) small[index] = residual;
    predictor.restoreSmall(kernels, { residuals: small, column, divisor });
    return column;
  }
  fillResiduals(residuals, column.subarray(predictor.first));
  predictor.restore(column);
  divide(column, divisor);
  return column;
}

function divide(column: Float64Array, divisor: number): void {
  if (divisor === 1) return;
  const count = column.length;
  for (let index = 0; index < count; index++) column[index] = column[index]! / divisor;
}

function writeResiduals(residuals: Float64Array, writer: ByteWriter): void {
  const { base, rawBits, symbols: symbolCount } = chooseRange(residuals);
  const count = residuals.length;
  const part = 2 ** -rawBits;
  const symbols = new Uint8Array(count);
  const outside: number[] = [];
  let last = 0;
  for (let index = 0; index < count; index++) {
    const symbol = Math.floor((residuals[index]! - base) * part);
    if (symbol >= 0 && symbol < symbolCount) last = symbol;
    else outside.push(index);
    symbols[index] = last;
  }
  writer.u8(rawBits);
  writer.zigzag(base);
  writer.varint(outside.length);
  let before = 0;
  for (const index of outside) {
    writer.varint(index - before);
    writer.zigzag(residuals[index]!);
    before = index;
  }
  writeSymbols(symbols, count, writer);
  if (rawBits > 0) writeRawBits(residuals, symbols, { base, rawBits }, writer);
  freeChunk(symbols);
}

/** The first `wanted` residuals. */
function readResiduals(
  reader: ByteReader,
  { count, wanted }: { readonly count: number; readonly wanted: number },
): Residuals {
  const rawBits = reader.u8();
  if (rawBits > rawBitsMax) throw new MalformedBlock(`${rawBits} raw bits`);
  const base = reader.zigzag();
  const outsideCount = reader.varint();
  if (outsideCount > count) throw new MalformedBlock(`${outsideCount} numbers outside`);
  const outside: { index: number; residual: number }[] = [];
  for (let at = 0, index = 0; at < outsideCount; at++) {
    index += reader.varint();
    const residual = reader.zigzag();
    if (index < wanted) outside.push({ index, residual });
  }
  const symbols = readSymbols(reader, { count, wanted });
  const lowBits = Math.min(rawBits, 32);
  const low = readPacked(reader, { count, wanted }, lowBits);
  const high = readPacked(reader, { count, wanted }, rawBits - lowBits);
  return { base, rawBits, symbols, low, high, outside };
}

/** The largest magnitude of a residual that the range allows, or of one outside. */
function largestOf({ base, rawBits, outside }: Residuals): number {
  const largest = Math.max(Math.abs(base), Math.abs(base + symbolsMax * 2 ** rawBits));
  return outside.reduce((max, { residual }) => Math.max(max, Math.abs(residual)), largest);
}

function fillResiduals(
  { base, rawBits, symbols, low, high, outside }: Residuals,
  residuals: Float64Array,
): void {
  const scale = 2 ** rawBits;
  const count = symbols.length;
  if (rawBits === 0) for (let index = 0; index < count; index++) residuals[index] = base + symbols[index]!;
  else
    for (let index = 0; index < count; index++)
      residuals[index] = base + symbols[index]! * scale + low[index]!;
  if (rawBits > 32) for (let index = 0; index < count; index++) residuals[index]! += high[index]! * 2 ** 32;
  for (const { index, residual } of outside) residuals[index] = residual;
}

/**
 * Writes the low 32 raw bits of all residuals, then the higher ones. Those of residuals outside are
 * arbitrary.
 */
function writeRawBits(
  residuals: Float64Array,
  symbols: Uint8Array,
  { base, rawBits }: Pick<SymbolRange, "base" | "rawBits">,
  writer: ByteWriter,
): void {
  const count = residuals.length;
  const scale = 2 ** rawBits;
  const [lowBits, highBits] = [Math.min(rawBits, 32), Math.max(rawBits - 32, 0)];
  const low = new Uint32Array(count);
  const high = new Uint32Array(highBits > 0 ? count : 0);
  for (let index = 0; index < count; index++) {
    const raw = residuals[index]! - base - symbols[index]! * scale;
    if (raw < 0 || raw >= scale) continue;
    low[index] = raw;
    if (highBits > 0) high[index] = raw / 2 ** 32;
  }
  const between = packedWords(count, lowBits);
  const words = new Uint32Array(between + packedWords(count, highBits));
  pack(low, count, lowBits, { words, at: 0 });
  pack(high, count, highBits, { words, at: between });
  writer.bytes(new Uint8Array(words.buffer));
  for (const used of [low, high, words]) freeChunk(used);
}

/**
 * Few raw bits let symbols follow the distribution closely; many let them cover a wide range. Where
 * neighbouring numbers are about equally likely, raw bits lose nothing, so the range usually covers all
 * numbers.
 */
function chooseRange(residuals: Float64Array): SymbolRange {
  const { min, max } = rangeOf(residuals);
  const count = residuals.length;
  const fair = 2 ** Math.round(Math.log2(count / numbersPerSymbol));
  const symbols = count < numbersForSymbols ? 1 : Math.min(symbolsMax, fair);
  const whole = rawBitsFor(max - min + 1, symbols);
  if (whole === 0) return { base: min, rawBits: 0, symbols };
  const sample = sampleOf(residuals).sort();
  const at = (part: number): number => sample[Math.floor(part * sample.length)]!;
  const width = at(0.9) - at(0.1) + 1;
  const bitsInside = (rawBits: number): number => (symbols === 1 ? rawBits : Math.log2(width + 2 ** rawBits));
  let best = { base: min, rawBits: whole, symbols };
  let leastBits = bitsInside(whole);
  for (let rawBits = 0; rawBits < whole; rawBits++) {
    const covered = symbols * 2 ** rawBits;
    const base = Math.max(min, at(0.5) - Math.floor(covered / 2));
    const outside = sample.length - firstAtOrAfter(sample, base + covered) + firstAtOrAfter(sample, base);
    const bitsOutside = (outside / sample.length) * (outsideBits + Math.log2(max - min));
    const bits = bitsInside(rawBits) + bitsOutside;
    if (bits < leastBits) {
      leastBits = bits;
      best = { base, rawBits, symbols };
    }
  }
  return best;
}

function rangeOf(residuals: Float64Array): { min: number; max: number } {
  let min = Infinity;
  let max = -Infinity;
  const count = residuals.length;
  for (let index = 0; index < count; index++) {
    const residual = residuals[index]!;
    if (residual < min) min = residual;
    if (residual > max) max = residual;
  }
  return { min, max };
}

/** The number of raw bits with which `range` different numbers need at most `symbols` symbols. */
const rawBitsFor = (range: number, symbols: number): number =>
  range <= symbols ? 0 : Math.ceil(Math.log2(range / symbols));

function sampleOf(residuals: Float64Array): Float64Array {
  const apart = Math.max(1, Math.floor(residuals.length / sampleSize));
  const sample = new Float64Array(Math.floor(residuals.length / apart));
  for (let index = 0; index < sample.length; index++) sample[index] = residuals[index * apart]!;
  return sample;
}
