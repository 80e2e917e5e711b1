// Decodes the JSON of an insert: usual bodies from their bytes into columns, others with the JSON reader.
import { fail } from "../../../errors.ts";
import * as json from "../../../lib/json-bytes.ts";
import { TimeSlice } from "../../../lib/time-slice.ts";
import { limits } from "../../../limits.ts";
import { readJson } from "../../../rest/json.ts";
import type { BodyWork } from "../../../rest/route.ts";
import { type KeyInput, seriesKey } from "../../timeseries/series-keys.rest.ts";
import type { SeriesKey } from "../../timeseries/timeseries.ts";
import { type IncomingPoints, IncomingPointsBuilder, type InsertContext } from "./incoming-points.ts";
import { InsertColumns } from "./insert-buffers.ts";
import type { Gaps, InsertKernel } from "./insert-kernel.ts";

/**
 * The points of `{"items":[{"timestamp","value"},...]}` for the series `key`, or without `key` those of
 * `{"items":[{"name" | "tagId" | "id","datapoints":[...]},...]}`
 * (docs/reference/datapoints.md#writing-datapoints).
 */
export async function decodeInsert(
  ctx: InsertContext,
  body: Buffer,
  { key, work }: { readonly key?: SeriesKey | undefined; readonly work?: BodyWork } = {},
): Promise<IncomingPoints> {
  if (body.length <= limits.insertScanBytesMax) {
    const scanned = scanInsert(ctx, body, key);
    if (scanned) return scanned;
  }
  return decodeParsed(ctx, await readJson(body, { nulls: "kept", work }), key);
}

/** The points of a body in the usual form; `undefined` for any other body, valid or not. */
function scanInsert(ctx: InsertContext, body: Buffer, key?: SeriesKey): IncomingPoints | undefined {
  const builder = new IncomingPointsBuilder(ctx);
  const { names, kernel } = ctx.insertBuffers;
  const scan = new InsertScanner(body, { bytes: new json.JsonBytes(body, names), builder, kernel });
  const isUsual = key === undefined ? scan.many() : scan.one(key);
  return isUsual ? builder.finish(key === undefined ? fieldOfMany : fieldOfOne) : undefined;
}

/** Shorter rests of a body are read faster without the kernel. */
const kernelBytesMin = 256;
/**
 * The kernel cannot read some forms of numbers. After so many scans in a row without a point it is not used.
 */
const kernelMissesMax = 8;

const itemsName = json.memberName("items");
const timestampName = json.memberName("timestamp");
const valueName = json.memberName("value");
const datapointsName = json.memberName("datapoints");
const nameName = json.memberName("name");
const tagIdName = json.memberName("tagId");

/**
 * Scans a body once. Each method reads one part and returns whether it has the usual form. It refuses
 * nothing: for any other form the caller parses the whole body, which reports errors. Not usual are: other or
 * missing members, escapes in strings, `null`, strings among numbers, and invalid JSON.
 *
 * A client formats all points of a body alike. The scanner records the bytes between numbers and names when
 * it reads them part by part, and from then on compares them as a whole.
 */
