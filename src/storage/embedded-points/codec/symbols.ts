// Small whole numbers in about as many bits as their distribution takes: tabled asymmetric numeral systems.
//
// The layout is in FORMAT.md ("Symbols"). The writer goes from the last symbol to the first and the reader
// takes the bits from their end, so that it meets the symbols in order.
import { BitReader, BitWriter, readWords } from "./bits.ts";
import { type ByteReader, type ByteWriter, Malformed } from "./bytes.ts";
import { unzstd, zstd } from "./press.ts";

/** Symbols are below this. */
export const symbolsMax = 256;

/** Says that the symbols went through zstd instead, which finds what recurs. */
const logOfPressed = 0;
/** Says that all symbols are 0. */
const logOfZeros = 1;
/** Zstd is not tried where so few bits are left anyway. */
const symbolsPerBit = 2;
const logMin = 5;
/** The largest table that is written; larger ones gain nothing and leave the fastest cache. */
const logUsed = 11;
const logMax = 12;
const levelMax = 2 * logMax + 1;
/** What a level of a symbol's frequency weighs: half an octave each. */
const weights = Uint32Array.from({ length: levelMax + 1 }, (_, level) =>
  level === 0 ? 0 : Math.floor(Math.sqrt(2 ** (level + 7))),
);

// Tables of one distribution. They are used again by the next: nothing in them outlives a call.
const counts = new Uint32Array(symbolsMax);
const levels = new Uint8Array(symbolsMax);
const frequencies = new Uint32Array(symbolsMax);
const spread = new Uint8Array(2 ** logMax);
const places = new Uint32Array(symbolsMax);
const states = new Uint16Array(2 ** logMax);
const bitsAdded = new Int32Array(symbolsMax);
const stateAdded = new Int32Array(symbolsMax);
/** Of each state: its symbol, above it in 4 bits how many bits to take, above them what to add to these. */
const steps = new Uint32Array(2 ** logMax);

/** Writes the first `count` (1 or more) symbols. */
export function writeSymbols(symbols: Uint8Array, count: number, writer: ByteWriter): void {
  const kinds = countSymbols(symbols, count);
  if (kinds === 1) {
    writer.u8(logOfZeros);
    return;
  }
  const log = Math.min(logUsed, Math.max(logMin, 34 - Math.clz32(kinds), 30 - Math.clz32(count)));
  const out = new BitWriter((count + 1) * log + kinds * 16);
  chooseLevels({ kinds, log, count });
  writeLevels(kinds, out);
  makeSpread(kinds, log);
  makeWriterTables(kinds, log);
  const size = 1 << log;
  let state = size;
  for (let index = count - 1; index >= 0; index--) {
    const symbol = symbols[index]!;
    const bits = (state + bitsAdded[symbol]!) >>> 16;
    out.bits(state & ((1 << bits) - 1), bits);
    state = states[(state >>> bits) + stateAdded[symbol]!]!;
  }
  out.bits(state - size, log);
  const pressed =
    out.length * symbolsPerBit > count && isRepetitive(symbols, count)
      ? zstd(symbols.subarray(0, count))
      : undefined;
  if (pressed !== undefined && pressed.length * 8 < out.length) {
    writer.u8(logOfPressed);
    writer.varint(pressed.length);
    writer.bytes(pressed);
    return;
  }
  writer.u8(log);
  writer.u8(kinds - 1);
  writer.varint(out.length);
  writer.bytes(out.finish());
}

/** The reverse of `writeSymbols` for `count` symbols. */
export function readSymbols(reader: ByteReader, count: number): Uint8Array {
  const log = reader.u8();
  if (log === logOfZeros) return new Uint8Array(count);
  if (log === logOfPressed) return unzstd(reader.bytes(reader.varint()), count);
  const kinds = reader.u8() + 1;
  if (log < logMin || log > logMax || kinds * 2 > 1 << log)
    throw new Malformed(`${kinds} symbols in ${log} bits`);
  const length = reader.varint();
  const words = readWords(reader, Math.ceil(length / 32));
  const start = readLevels(new BitReader(words), kinds);
  makeSpread(kinds, log);
  makeSteps(kinds, log);
  let at = length - log;
  if (at < start) throw new Malformed("the stream of symbols ends early");
  const symbols = new Uint8Array(count);
  let state = bitsFrom(words, at) & ((1 << log) - 1);
  for (let index = 0; index < count; index++) {
    const step = steps[state]!;
    symbols[index] = step;
    const bits = (step >>> 8) & 15;
    at -= bits;
    if (at < start) break;
    state = (step >>> 12) + (bitsFrom(words, at) & ((1 << bits) - 1));
  }
  if (at !== start || state !== 0) throw new Malformed("the stream of symbols ends elsewhere");
  return symbols;
}

const seen = new Uint32Array(4096);
const lookedAt = 4096;

