// The bytes of points in the buffer: columns of series, times and values, 20 bytes for a point with a number.
import { parseJson } from "../lib/json.ts";

/** Points with numbers, in the order in which they arrived. */
export interface NumberColumns {
  /** The ids of series in the buffer. */
  readonly series: Uint32Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** The buffer's id of the series, the time in ms, the string. */
export type StringSourcePoint = readonly [series: number, time: number, value: string];

export function encodeNumbers({ series, times, values }: NumberColumns): Uint8Array {
  const bytes = new Uint8Array(20 * times.length);
  bytes.set(bytesOf(times), 0);
  bytes.set(bytesOf(values), 8 * times.length);
  bytes.set(bytesOf(series), 16 * times.length);
  return bytes;
}

export function decodeNumbers(bytes: Uint8Array): NumberColumns {
  const count = bytes.length / 20;
  // A copy begins at a multiple of eight bytes, which the columns need.
  const { buffer } = Uint8Array.from(bytes);
  return {
    times: new Float64Array(buffer, 0, count),
    values: new Float64Array(buffer, 8 * count, count),
    series: new Uint32Array(buffer, 16 * count, count),
  };
}

export const encodeStrings = (points: readonly StringSourcePoint[]): Uint8Array =>
  Buffer.from(JSON.stringify(points));

export const decodeStrings = (bytes: Uint8Array): StringSourcePoint[] =>
  parseJson(Buffer.from(bytes).toString()) as StringSourcePoint[];

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
