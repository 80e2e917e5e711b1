// Reads the protobuf messages of datapoints into columns, and writes them from columns
// (docs/reference/datapoints.md#protobuf).
import { fail } from "../../errors.ts";
import type { BufferWriter } from "../../lib/buffer-writer.ts";
import { notUtf8At, textOf } from "../../lib/utf8.ts";
import { writeVarint } from "../../lib/varint.ts";
import { limits } from "../../limits.ts";
import type { PointColumns } from "../../storage/points.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import { type IncomingPoints, IncomingPointsBuilder, type InsertContext } from "./inserts/incoming-points.ts";

const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
const fixed32 = 5;

/** Decodes `TimeseriesData` for the series `key`, or `MultiNamedTimeseriesData` without a key. */
export function decodeInsertMessage(ctx: InsertContext, body: Buffer, key?: SeriesKey): IncomingPoints {
  const builder = new IncomingPointsBuilder(ctx);
  const reader = new MessageReader(body, builder);
  if (key === undefined) reader.many();
  else {
    reader.data(body.length, 1);
    builder.endRun(key);
  }
  return builder.finish(fieldOf);
}

/** The field of a refusal. The versions name members differently, so that it gives positions, from 0. */
const fieldOf = (run: number, point: number, member = "value"): string =>
  `series ${run}, point ${point}, ${member}`;

const malformed = (problem: string) => fail("body-not-protobuf", { problem });

class MessageReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #builder: IncomingPointsBuilder;
  #at = 0;
  #run = 0;
  #point = 0;

  constructor(bytes: Buffer, builder: IncomingPointsBuilder) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#builder = builder;
  }

  /** `MultiNamedTimeseriesData`: field 1 repeats, once for each series. */
  many(): void {
    const end = this.#bytes.length;
    while (this.#at < end) {
      const tag = this.#uint32(end);
      if (tag === tagOf(1, lengthDelimited)) this.#named(this.#length(end));
      else this.#skip(tag, end);
    }
  }

  /**
   * `NamedTimeseriesData`: field 1 is the name; the fields of `TimeseriesData` follow, their numbers plus
   * one.
   */
  #named(end: number): void {
    this.#point = 0;
    this.#builder.endRun(this.data(end, 2));
    this.#run += 1;
  }

  /**
   * Reads string points in field `first` and number points in the next one. Returns the name in field 1, if
   * `first` is greater.
   */
  data(end: number, first: number): string {
    let name = "";
    while (this.#at < end) {
      const tag = this.#uint32(end);
      if (tag === tagOf(first, lengthDelimited)) this.#points(this.#length(end), true);
      else if (tag === tagOf(first + 1, lengthDelimited)) this.#points(this.#length(end), false);
      else if (first > 1 && tag === tagOf(1, lengthDelimited)) name = this.#name(this.#length(end));
      else this.#skip(tag, end);
    }
    return name;
  }

  /**
   * Clients repeat their names. Comparing with the name of an earlier insert costs less than a new string.
   */
  #name(end: number): string {
    const expected = this.#builder.expectedKey();
    if (expected === undefined || !this.#hasBytesOf(expected, end)) return this.#text(end);
    this.#at = end;
    return expected;
  }

  /** Whether the bytes up to `end` are those of `expected`, which is ASCII: each character is its byte. */
  #hasBytesOf(expected: string, end: number): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    if (end - start !== expected.length) return false;
    for (let i = 0; i < expected.length; i += 1)
      if (expected.charCodeAt(i) !== bytes[start + i]) return false;
    return true;
  }

  #points(end: number, isString: boolean): void {
    while (this.#at < end) {
      const tag = this.#uint32(end);
      if (tag !== tagOf(1, lengthDelimited)) {
        this.#skip(tag, end);
        continue;
      }
      if (isString) this.#stringPoint(this.#length(end));
      else this.#numberPoint(this.#length(end));
      this.#point += 1;
    }
  }

  #numberPoint(end: number): void {
    let timeMs = 0;
    let value = 0;
    while (this.#at < end) {
      const tag = this.#uint32(end);
      if (tag === tagOf(1, varint)) timeMs = this.#int64(end);
      else if (tag === tagOf(2, fixed64)) value = this.#view.getFloat64(this.#advance(8, end), true);
      else this.#skip(tag, end);
    }
    if (!Number.isFinite(value)) throw this.#wrong("value", "a finite number", value);
    this.#builder.addNumber(this.#checked(timeMs), value);
  }

  #stringPoint(end: number): void {
    let timeMs = 0;
    let value = "";
    while (this.#at < end) {
      const tag = this.#uint32(end);
      if (tag === tagOf(1, varint)) timeMs = this.#int64(end);
      else if (tag === tagOf(2, lengthDelimited)) value = this.#text(this.#length(end));
      else this.#skip(tag, end);
    }
    if (value.length > limits.stringValueLengthMax)
      throw this.#wrong("value", `at most ${limits.stringValueLengthMax} characters`, value.length);
    this.#builder.addString(this.#checked(timeMs), value);
  }

  #checked(timeMs: number): number {
    const { timeMsMin, timeMsMax } = limits;
    if (timeMs >= timeMsMin && timeMs <= timeMsMax) return timeMs;
    throw this.#wrong("timestamp", `milliseconds from ${timeMsMin} to ${timeMsMax}`, timeMs);
  }

  #wrong(member: string, expected: string, got: number) {
    const field = fieldOf(this.#run, this.#point, member);
    return fail("field-invalid", { field, expected, got: String(got) });
  }

  /** Advances by `count` bytes and returns the position before. */
  #advance(count: number, end: number): number {
    const at = this.#at;
    if (count > end - at) throw malformed("it ends in the middle of a field");
    this.#at = at + count;
    return at;
  }

  /** Reads the length of a field and returns the end of the field. */
  #length(end: number): number {
    const length = this.#uint32(end);
    if (length > end - this.#at) throw malformed("it ends in the middle of a field");
    return this.#at + length;
  }

  #text(end: number): string {
    const start = this.#at;
    const text = textOf(this.#bytes, start, end);
    if (text === undefined) {
      const at = start + notUtf8At(this.#bytes.subarray(start, end))!;
      throw malformed(`a string is not UTF-8 at byte ${at}`);
    }
    this.#at = end;
    return text;
  }

  #uint32(end: number): number {
    const first = this.#bytes[this.#at]!;
    if (first < 128 && this.#at < end) {
      this.#at += 1;
      return first;
    }
    const value = this.#int64(end);
    if (value < 0 || value > 0xffff_ffff) throw malformed("a tag or a length is out of range");
    return value;
  }

  /**
   * Reads a varint: seven bits in each byte, low bits first. It is exact up to 2^53, and valid times are
   * below that.
   */
  #int64(end: number): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) throw malformed("it ends in the middle of a field");
      const byte = bytes[at++]!;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (shift < 63) high |= bits << (shift - 32);
      else high |= bits << 31;
      if (byte < 128) {
        this.#at = at;
        return (high | 0) * 2 ** 32 + (low >>> 0);
      }
    }
    throw malformed("a number has more than ten bytes");
  }

  #skip(tag: number, end: number): void {
    const kind = tag & 7;
    if (tag >>> 3 === 0) throw malformed("a field has the number 0");
    if (kind === varint) this.#int64(end);
    else if (kind === fixed64) this.#advance(8, end);
    else if (kind === lengthDelimited) this.#at = this.#length(end);
    else if (kind === fixed32) this.#advance(4, end);
    else throw malformed("a field has an unknown type");
  }
}

