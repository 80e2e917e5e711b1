// Encodes few distinct numbers, such as states of a machine or steps of a coarse sensor, as indexes.
import { type ByteReader, type ByteWriter, MalformedBlock } from "./bytes.ts";
import { readColumn, writeColumn } from "./column.ts";

const distinctMax = 256;

/** Writes the values. Returns false, and writes nothing, when there are too many distinct ones. */
export function writeDictionary(values: Float64Array, writer: ByteWriter): boolean {
  const indexes = new Map<number, number>();
  const count = values.length;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    // A map does not distinguish 0 and -0.
    if (Object.is(value, -0) || indexes.set(value, 0).size > distinctMax) return false;
  }
  const distinct = Float64Array.from(indexes.keys()).sort();
  for (const [index, value] of distinct.entries()) indexes.set(value, index);
  writer.varint(distinct.length);
  for (const value of distinct) writer.f64(value);
  writeColumn(
    values.map((value) => indexes.get(value)!),
    writer,
  );
  return true;
}

/** The first `wanted` of `count` values that `writeDictionary` wrote. */
export function readDictionary(
  reader: ByteReader,
  { count, wanted }: { readonly count: number; readonly wanted: number },
): Float64Array {
  const distinctCount = reader.varint();
  if (distinctCount > count) throw new MalformedBlock(`${distinctCount} distinct values`);
  const distinct = new Float64Array(distinctCount);
  for (let index = 0; index < distinctCount; index++) distinct[index] = reader.f64();
  const values = readColumn(reader, count, 1, wanted);
  for (let index = 0; index < values.length; index++) {
    const value = distinct[values[index]!];
    if (value === undefined) throw new MalformedBlock(`value ${values[index]} of ${distinctCount}`);
    values[index] = value;
  }
  return values;
}
