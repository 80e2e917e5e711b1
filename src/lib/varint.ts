// Writes variable-length integers as protobuf has them: seven bits a byte, the low bits first.

/** No number that is written here takes more bytes. */
export const varintBytesMax = 8;

/** Writes a whole number from 0 to 2^53 at `at` and returns its end. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  let end = at;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes[end++] = (rest % 128) | 128;
  bytes[end] = rest;
  return end + 1;
}