const tagOf = (field: number, kind: number): number => field * 8 + kind;

/**
 * Writes the points as one `StringTimeseriesData` or `NumericTimeseriesData`. Several such messages in
 * sequence are one longer message. As in proto3, members that are 0 or empty are left out.
 */
export function writePoints(writer: BufferWriter, { times, values }: PointColumns): void {
  if (values instanceof Float64Array) writeNumbers(writer, times, values);
  else writeStrings(writer, times, values);
}

/** The tag and length of the field of `TimeseriesData` for points of this kind, whose content follows. */
export function dataFieldHeader(isString: boolean, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  bytes[0] = tagOf(isString ? 1 : 2, lengthDelimited);
  return bytes.subarray(0, writeVarint(bytes, 1, length));
}

/**
 * The most bytes of a number point: tag and length, a time of up to ten bytes and a double with their tags.
 */
const numberPointBytesMax = 2 + 11 + 9;

function writeNumbers(writer: BufferWriter, times: Float64Array, values: Float64Array): void {
  writer.ensure(times.length * numberPointBytesMax);
  const { bytes, view } = writer;
  let { at } = writer;
  for (let i = 0; i < times.length; i += 1) {
    const start = at + 2;
    let end = writeTime(bytes, start, times[i]!);
    const value = values[i]!;
    if (value !== 0 || Object.is(value, -0)) {
      bytes[end] = tagOf(2, fixed64);
      view.setFloat64(end + 1, value, true);
      end += 9;
    }
    bytes[at] = tagOf(1, lengthDelimited);
    bytes[at + 1] = end - start;
    at = end;
  }
  writer.at = at;
}

/** The most bytes of a string point besides its string: tags, two lengths, and a time of up to ten bytes. */
const stringPointBytesMax = 1 + 8 + 11 + 1 + 8;

function writeStrings(writer: BufferWriter, times: Float64Array, values: readonly string[]): void {
  const head = Buffer.allocUnsafe(stringPointBytesMax);
  for (const [i, value] of values.entries()) {
    const stringBytes = Buffer.byteLength(value);
    let end = writeTime(head, 0, times[i]!);
    if (stringBytes > 0) {
      head[end] = tagOf(2, lengthDelimited);
      end = writeVarint(head, end + 1, stringBytes);
    }
    writer.ensure(stringPointBytesMax + stringBytes);
    const { bytes } = writer;
    bytes[writer.at] = tagOf(1, lengthDelimited);
    const start = writeVarint(bytes, writer.at + 1, end + stringBytes);
    bytes.set(head.subarray(0, end), start);
    writer.at = start + end + bytes.write(value, start + end);
  }
}

function writeTime(bytes: Buffer, at: number, timeMs: number): number {
  if (timeMs === 0) return at;
  bytes[at] = tagOf(1, varint);
  if (timeMs > 0) return writeVarint(bytes, at + 1, timeMs);
  let rest = BigInt.asUintN(64, BigInt(timeMs));
  let end = at + 1;
  for (; rest > 127n; rest >>= 7n) bytes[end++] = Number(rest & 127n) | 128;
  bytes[end] = Number(rest);
  return end + 1;
}
