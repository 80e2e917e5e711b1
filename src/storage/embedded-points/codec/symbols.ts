// Encodes small integers with about as many bits as their distribution needs: tabled asymmetric numeral
// systems.
//
// The layout is in FORMAT.md ("Symbols"). The writer goes from the last symbol to the first, and the reader
// takes the bits from their end, so that it gets the symbols in order. Each step of a coder waits for the one
// before it, so long columns have four coders that take turns: the processor runs their steps in parallel.
import { BitWriter } from "./bits.ts";
import { type ByteReader, type ByteWriter, MalformedBlock } from "./bytes.ts";
import { compress, decompress } from "./compress.ts";

/** Symbols are below this. */
export const symbolsMax = 256;

/**
 * In place of the logarithm of the table size: the symbols are compressed with zstd, which uses repetitions.
 */
const logOfCompressed = 0;
/** In place of the logarithm of the table size: all symbols are 0. */
const logOfZeros = 1;
/** zstd is not tried when so few bits are left anyway. */
const symbolsPerBit = 2;
/** Added to the logarithm of the table size when four coders take turns. */
const fourCoders = 16;
/** Three more states take four bytes, which a shorter column does not repay in time. */
const symbolsForFour = 256;
const logMin = 5;
/** The largest table that is written. Larger ones save nothing and exceed the L1 cache. */
const logUsed = 11;
const logMax = 12;
const levelMax = 2 * logMax + 1;
/** The weight of each level of a symbol's frequency: two levels double it. */
const weights = Uint32Array.from({ length: levelMax + 1 }, (_, level) =>
  level === 0 ? 0 : Math.floor(Math.sqrt(2 ** (level + 7))),
);

/** A distribution of symbols over the 2^log states of the coder. */
interface StateTable {
  /** Number of states of each symbol. */
  readonly frequencies: Uint32Array;
  /** The symbol of each state. */
  readonly spread: Uint8Array;
}

/** Writes the first `count` (1 or more) symbols. */
export function writeSymbols(symbols: Uint8Array, count: number, writer: ByteWriter): void {
  const counts = countSymbols(symbols, count);
  const kinds = counts.length;
  if (kinds === 1) {
    writer.u8(logOfZeros);
    return;
  }
  const log = Math.min(logUsed, Math.max(logMin, 34 - Math.clz32(kinds), 30 - Math.clz32(count)));
  const levels = levelsOf(counts, { log, count });
  const coders = count < symbolsForFour ? 1 : 4;
  const out = new BitWriter((count + coders) * log + kinds * 16);
  writeLevels(levels, out);
  encodeSteps(symbols.subarray(0, count), coders, writerTablesOf(stateTableOf(levels, log), log), out);
  const compressed =
    out.length * symbolsPerBit > count && isRepetitive(symbols, count)
      ? compress(symbols.subarray(0, count))
      : undefined;
  if (compressed !== undefined && compressed.length * 8 < out.length) {
    writer.u8(logOfCompressed);
    writer.varint(compressed.length);
    writer.bytes(compressed);
    return;
  }
  writer.u8(coders === 1 ? log : log + fourCoders);
  writer.u8(kinds - 1);
  writer.varint(out.length);
  writer.bytes(out.finish());
}

/** The first `wanted` of `count` symbols that `writeSymbols` wrote. */
export function readSymbols(
  reader: ByteReader,
  { count, wanted }: { readonly count: number; readonly wanted: number },
): Uint8Array {
  const form = reader.u8();
  if (form === logOfZeros) return reader.kernels.bytes(new Uint8Array(wanted));
  if (form === logOfCompressed)
    return reader.kernels.bytes(decompress(reader.bytes(reader.varint()), count).subarray(0, wanted));
  const coders = form < fourCoders ? 1 : 4;
  const log = coders === 1 ? form : form - fourCoders;
  const kinds = reader.u8() + 1;
  if (log < logMin || log > logMax || kinds * 2 > 1 << log)
    throw new MalformedBlock(`${kinds} symbols in ${log} bits`);
  const end = reader.varint();
  const bits = reader.bytes(Math.ceil(end / 32) * 4);
  const { symbols, outcome } = reader.kernels.decodeSymbols({ bits, end, kinds, log, coders }, wanted);
  const isRight = outcome === "exact" || (wanted < count && outcome === "ends elsewhere");
  if (!isRight) throw new MalformedBlock(`the stream of symbols ${outcome}`);
  return symbols;
}

