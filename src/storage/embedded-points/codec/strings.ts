// The value column of a block of strings: each distinct string once, and for each point which one it has.
import { ByteReader, ByteWriter, Malformed } from "./bytes.ts";
import { readColumn, writeColumn } from "./column.ts";
import { pressSection, type Section } from "./press.ts";

const stringCodec = 16;

export const isStrings = (codec: number): boolean => codec === stringCodec;

/** UTF-8 cannot hold half of a surrogate pair, which a JSON string may; a block with one uses UTF-16. */
const encodings = ["utf8", "utf16le"] as const;

/** Writes one or more strings; they come back unit for unit. */
export function writeStrings(values: readonly string[]): Section {
  const places = new Map<string, number>();
  const indexes = new Float64Array(values.length);
  for (const [at, value] of values.entries()) {
    let place = places.get(value);
    if (place === undefined) {
      place = places.size;
      places.set(value, place);
    }
    indexes[at] = place;
  }
  const distinct = [...places.keys()];
  const encoding = distinct.every((value) => value.isWellFormed()) ? 0 : 1;
  const texts = distinct.map((value) => Buffer.from(value, encodings[encoding]));
  const writer = new ByteWriter();
  writer.u8(encoding);
  writer.u32(distinct.length);
  writeColumn(
    Float64Array.from(texts, (text) => text.length),
    writer,
  );
  writeColumn(indexes, writer);
  for (const text of texts) writer.bytes(text);
  return pressSection({ codec: stringCodec, bytes: writer.finish() });
}

/** The reverse of `writeStrings` for `count` values. */
export function readStrings({ bytes }: Section, count: number): string[] {
  const reader = new ByteReader(bytes);
  const encoding = encodings[reader.u8()];
  const distinct = reader.u32();
  if (encoding === undefined || distinct === 0 || distinct > count) throw new Malformed("no such dictionary");
  const lengths = readColumn(reader, distinct);
  const indexes = readColumn(reader, count);
  const texts = Array.from(lengths, (length) => Buffer.from(reader.bytes(length)).toString(encoding));
  reader.end();
  return Array.from(indexes, (index) => {
    const text = texts[index];
    if (text === undefined) throw new Malformed(`string ${index} of ${distinct}`);
    return text;
  });
}
