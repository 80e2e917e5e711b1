// Encodes the values of a block of strings: each distinct string once, and its index for each point.

import type { Kernels } from "../../kernels.ts";
import { ByteReader, ByteWriter, MalformedBlock } from "./bytes.ts";
import { readColumn, writeColumn } from "./column.ts";
import { type BlockSection, compressSection } from "./compress.ts";

const stringCodec = 16;

export const isStrings = (codec: number): boolean => codec === stringCodec;

/**
 * A JSON string may have half of a surrogate pair, which UTF-8 cannot encode. A block with one uses UTF-16.
 */
const encodings = ["utf8", "utf16le"] as const;

/** Writes one or more strings without loss, also of unpaired surrogates. */
export function writeStrings(values: readonly string[]): BlockSection {
  const indexOf = new Map<string, number>();
  const indexes = new Float64Array(values.length);
  for (const [at, value] of values.entries()) {
    let index = indexOf.get(value);
    if (index === undefined) {
      index = indexOf.size;
      indexOf.set(value, index);
    }
    indexes[at] = index;
  }
  const distinct = [...indexOf.keys()];
  const encoding = distinct.every((value) => value.isWellFormed()) ? 0 : 1;
  const encoded = distinct.map((value) => Buffer.from(value, encodings[encoding]));
  const writer = new ByteWriter();
  writer.u8(encoding);
  writer.u32(distinct.length);
  writeColumn(
    Float64Array.from(encoded, (bytes) => bytes.length),
    writer,
  );
  writeColumn(indexes, writer);
  for (const bytes of encoded) writer.bytes(bytes);
  return compressSection({ codec: stringCodec, bytes: writer.finish() });
}

/** The reverse of `writeStrings` for `count` values. */
export function readStrings({ bytes }: BlockSection, count: number, kernels: Kernels): string[] {
  const reader = new ByteReader(bytes, kernels);
  const encoding = encodings[reader.u8()];
  const distinct = reader.u32();
  if (encoding === undefined || distinct === 0 || distinct > count)
    throw new MalformedBlock("an impossible dictionary of strings");
  const lengths = readColumn(reader, distinct);
  const indexes = readColumn(reader, count);
  const strings = Array.from(lengths, (length) => Buffer.from(reader.bytes(length)).toString(encoding));
  reader.end();
  return Array.from(indexes, (index) => {
    const value = strings[index];
    if (value === undefined) throw new MalformedBlock(`string ${index} of ${distinct}`);
    return value;
  });
}