/** Writes the bits of all symbols and the states in which the reader starts, the first coder's last. */
function encodeSteps(symbols: Uint8Array, coders: 1 | 4, tables: WriterTables, out: BitWriter): void {
  const { states, bitsAdded, stateAdded } = tables;
  const size = states.length;
  const log = 31 - Math.clz32(size);
  const current = new Int32Array(coders).fill(size);
  const count = symbols.length;
  const grouped = coders === 1 ? 0 : count & ~3;
  let index = count;
  while (index > grouped) {
    const symbol = symbols[--index]!;
    const coder = index & (coders - 1);
    const state = current[coder]!;
    const bits = (state + bitsAdded[symbol]!) >>> 16;
    out.bits(state & ((1 << bits) - 1), bits);
    current[coder] = states[(state >>> bits) + stateAdded[symbol]!]!;
  }
  if (coders === 4) encodeGroups(symbols.subarray(0, grouped), current, tables, out);
  for (let coder = coders - 1; coder >= 0; coder--) out.bits(current[coder]! - size, log);
}
/** `encodeSteps` for symbols whose number is a multiple of four. */
function encodeGroups(
  symbols: Uint8Array,
  current: Int32Array,
  { states, bitsAdded, stateAdded }: WriterTables,
  out: BitWriter,
): void {
  let [a, b, c, d] = [current[0]!, current[1]!, current[2]!, current[3]!];
  for (let index = symbols.length - 4; index >= 0; index -= 4) {
    const symbolD = symbols[index + 3]!;
    const symbolC = symbols[index + 2]!;
    const symbolB = symbols[index + 1]!;
    const symbolA = symbols[index]!;
    const bitsD = (d + bitsAdded[symbolD]!) >>> 16;
    const bitsC = (c + bitsAdded[symbolC]!) >>> 16;
    const bitsB = (b + bitsAdded[symbolB]!) >>> 16;
    const bitsA = (a + bitsAdded[symbolA]!) >>> 16;
    out.bits((d & ((1 << bitsD) - 1)) | ((c & ((1 << bitsC) - 1)) << bitsD), bitsD + bitsC);
    out.bits((b & ((1 << bitsB) - 1)) | ((a & ((1 << bitsA) - 1)) << bitsB), bitsB + bitsA);
    d = states[(d >>> bitsD) + stateAdded[symbolD]!]!;
    c = states[(c >>> bitsC) + stateAdded[symbolC]!]!;
    b = states[(b >>> bitsB) + stateAdded[symbolB]!]!;
    a = states[(a >>> bitsA) + stateAdded[symbolA]!]!;
  }
  current.set([a, b, c, d]);
}

const hashSlots = 4096;
const sampledSymbols = 4096;

/**
 * Whether half of the sequences of eight symbols occurred before. Random symbols of half a bit or more do not
 * repeat for so long.
 */
