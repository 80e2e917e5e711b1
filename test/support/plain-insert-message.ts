// A naive reader of inserts in protobuf (docs/reference/datapoints.md#protobuf): first the fields, then
// their meaning. Tests compare the reader of messages with it.
import { isUtf8 } from "node:buffer";
import { limits } from "../../src/limits.ts";
import type { Run } from "./plain-insert.ts";

class Refused extends Error {}

function need(holds: boolean): void {
  if (!holds) throw new Refused();
}

/** Where a number is meant this is a bigint, else the bytes of the field. */
interface Field {
  readonly number: number;
  readonly value: bigint | Buffer;
  readonly type: number;
}

const [varint, fixed64, delimited, fixed32] = [0, 1, 2, 5];

/** The runs of a message for the series `key`, or for many; undefined where it is to be refused. */
export function plainInsertMessage(body: Buffer, key?: string): Run[] | undefined {
  try {
    if (key !== undefined) return [{ key, points: pointsOf(fieldsIn(body), 1) }];
    const series = of(fieldsIn(body), 1, delimited).map((value) => fieldsIn(value as Buffer));
    return series.map((fields) => ({ key: textOf(fields, 1), points: pointsOf(fields, 2) }));
  } catch (why) {
    if (why instanceof Refused) return undefined;
    throw why;
  }
}

function fieldsIn(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const number = (): bigint => {
    let [value, length] = [0n, 0];
    for (; ; at++) {
      need(at < bytes.length && length < 10);
      value |= BigInt(bytes[at]! & 127) << BigInt(7 * length++);
      if (bytes[at]! < 128) break;
    }
    at++;
    return BigInt.asUintN(64, value);
  };
  const piece = (length: bigint): Buffer => {
    need(length <= BigInt(bytes.length - at));
    at += Number(length);
    return bytes.subarray(at - Number(length), at);
  };
  while (at < bytes.length) {
    const tag = number();
    need(tag < 2n ** 32n && tag >= 8n);
    const type = Number(tag & 7n);
    need([varint, fixed64, delimited, fixed32].includes(type));
    const lengths = { [fixed64]: () => 8n, [fixed32]: () => 4n, [delimited]: number };
    const value = type === varint ? number() : piece(lengths[type]!());
    fields.push({ number: Number(tag >> 3n), type, value });
  }
  return fields;
}

/** A field of another type than expected is one that is not known. */
const of = (fields: readonly Field[], number: number, type: number) =>
  fields.filter((one) => one.number === number && one.type === type).map((one) => one.value);

/** The last one counts, but all are UTF-8. */
function textOf(fields: readonly Field[], number: number): string {
  const strings = of(fields, number, delimited) as Buffer[];
  need(strings.every((text) => isUtf8(text)));
  return (strings.at(-1) ?? Buffer.alloc(0)).toString("utf8");
}

/** Numbers before strings. */
function pointsOf(fields: readonly Field[], first: number): Run["points"] {
  const messages = (number: number) =>
    of(fields, number, delimited)
      .flatMap((value) => of(fieldsIn(value as Buffer), 1, delimited))
      .map((value) => fieldsIn(value as Buffer));
  return [
    ...messages(first + 1).map((point) => ({ timestamp: timeOf(point), value: numberOf(point) })),
    ...messages(first).map((point) => ({ timestamp: timeOf(point), value: shortTextOf(point) })),
  ];
}

function timeOf(point: readonly Field[]): number {
  const time = BigInt.asIntN(64, (of(point, 1, varint).at(-1) ?? 0n) as bigint);
  need(time >= limits.timeMsMin && time <= limits.timeMsMax);
  return Number(time);
}

function numberOf(point: readonly Field[]): number {
  const value = ((of(point, 2, fixed64).at(-1) ?? Buffer.alloc(8)) as Buffer).readDoubleLE();
  need(Number.isFinite(value));
  return value;
}

function shortTextOf(point: readonly Field[]): string {
  const text = textOf(point, 2);
  need(text.length <= limits.stringValueLengthMax);
  return text;
}
