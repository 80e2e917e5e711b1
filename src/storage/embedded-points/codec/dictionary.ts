// Numbers of which there are few, such as the states of a machine or the steps of a coarse sensor.
import { type ByteReader, type ByteWriter, Malformed } from "./bytes.ts";
import { readColumn, writeColumn } from "./column.ts";

const distinctMax = 256;

/** Writes the values, or nothing and returns false when there are too many different ones. */
export function writeDictionary(values: Float64Array, writer: ByteWriter): boolean {
  const places = new Map<number, number>();
  const count = values.length;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    // To a map, 0 and -0 are the same.
    if (Object.is(value, -0) || places.set(value, 0).size > distinctMax) return false;
  }
  const distinct = Float64Array.from(places.keys()).sort();
  for (const [place, value] of distinct.entries()) places.set(value, place);
  writer.varint(distinct.length);
  for (const value of distinct) writer.f64(value);
  writeColumn(
    values.map((value) => places.get(value)!),
    writer,
  );
  return true;
}

/** The reverse of `writeDictionary` for `count` values. */
export function readDictionary(reader: ByteReader, count: number): Float64Array {
  const distinctCount = reader.varint();
  if (distinctCount > count) throw new Malformed(`${distinctCount} different values`);
  const distinct = new Float64Array(distinctCount);
  for (let place = 0; place < distinctCount; place++) distinct[place] = reader.f64();
  const values = readColumn(reader, count);
  for (let index = 0; index < count; index++) {
    const value = distinct[values[index]!];
    if (value === undefined) throw new Malformed(`value ${values[index]} of ${distinctCount}`);
    values[index] = value;
  }
  return values;
}
