// Numbers as the bits in which each differs from the one before it, as older blocks have them.
//
// After the first value: a bit 0 for an equal value; 1 0 and the bits inside the last window; or 1 1, five
// bits of leading zeros, six bits of length - 1 and as many bits, which become the window.
import { BitReader, readWords } from "./bits.ts";
import { ByteReader, Malformed } from "./bytes.ts";

/** `count` values. */
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
