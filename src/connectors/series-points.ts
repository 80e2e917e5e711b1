// The points of a request: those of each series together, in the order in which they arrived, and as JSON.
//
// An outage of an hour leaves millions of points, so they stay in columns and are written as bytes: a string
// for each point took most of the connector's time.
import { BufferWriter, BytesLiteral } from "../lib/buffer-writer.ts";
import { numberBytesMax, writeNumber } from "../lib/number-text.ts";
import { decodeNumbers, decodeStrings } from "./point-columns.ts";

/** The points of one series, at least one. */
export interface PointsOfSeries {
  /** The buffer's id of the series. */
  readonly series: number;
  readonly times: Float64Array;
  readonly values: Float64Array | readonly string[];
}

/** From the bodies of entries with numbers. */
export function numbersBySeries(bodies: readonly Uint8Array[]): PointsOfSeries[] {
  const entries = bodies.map(decodeNumbers);
  let largest = 0;
  for (const { series } of entries)
    for (let i = 0; i < series.length; i += 1) if (series[i]! > largest) largest = series[i]!;
  const ends = new Uint32Array(largest + 1);
  for (const { series } of entries) for (let i = 0; i < series.length; i += 1) ends[series[i]!]! += 1;
  let count = 0;
  const ids: number[] = [];
  for (let id = 0; id <= largest; id += 1) {
    const own = ends[id]!;
    if (own > 0) ids.push(id);
    ends[id] = count;
    count += own;
  }
  const [sortedTimes, sortedValues] = [new Float64Array(count), new Float64Array(count)];
  for (const { series, times, values } of entries)
    for (let i = 0; i < series.length; i += 1) {
      const to = ends[series[i]!]!++;
      sortedTimes[to] = times[i]!;
      sortedValues[to] = values[i]!;
    }
  return ids.map((series, at) => {
    const [from, to] = [at === 0 ? 0 : ends[ids[at - 1]!]!, ends[series]!];
    return { series, times: sortedTimes.subarray(from, to), values: sortedValues.subarray(from, to) };
  });
}

/** From the bodies of entries with strings. */
export function stringsBySeries(bodies: readonly Uint8Array[]): PointsOfSeries[] {
  const bySeries = Map.groupBy(bodies.flatMap(decodeStrings), ([series]) => series);
  return [...bySeries].map(([series, points]) => ({
    series,
    times: Float64Array.from(points, ([, time]) => time),
    values: points.map(([, , value]) => value),
  }));
}

const literals = {
  name: new BytesLiteral('{"name":'),
  points: new BytesLiteral(',"datapoints":['),
  time: new BytesLiteral('{"timestamp":'),
  value: new BytesLiteral(',"value":'),
};
const [comma, closingBrace] = [44, 125];
/** A usual point takes less. */
const bytesOfPoint = 48;

export interface NamedPoints extends Pick<PointsOfSeries, "times" | "values"> {
  readonly name: string;
}

/** The body of an insert. */
export function insertBody(batch: readonly NamedPoints[]): Uint8Array<ArrayBuffer> {
  const writer = new BufferWriter();
  writer.ensure(batch.reduce((sum, { times }) => sum + bytesOfPoint * (1 + times.length), 64));
  writer.string('{"items":[');
  for (const [at, { name, times, values }] of batch.entries()) {
    if (at > 0) writer.byte(comma);
    writer.literal(literals.name);
    writer.jsonString(name);
    writer.literal(literals.points);
    writePoints(writer, times, values);
    writer.string("]}");
  }
  writer.string("]}");
  return writer.takeWritten() as Uint8Array<ArrayBuffer>;
}

function writePoints(writer: BufferWriter, times: Float64Array, values: NamedPoints["values"]): void {
  for (let i = 0; i < times.length; i += 1) {
    if (i > 0) writer.byte(comma);
    writer.literal(literals.time);
    writeDouble(writer, times[i]!);
    writer.literal(literals.value);
    const value = values[i]!;
    if (typeof value === "number") writeDouble(writer, value);
    else writer.jsonString(value);
    writer.byte(closingBrace);
  }
}

function writeDouble(writer: BufferWriter, value: number): void {
  writer.ensure(numberBytesMax);
  writer.at = writeNumber(writer.view, writer.at, value);
}
