// Numbers as they lie in memory, or, in older blocks, as eight planes: the first bytes of all of them, then
// the second, ...

const numberBytes = 8;

export const rawBytes = (values: Float64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** The numbers of `rawBytes`. */
export function readRaw(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(bytes.length / numberBytes);
  new Uint8Array(values.buffer).set(bytes);
  return values;
}

/** The numbers of eight planes. */
export function readPlanes(planes: Uint8Array): Float64Array {
  const values = new Float64Array(planes.length / numberBytes);
  const raw = rawBytes(values);
  for (let plane = 0; plane < numberBytes; plane++) {
    let at = plane * values.length;
    for (let index = plane; index < raw.length; index += numberBytes) raw[index] = planes[at++]!;
  }
  return values;
}