class InsertScanner {
  readonly #body: Buffer;
  readonly #json: json.JsonBytes;
  readonly #builder: IncomingPointsBuilder;
  /**
   * The series of the current points, and the start and end of its name; 0 if the name follows the points.
   */
  #name: string | undefined;
  #nameAt = 0;
  #nameEnd = 0;
  /**
   * The end of the last point's value; 0 if there is none, if the time follows the value, or if a name
   * followed the point.
   */
  #valueEnd = 0;
  readonly #gaps: Gaps = {
    valueToTime: { from: 0, length: 0 },
    timeToValue: { from: 0, length: 0 },
    valueToName: { from: 0, length: 0 },
    nameToTime: { from: 0, length: 0 },
  };
  readonly #kernel: InsertKernel;
  /** Whether the kernel has these gaps. */
  #hasGaps = false;
  /** How many more times the kernel may find no point. */
  #kernelMisses = kernelMissesMax;

  constructor(
    body: Buffer,
    parts: {
      readonly bytes: json.JsonBytes;
      readonly builder: IncomingPointsBuilder;
      readonly kernel: InsertKernel;
    },
  ) {
    this.#body = body;
    this.#json = parts.bytes;
    this.#builder = parts.builder;
    this.#kernel = parts.kernel;
    this.#kernel.begin();
  }

  one(key: SeriesKey): boolean {
    const isUsual =
      this.#json.take(json.openBrace) && this.#json.member(itemsName) && this.#points() && this.#end();
    if (isUsual) this.#builder.endRun(key);
    return isUsual;
  }

  many(): boolean {
    if (
      !(this.#json.take(json.openBrace) && this.#json.member(itemsName) && this.#json.take(json.openBracket))
    )
      return false;
    if (this.#json.take(json.closeBracket)) return this.#end();
    do {
      if (!this.#series()) return false;
    } while (this.#json.take(json.comma));
    return this.#json.take(json.closeBracket) && this.#end();
  }

  /** `{"name":"...","datapoints":[...]}` in either order. */
  #series(): boolean {
    if (!this.#json.take(json.openBrace)) return false;
    this.#nameEnd = 0;
    if (this.#memberOfName()) {
      this.#name = this.#json.name(this.#builder.expectedKey());
      this.#nameAt = this.#json.start;
      this.#nameEnd = this.#json.at;
      if (this.#name === undefined || !this.#json.take(json.comma)) return false;
      if (!(this.#json.member(datapointsName) && this.#points())) return false;
    } else {
      this.#name = undefined;
      if (!(this.#json.member(datapointsName) && this.#points() && this.#json.take(json.comma))) return false;
      this.#name = this.#memberOfName() ? this.#json.name(this.#builder.expectedKey()) : undefined;
      // The bytes from here to the next name include this name, so they are no gap.
      this.#valueEnd = 0;
    }
    if (this.#name === undefined || !this.#json.take(json.closeBrace)) return false;
    this.#builder.endRun(this.#name);
    return true;
  }

  #memberOfName(): boolean {
    return this.#json.member(nameName) || this.#json.member(tagIdName);
  }

  /** An array of points, all numbers or all strings. */
  #points(): boolean {
    if (!this.#json.take(json.openBracket)) return false;
    if (this.#json.take(json.closeBracket)) {
      this.#valueEnd = 0;
      return true;
    }
    const start = this.#json.at;
    if (!this.#numberPoint(true)) {
      this.#json.at = start;
      return this.#stringPoints();
    }
    while (this.#json.take(json.comma)) if (!this.#numberPoint(false)) return false;
    return this.#json.take(json.closeBracket);
  }

  #numberPoint(isFirst: boolean): boolean {
    if (!this.#json.take(json.openBrace)) return false;
    if (this.#json.member(timestampName))
      return this.#usualPoint(isFirst) && this.#json.take(json.closeBrace);
    this.#valueEnd = 0;
    if (!this.#json.member(valueName)) return false;
    const value = this.#json.number();
    if (!(this.#json.take(json.comma) && this.#json.member(timestampName))) return false;
    return this.#add(this.#json.number(), value) && this.#json.take(json.closeBrace);
  }

  /** Reads a point from its time to the end of its value, then all following points of the same format. */
  #usualPoint(isFirst: boolean): boolean {
    const time = this.#json.number();
    const { start: timeAt, at: timeEnd } = this.#json;
    if (!(this.#json.take(json.comma) && this.#json.member(valueName))) return false;
    if (!this.#add(time, this.#json.number())) return false;
    const { valueToTime, timeToValue, valueToName, nameToTime } = this.#gaps;
    recordGap(timeToValue, timeEnd, this.#json.start);
    if (!isFirst && this.#valueEnd > 0) recordGap(valueToTime, this.#valueEnd, timeAt);
    if (isFirst && this.#nameEnd > 0) {
      recordGap(nameToTime, this.#nameEnd, timeAt);
      if (this.#valueEnd > 0) recordGap(valueToName, this.#valueEnd, this.#nameAt);
    }
    this.#hasGaps = false;
    do this.#valueEnd = this.#json.at;
    while (this.#nextPointsByKernel() || this.#nextPointByGaps());
    this.#json.at = this.#valueEnd;
    return true;
  }

  /** Reads as many further points as the kernel can, and the names of their series. */
  #nextPointsByKernel(): boolean {
    const { at } = this.#json;
    if (this.#kernelMisses === 0 || this.#body.length - at < kernelBytesMin) return false;
    const most = this.#builder.space();
    if (most === 0) return false;
    if (!this.#hasGaps && !this.#setGaps()) return false;
    const names = this.#builder.expectedKeysAfter(this.#name);
    const points = this.#kernel.scan(this.#body, { at, names, most });
    if (points === undefined) {
      this.#kernelMisses -= 1;
      return false;
    }
    this.#kernelMisses = kernelMissesMax;
    this.#builder.addRepeated(points);
    if (points.ends.length > 0) this.#name = this.#builder.expectedKey();
    this.#json.at = points.at;
    return true;
  }

  #setGaps(): boolean {
    const { valueToTime, valueToName } = this.#gaps;
    if (valueToTime.length + valueToName.length === 0) return false;
    this.#hasGaps = this.#kernel.setGaps(this.#body, this.#gaps);
    if (!this.#hasGaps) this.#kernelMisses = 0;
    return this.#hasGaps;
  }

  /** Reads further points of the series, or the first point of the next one, by the recorded gaps. */
  #nextPointByGaps(): boolean {
    const { valueToTime, timeToValue, valueToName, nameToTime } = this.#gaps;
    if (this.#json.repeat(valueToTime)) {
      const time = this.#json.number();
      return this.#json.repeat(timeToValue) && this.#add(time, this.#json.number());
    }
    if (this.#name === undefined || !this.#json.repeat(valueToName)) return false;
    const name = this.#json.name(this.#builder.expectedKey(1));
    if (name === undefined || !this.#json.repeat(nameToTime)) return false;
    const time = this.#json.number();
    if (!this.#json.repeat(timeToValue)) return false;
    const value = this.#json.number();
    if (!isPoint(time, value)) return false;
    this.#builder.endRun(this.#name);
    this.#name = name;
    this.#builder.addNumber(time, value);
    return true;
  }

  #add(time: number, value: number): boolean {
    if (!isPoint(time, value)) return false;
    this.#builder.addNumber(time, value);
    return true;
  }

  #stringPoints(): boolean {
    this.#valueEnd = 0;
    do {
      if (!this.#stringPoint()) return false;
    } while (this.#json.take(json.comma));
    return this.#json.take(json.closeBracket);
  }

  #stringPoint(): boolean {
    if (!this.#json.take(json.openBrace)) return false;
    const isTimeFirst = this.#json.member(timestampName);
    let time = isTimeFirst ? this.#json.number() : 0;
    if (isTimeFirst && !this.#json.take(json.comma)) return false;
    if (!this.#json.member(valueName)) return false;
    const value = this.#json.string();
    if (!isTimeFirst) {
      if (!(this.#json.take(json.comma) && this.#json.member(timestampName))) return false;
      time = this.#json.number();
    }
    if (value === undefined || value.length > limits.stringValueLengthMax) return false;
    if (!(isTime(time) && this.#json.take(json.closeBrace))) return false;
    this.#builder.addString(time, value);
    return true;
  }

  #end(): boolean {
    return this.#json.take(json.closeBrace) && this.#json.end();
  }
}

function recordGap(gap: json.Gap, from: number, to: number): void {
  gap.from = from;
  gap.length = to - from;
}

const { timeMsMin, timeMsMax } = limits;

const isPoint = (time: number, value: number): boolean => isTime(time) && Number.isFinite(value);

const isTime = (value: number): boolean =>
  value >= timeMsMin && value <= timeMsMax && Math.floor(value) === value;

type Members = Readonly<Record<string, unknown>>;

const fieldOfOne: IncomingPoints["fieldOf"] = (_, point) => `items[${point}].value`;
const fieldOfMany: IncomingPoints["fieldOf"] = (run, point) => `items[${run}].datapoints[${point}].value`;

/**
 * Decodes a parsed body. For usual bodies the result must be that of `scanInsert`. A member that is `null`
 * counts as absent, except a value. Other requests run between two slices, so it has columns of its own.
 */
async function decodeParsed(ctx: InsertContext, body: unknown, key?: SeriesKey): Promise<IncomingPoints> {
  const builder = new IncomingPointsBuilder(ctx, new InsertColumns());
  const slice = new TimeSlice(limits.timeSliceMs);
  await slice.next();
  const items = listOf(membersOf(body, "body"), "items", "items");
  if (key !== undefined) {
    builder.endRun(key, await addPoints(builder, items, { at: "items", slice }));
    return builder.finish(fieldOfOne);
  }
  for (const [i, item] of items.entries()) {
    if (slice.isOver()) await slice.next();
    const at = `items[${i}]`;
    const members = membersOf(item, at);
    const points = listOf(members, "datapoints", `${at}.datapoints`);
    const series = keyOf(members, at);
    const { id } = members;
    if (typeof series === "string" && typeof id === "number") builder.addSentId({ id, field: `${at}.id` });
    builder.endRun(series, await addPoints(builder, points, { at: `${at}.datapoints`, slice }));
  }
  return builder.finish(fieldOfMany);
}

/**
 * Adds the points of a run. Returns the positions of its first number and its first string if it has both.
 */
async function addPoints(
  builder: IncomingPointsBuilder,
  points: readonly unknown[],
  { at, slice }: { readonly at: string; readonly slice: TimeSlice },
) {
  const first = { number: -1, string: -1 };
  for (const [i, point] of points.entries()) {
    if (slice.isOver()) await slice.next();
    const { timestamp, value } = membersOf(point, `${at}[${i}]`);
    const timeMs = timeOf(timestamp, `${at}[${i}].timestamp`);
    const kind = addValue(builder, timeMs, { value, field: `${at}[${i}].value` });
    if (first[kind] < 0) first[kind] = i;
  }
  return first.number >= 0 && first.string >= 0 ? first : undefined;
}

function addValue(builder: IncomingPointsBuilder, timeMs: number, given: { value: unknown; field: string }) {
  const { value, field } = given;
  if (typeof value === "number" && Number.isFinite(value)) {
    builder.addNumber(timeMs, value);
    return "number";
  }
  if (typeof value !== "string") throw wrong(field, "a finite number or a string", value);
  if (value.length > limits.stringValueLengthMax)
    throw wrong(field, `at most ${limits.stringValueLengthMax} characters`, value.length);
  if (!value.isWellFormed())
    throw fail("field-invalid", { field, expected: "whole characters", got: "half a surrogate pair" });
  builder.addString(timeMs, value);
  return "string";
}

function timeOf(value: unknown, field: string): number {
  if (typeof value === "number" && isTime(value)) return value;
  throw wrong(field, `milliseconds from ${timeMsMin} to ${timeMsMax}`, value ?? undefined);
}

/** The series that an item names: by `name` or `tagId` (0.4), else by `id`. */
function keyOf(members: Members, at: string): SeriesKey {
  const [name, tagId, id] = [members["name"] ?? undefined, members["tagId"] ?? undefined, members["id"]];
  for (const [field, text] of Object.entries({ name, tagId }))
    if (text !== undefined && typeof text !== "string") throw wrong(`${at}.${field}`, "string", text);
  if (id !== undefined && id !== null && !Number.isSafeInteger(id)) throw wrong(`${at}.id`, "an integer", id);
  return seriesKey({ name, tagId, id: id ?? undefined } as KeyInput, `${at}.`);
}

function listOf(members: Members, name: string, field: string): readonly unknown[] {
  const list = members[name] ?? undefined;
  if (Array.isArray(list)) return list;
  throw list === undefined ? fail("fields-missing", { fields: [field] }) : wrong(field, "array", list);
}

function membersOf(value: unknown, field: string): Members {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Members;
  throw wrong(field, "object", value);
}

function wrong(field: string, expected: string, value: unknown) {
  if (value === undefined) return fail("fields-missing", { fields: [field] });
  const got =
    typeof value === "number"
      ? String(value)
      : Array.isArray(value)
        ? "array"
        : value === null
          ? "null"
          : typeof value;
  return fail("field-invalid", { field, expected, got });
}
