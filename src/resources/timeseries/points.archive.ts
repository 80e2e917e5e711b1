// Datapoints in an archive: the protobuf messages of the API (docs/reference/datapoints.md#protobuf). They
// are copied and never decoded into numbers, so that every bit of every value is preserved.
import { BadArchive } from "../../archive/format.ts";
import { varintBytesMax, writeVarint } from "../../lib/varint.ts";

/** Points of one series as a `TimeseriesData` message holds them. */
export interface PointsFound {
  readonly count: number;
  /** The time of the last one. */
  readonly lastMs: number;
  /** The same points as fields 2 and 3 of a `NamedTimeseriesData` message. */
  readonly named: Buffer;
}

const lengthDelimited = 2;
const timeTag = 0x08;
const pointTag = 0x0a;

/** Decodes a `TimeseriesData`: field 1 contains strings, field 2 numbers, and either may be repeated. */
export function pointsIn(message: Buffer): PointsFound {
  const named = Buffer.from(message);
  let count = 0;
  let lastPoint = 0;
  for (let at = 0; at < message.length; ) {
    const field = message[at]!;
    if (field !== 0x0a && field !== 0x12) throw new BadArchive(`The server sent the field ${field >> 3}`);
    named[at] = field + (1 << 3);
    const { value: length, end: start } = varint(message, at + 1);
    for (at = start; at < start + length; ) {
      if (message[at] !== pointTag) throw new BadArchive("The server sent points of an unknown form");
      const point = varint(message, at + 1);
      lastPoint = point.end;
      at = point.end + point.value;
      count += 1;
    }
  }
  return { count, lastMs: count === 0 ? 0 : timeOf(message, lastPoint), named };
}

/** The time comes first; 0 is left out. */
const timeOf = (message: Buffer, at: number): number =>
  message[at] === timeTag ? varint(message, at + 1).value : 0;

/** The points of a series in a `MultiNamedTimeseriesData`; concatenated ones are one message. */
export function namedPoints(name: string, { named }: PointsFound): Buffer[] {
  const text = Buffer.from(name);
  const nameField = Buffer.concat([Buffer.of((1 << 3) | lengthDelimited), varintOf(text.length), text]);
  const length = varintOf(nameField.length + named.length);
  return [Buffer.concat([Buffer.of((1 << 3) | lengthDelimited), length, nameField]), named];
}

/** Low seven bits first; negative numbers are those of 64 bits. */
function varint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0n;
  for (let at = start, shift = 0n; ; at += 1, shift += 7n) {
    const byte = bytes[at];
    if (byte === undefined) throw new BadArchive("The server's points end in the middle");
    if (shift === 0n && byte < 128) return { value: byte, end: at + 1 };
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return { value: Number(BigInt.asIntN(64, value)), end: at + 1 };
  }
}

function varintOf(value: number): Buffer {
  const bytes = Buffer.alloc(varintBytesMax);
  return bytes.subarray(0, writeVarint(bytes, 0, value));
}
