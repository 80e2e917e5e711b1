// Numbers as f64 in memory order, for values that no other codec makes smaller.
import type { Kernels } from "../../kernels.ts";

const numberBytes = 8;

/** A view of the values' memory. */
export const rawBytes = (values: Float64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** Copies the numbers of `rawBytes`. */
export function readRaw(bytes: Uint8Array, kernels: Kernels): Float64Array {
  const { buffer, byteOffset } = kernels.bytes(bytes);
  return new Float64Array(buffer, byteOffset, bytes.length / numberBytes);
}
