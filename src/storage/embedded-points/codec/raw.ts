// Numbers as f64 in memory order, for values that no other codec makes smaller.

const numberBytes = 8;

/** A view of the values' memory. */
export const rawBytes = (values: Float64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** Copies the numbers of `rawBytes`. */
export function readRaw(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(bytes.length / numberBytes);
  new Uint8Array(values.buffer).set(bytes);
  return values;
}
