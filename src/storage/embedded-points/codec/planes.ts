// Numbers as they lie in memory, or as eight planes: the first bytes of all of them, then the second, ...
//
// Neighbours differ least in sign and exponent, so in planes these stand together and zstd finds them.

const numberBytes = 8;

export const rawBytes = (values: Float64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** The numbers of `rawBytes`. */
export function readRaw(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(bytes.length / numberBytes);
  new Uint8Array(values.buffer).set(bytes);
  return values;
}

/** The bytes of the numbers, all first ones before all second ones, and so on: alike ones stand together. */
export function planesOf(values: Float64Array): Uint8Array {
  const raw = rawBytes(values);
  const planes = new Uint8Array(raw.length);
  for (let plane = 0; plane < numberBytes; plane++) {
    let at = plane * values.length;
    for (let index = plane; index < raw.length; index += numberBytes) planes[at++] = raw[index]!;
  }
  return planes;
}

/** The numbers of `planesOf`. */
export function readPlanes(planes: Uint8Array): Float64Array {
  const values = new Float64Array(planes.length / numberBytes);
  const raw = rawBytes(values);
  for (let plane = 0; plane < numberBytes; plane++) {
    let at = plane * values.length;
    for (let index = plane; index < raw.length; index += numberBytes) raw[index] = planes[at++]!;
  }
  return values;
}