/**
 * Whether half of the sequences of eight symbols were there before. Symbols by chance that take half a bit or
 * more do not repeat themselves for so long.
 */
function isRepetitive(symbols: Uint8Array, count: number): boolean {
  seen.fill(0);
  const end = Math.min(count, lookedAt);
  let repeated = 0;
  let hash = 0;
  for (let index = 0; index < end; index++) {
    // Each symbol leaves the hash after eight shifts by four bits.
    hash = (Math.imul(hash, 16) + Math.imul(symbols[index]! + 1, 0x9e3779b1)) | 0;
    const slot = (hash ^ (hash >>> 15)) & 4095;
    if (seen[slot] === hash >>> 0) repeated++;
    else seen[slot] = hash;
  }
  return repeated * 2 > end;
}

/** The 32 bits from bit `at` on; there is a word behind the last. */
function bitsFrom(words: Uint32Array, at: number): number {
  const word = at >>> 5;
  return (words[word]! >>> (at & 31)) | ((words[word + 1]! << 1) << (31 - (at & 31)));
}

/** Fills `counts`; answers one more than the largest symbol. */
function countSymbols(symbols: Uint8Array, count: number): number {
  counts.fill(0);
  for (let index = 0; index < count; index++) counts[symbols[index]!]!++;
  let kinds = symbolsMax;
  while (counts[kinds - 1] === 0) kinds--;
  return kinds;
}

/** Fills `levels`: 0 for symbols that do not occur, for others about twice the logarithm of their share. */
function chooseLevels({ kinds, log, count }: { kinds: number; log: number; count: number }): void {
  for (let symbol = 0; symbol < kinds; symbol++) {
    const share = counts[symbol]! / count;
    levels[symbol] = share === 0 ? 0 : 1 + Math.max(0, Math.round(2 * (Math.log2(share) + log)));
  }
}

/** Each level as its difference from the one before, which is small where a distribution is smooth. */
function writeLevels(kinds: number, out: BitWriter): void {
  let last = 0;
  for (let symbol = 0; symbol < kinds; symbol++) {
    const change = levels[symbol]! - last;
    out.gamma(change < 0 ? -2 * change - 1 : 2 * change);
    last = levels[symbol]!;
  }
}

/** Fills `levels`; answers how many bits they took. */
function readLevels(bits: BitReader, kinds: number): number {
  let level = 0;
  for (let symbol = 0; symbol < kinds; symbol++) {
    const change = bits.gamma();
    level += change & 1 ? -(change + 1) / 2 : change / 2;
    if (level < 0 || level > levelMax) throw new Malformed(`a level of ${level}`);
    levels[symbol] = level;
  }
  return bits.taken;
}

/** Fills `frequencies`, 2^log in all, and `spread`, which gives every state a symbol. */
function makeSpread(kinds: number, log: number): void {
  const size = 1 << log;
  let [weight, present, heaviest] = [0, 0, 0];
  for (let symbol = 0; symbol < kinds; symbol++) {
    if (levels[symbol] === 0) continue;
    present++;
    weight += weights[levels[symbol]!]!;
    if (levels[symbol]! > levels[heaviest]!) heaviest = symbol;
  }
  if (present === 0) throw new Malformed("no symbols");
  let rest = size;
  for (let symbol = 0; symbol < kinds; symbol++) {
    const level = levels[symbol]!;
    const share = level === 0 ? 0 : 1 + Math.floor((weights[level]! * (size - present)) / weight);
    frequencies[symbol] = share;
    rest -= share;
  }
  frequencies[heaviest]! += rest;
  const apart = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (let symbol = 0; symbol < kinds; symbol++) {
    for (let times = frequencies[symbol]!; times > 0; times--) {
      spread[at] = symbol;
      at = (at + apart) & (size - 1);
    }
  }
}

/** From the states of each symbol, in order, to what the writer adds up. */
function makeWriterTables(kinds: number, log: number): void {
  const size = 1 << log;
  let before = 0;
  for (let symbol = 0; symbol < kinds; symbol++) {
    const frequency = frequencies[symbol]!;
    places[symbol] = before;
    stateAdded[symbol] = before - frequency;
    // A state takes `most` bits, or one less when it is below frequency << most.
    const most = log - 31 + Math.clz32(frequency - 1 || 1);
    bitsAdded[symbol] = (most << 16) - (frequency << most);
    before += frequency;
  }
  for (let state = 0; state < size; state++) states[places[spread[state]!]!++] = size + state;
}

/** Fills `steps`. */
function makeSteps(kinds: number, log: number): void {
  const size = 1 << log;
  for (let symbol = 0; symbol < kinds; symbol++) places[symbol] = frequencies[symbol]!;
  for (let state = 0; state < size; state++) {
    const symbol = spread[state]!;
    const next = places[symbol]!++;
    const bits = log - (31 - Math.clz32(next));
    steps[state] = symbol | (bits << 8) | (((next << bits) - size) << 12);
  }
}
