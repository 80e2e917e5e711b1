// Numbers as the bits in which each differs from the one before it.
//
// After the first value: a bit 0 for an equal value; 1 0 and the bits inside the last window; or 1 1, five
// bits of leading zeros, six bits of length - 1 and as many bits, which become the window.
import { BitReader, BitWriter, readWords } from "./bits.ts";
import { ByteReader, type ByteWriter, Malformed } from "./bytes.ts";

/** Writes the values as whole 32-bit words of a stream of bits, low bits first. */
export function writeXor(values: Float64Array, writer: ByteWriter): void {
  const halves = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  // 64 bits of each value, and 13 that say where.
  const out = new BitWriter(values.length * 77);
  let [lastLow, lastHigh] = [halves[0]!, halves[1]!];
  out.bits(lastLow, 32);
  out.bits(lastHigh, 32);
  // No window yet: nothing fits into one without bits.
  let [leading, trailing] = [64, 64];
  for (let index = 2; index < halves.length; index += 2) {
    const low = halves[index]! ^ lastLow;
    const high = halves[index + 1]! ^ lastHigh;
    lastLow = halves[index]!;
    lastHigh = halves[index + 1]!;
    if (low === 0 && high === 0) {
      out.bits(0, 1);
      continue;
    }
    const nowLeading = Math.min(31, high === 0 ? 32 + Math.clz32(low) : Math.clz32(high));
    const nowTrailing = low === 0 ? 32 + trailingZeros(high) : trailingZeros(low);
    if (nowLeading >= leading && nowTrailing >= trailing) {
      out.bits(0b01, 2);
    } else {
      [leading, trailing] = [nowLeading, nowTrailing];
      out.bits(0b11 | (leading << 2) | ((63 - leading - trailing) << 7), 13);
    }
    writeWindow(out, { low, high }, trailing, 64 - leading - trailing);
  }
  writer.bytes(out.finish());
}

/** The reverse of `writeXor` for `count` values. */
export function readXor(reader: ByteReader, count: number): Float64Array {
  const stream = reader.rest();
  const bits = new BitReader(readWords(new ByteReader(stream), stream.length >> 2));
  const values = new Float64Array(count);
  const halves = new Uint32Array(values.buffer);
  let low = bits.take(32);
  let high = bits.take(32);
  halves[0] = low;
  halves[1] = high;
  let [length, trailing] = [0, 0];
  for (let index = 2; index < halves.length; index += 2) {
    if (bits.take(1) === 1) {
      if (bits.take(1) === 1) {
        const leading = bits.take(5);
        length = bits.take(6) + 1;
        trailing = 64 - leading - length;
        if (trailing < 0) throw new Malformed("a window wider than a number");
      }
      const windowLow = bits.take(Math.min(length, 32));
      const windowHigh = length > 32 ? bits.take(length - 32) : 0;
      low ^= trailing >= 32 ? 0 : windowLow << trailing;
      if (trailing === 0) high ^= windowHigh;
      else if (trailing >= 32) high ^= windowLow << (trailing - 32);
      else high ^= (windowLow >>> (32 - trailing)) | (windowHigh << trailing);
    }
    halves[index] = low;
    halves[index + 1] = high;
  }
  return values;
}

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

/** Writes `length` bits of a 64-bit difference above its `trailing` zeros. */
function writeWindow(
  out: BitWriter,
  { low, high }: { low: number; high: number },
  trailing: number,
  length: number,
): void {
  let [first, second] = [low, high];
  if (trailing >= 32) [first, second] = [high >>> (trailing - 32), 0];
  else if (trailing > 0)
    [first, second] = [(low >>> trailing) | (high << (32 - trailing)), high >>> trailing];
  out.bits(first, Math.min(length, 32));
  if (length > 32) out.bits(second, length - 32);
}