function isRepetitive(symbols: Uint8Array, count: number): boolean {
  const seen = new Uint32Array(hashSlots);
  const end = Math.min(count, sampledSymbols);
  let repeated = 0;
  let hash = 0;
  for (let index = 0; index < end; index++) {
    // A symbol has left the hash after eight shifts by four bits.
    hash = (Math.imul(hash, 16) + Math.imul(symbols[index]! + 1, 0x9e3779b1)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (hashSlots - 1);
    if (seen[slot] === hash >>> 0) repeated++;
    else seen[slot] = hash;
  }
  return repeated * 2 > end;
}

/** How often each symbol occurs, up to the largest one that does. */
function countSymbols(symbols: Uint8Array, count: number): Uint32Array {
  const counts = new Uint32Array(symbolsMax);
  for (let index = 0; index < count; index++) counts[symbols[index]!]!++;
  let kinds = symbolsMax;
  while (counts[kinds - 1] === 0) kinds--;
  return counts.subarray(0, kinds);
}

/** The level of each symbol: 0 if it does not occur, else about twice the logarithm of its share. */
function levelsOf(counts: Uint32Array, { log, count }: { log: number; count: number }): Uint8Array {
  const levels = new Uint8Array(counts.length);
  for (let symbol = 0; symbol < levels.length; symbol++) {
    const share = counts[symbol]! / count;
    levels[symbol] = share === 0 ? 0 : 1 + Math.max(0, Math.round(2 * (Math.log2(share) + log)));
  }
  return levels;
}

/** Writes each level as its difference from the one before, which is small for a smooth distribution. */
function writeLevels(levels: Uint8Array, out: BitWriter): void {
  let last = 0;
  for (const level of levels) {
    const change = level - last;
    out.gamma(change < 0 ? -2 * change - 1 : 2 * change);
    last = level;
  }
}

/** Distributes the 2^log states over the symbols by their levels. */
function stateTableOf(levels: Uint8Array, log: number): StateTable {
  const size = 1 << log;
  const frequencies = frequenciesOf(levels, size);
  const spread = new Uint8Array(size);
  const apart = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (let symbol = 0; symbol < frequencies.length; symbol++) {
    for (let times = frequencies[symbol]!; times > 0; times--) {
      spread[at] = symbol;
      at = (at + apart) & (size - 1);
    }
  }
  return { frequencies, spread };
}

/** The number of states of each symbol, `size` in all. */
function frequenciesOf(levels: Uint8Array, size: number): Uint32Array {
  const frequencies = new Uint32Array(levels.length);
  let [weight, present, heaviest] = [0, 0, 0];
  for (let symbol = 0; symbol < levels.length; symbol++) {
    if (levels[symbol] === 0) continue;
    present++;
    weight += weights[levels[symbol]!]!;
    if (levels[symbol]! > levels[heaviest]!) heaviest = symbol;
  }
  let rest = size;
  for (let symbol = 0; symbol < levels.length; symbol++) {
    const level = levels[symbol]!;
    const share = level === 0 ? 0 : 1 + Math.floor((weights[level]! * (size - present)) / weight);
    frequencies[symbol] = share;
    rest -= share;
  }
  frequencies[heaviest]! += rest;
  return frequencies;
}

interface WriterTables {
  /** The states of each symbol in order, one symbol after another. */
  readonly states: Uint16Array;
  /** For each symbol, the number to add to a state so that its upper half is the number of bits to write. */
  readonly bitsAdded: Int32Array;
  /** For each symbol, the number to add to the rest of a state to get an index into `states`. */
  readonly stateAdded: Int32Array;
}

function writerTablesOf({ frequencies, spread }: StateTable, log: number): WriterTables {
  const size = 1 << log;
  const kinds = frequencies.length;
  const positions = new Uint32Array(kinds);
  const states = new Uint16Array(size);
  const bitsAdded = new Int32Array(kinds);
  const stateAdded = new Int32Array(kinds);
  let before = 0;
  for (let symbol = 0; symbol < kinds; symbol++) {
    const frequency = frequencies[symbol]!;
    positions[symbol] = before;
    stateAdded[symbol] = before - frequency;
    // A state takes `most` bits, or one less when it is below frequency << most.
    const most = log - 31 + Math.clz32(frequency - 1 || 1);
    bitsAdded[symbol] = (most << 16) - (frequency << most);
    before += frequency;
  }
  for (let state = 0; state < size; state++) states[positions[spread[state]!]!++] = size + state;
  return { states, bitsAdded, stateAdded };
}
