// Decodes payloads of Sparkplug B 3.0 (protobuf, https://sparkplug.eclipse.org/specification).
//
// Reads only the parts that a connector uses. Metrics that are no single number, boolean or string have no
// value.
import { exactInteger } from "../integers.ts";

interface Field {
  readonly number: number;
  /** Of a varint or fixed number its bits; of a length-delimited field its bytes. */
  readonly bits: bigint;
  readonly bytes: Uint8Array;
}

export interface SparkplugMetric {
  readonly name: string | undefined;
  readonly alias: number | undefined;
  readonly timestamp: number | undefined;
  readonly type: number | undefined;
  readonly isHistorical: boolean;
  readonly isNull: boolean;
  /** As it was sent; undefined if the metric is null or has none. */
  readonly sent: Field | undefined;
  readonly properties: Readonly<Record<string, string>>;
}

export interface SparkplugPayload {
  readonly timestamp: number | undefined;
  readonly sequence: number | undefined;
  readonly metrics: readonly SparkplugMetric[];
}

const text = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

/** Throws a `RangeError` for bytes that are no protobuf message. */
function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new RangeError("A varint has more than ten bytes");
  };
  const none = new Uint8Array();
  while (at < bytes.length) {
    const tag = Number(varint());
    const [number, wire] = [tag >>> 3, tag & 7];
    if (wire === 0) yield { number, bits: varint(), bytes: none };
    else if (wire === 1) {
      yield { number, bits: view.getBigUint64(at, true), bytes: none };
      at += 8;
    } else if (wire === 5) {
      yield { number, bits: BigInt(view.getUint32(at, true)), bytes: none };
      at += 4;
    } else if (wire === 2) {
      const length = Number(varint());
      if (at + length > bytes.length) throw new RangeError("A field is longer than its message");
      yield { number, bits: 0n, bytes: bytes.subarray(at, at + length) };
      at += length;
    } else throw new RangeError(`Wire type ${wire} is not used by Sparkplug`);
  }
}

export function decodeSparkplug(bytes: Uint8Array): SparkplugPayload {
  let timestamp: number | undefined;
  let sequence: number | undefined;
  const metrics: SparkplugMetric[] = [];
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) timestamp = Number(field.bits);
    if (field.number === 2) metrics.push(metricOf(field.bytes));
    if (field.number === 3) sequence = Number(field.bits);
  }
  return { timestamp, sequence, metrics };
}

function metricOf(bytes: Uint8Array): SparkplugMetric {
  const metric: { -readonly [Key in keyof SparkplugMetric]: SparkplugMetric[Key] } = {
    ...{ name: undefined, alias: undefined, timestamp: undefined, type: undefined, sent: undefined },
    ...{ isHistorical: false, isNull: false, properties: {} },
  };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) metric.name = text(field.bytes);
    else if (field.number === 2) metric.alias = Number(field.bits);
    else if (field.number === 3) metric.timestamp = Number(field.bits);
    else if (field.number === 4) metric.type = Number(field.bits);
    else if (field.number === 5) metric.isHistorical = field.bits !== 0n;
    else if (field.number === 7) metric.isNull = field.bits !== 0n;
    else if (field.number === 9) metric.properties = propertiesOf(field.bytes);
    else if (field.number >= 10 && field.number <= 19) metric.sent = field;
  }
  if (metric.isNull) metric.sent = undefined;
  return metric;
}

/**
 * The value of a metric; a bigint is an integer that no number holds. Data may leave out the type, which
 * is then that of the birth: without it a negative integer is a large positive one.
 */
export const metricValue = ({ sent, type }: SparkplugMetric, bornType?: number) =>
  sent && scalarOf(sent, type ?? bornType);

/** The data types of signed integers and their bits. */
const signedBits: Readonly<Record<number, number>> = { 1: 8, 2: 16, 3: 32, 4: 64 };

/** Fields 10 to 15 of a metric: int, long, float, double, boolean, string. */
function scalarOf(
  { number, bits, bytes }: Field,
  type: number | undefined,
): number | string | bigint | undefined {
  if (number === 10 || number === 11) {
    const signed = type === undefined ? undefined : signedBits[type];
    return exactInteger(signed === undefined ? bits : BigInt.asIntN(signed, bits));
  }
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits, true);
  if (number === 12) return view.getFloat32(0, true);
  if (number === 13) return view.getFloat64(0, true);
  if (number === 14) return bits === 0n ? 0 : 1;
  return number === 15 ? text(bytes) : undefined;
}

/** The properties with one text or number, such as `engUnit`. */
function propertiesOf(bytes: Uint8Array): Record<string, string> {
  const keys: string[] = [];
  const values: (string | undefined)[] = [];
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) keys.push(text(field.bytes));
    if (field.number === 2) values.push(propertyOf(field.bytes));
  }
  const known = keys.flatMap((key, i) => (values[i] === undefined ? [] : [[key, values[i]] as const]));
  return Object.fromEntries(known);
}

/** Fields 3 to 8 of a property: 7 lower than those of a metric. */
function propertyOf(bytes: Uint8Array): string | undefined {
  let type: number | undefined;
  let value: Field | undefined;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) type = Number(field.bits);
    if (field.number >= 3 && field.number <= 8) value = field;
  }
  const found = value && scalarOf({ ...value, number: value.number + 7 }, type);
  return found === undefined ? undefined : String(found);
}
