// Writes values as the JSON of OData (docs/reference/odata.md#values) directly into bytes. Most of a
// response is values, and creating a string for each would dominate its cost.
import type { BufferWriter } from "../lib/buffer-writer.ts";
import { numberBytesMax, writeInteger, writeNumber } from "../lib/number-text.ts";
import { timeBytesMax, timeText, writeTime } from "../lib/time-text.ts";
import { dynamicJson } from "./dynamic-json.ts";
import { type OpenComplexType, type Property, typeNameOf } from "./model.ts";
import { encodeName } from "./names.ts";

export interface JsonFormat {
  /** How much metadata the response contains. */
  readonly level: "none" | "minimal" | "full";
  /** 64-bit integers and counts are strings. */
  readonly isIeee754Compatible: boolean;
}

/** JSON has no NaN and no infinities; OData writes them as strings. */
export function doubleJson(value: number): string {
  if (Number.isFinite(value)) return value === 0 ? "0" : String(value);
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"INF"' : '"-INF"';
}

/** ASCII codes. */
export const code = { quote: 34, comma: 44, opening: 91, closing: 93, closingBrace: 125 } as const;

/** Writes a property's value: an absent value as null, an absent list as an empty list. */
export function writeValue(
  writer: BufferWriter,
  value: unknown,
  { type, isList }: Property,
  format: JsonFormat,
): void {
  if (isList) writeList(writer, (value ?? []) as readonly unknown[], type, format);
  else if (value === undefined || value === null) writer.string("null");
  else writeSingle(writer, value, type, format);
}

function writeList(
  writer: BufferWriter,
  values: readonly unknown[],
  type: Property["type"],
  format: JsonFormat,
): void {
  writer.byte(code.opening);
  for (let at = 0; at < values.length; at++) {
    if (at > 0) writer.byte(code.comma);
    writeSingle(writer, values[at], type, format);
  }
  writer.byte(code.closing);
}

/**
 * Compares types in order of frequency. A closure for each property is as fast over 100,000 values, but
 * slower for the first thousands in a process, before the function is compiled.
 */
function writeSingle(writer: BufferWriter, value: unknown, type: Property["type"], format: JsonFormat): void {
  if (type === "Edm.String") {
    if (typeof value === "string") writer.jsonString(value);
    else writeQuoted(writer, value as number);
  } else if (type === "Edm.DateTimeOffset") writeTimestamp(writer, value as number);
  else if (type === "Edm.Double") writeDouble(writer, value as number);
  else if (type === "Edm.Int64") {
    if (format.isIeee754Compatible) writeQuoted(writer, value as number);
    else writeDouble(writer, value as number);
  } else if (type === "Edm.Boolean") writer.string(value === true ? "true" : "false");
  else writer.string(objectJson(value as Members, type, format));
}

/** Writes an integer as a string. */
function writeQuoted(writer: BufferWriter, value: number): void {
  writer.ensure(numberBytesMax + 2);
  const { bytes, at } = writer;
  bytes[at] = code.quote;
  const end = writeInteger(writer.view, at + 1, value);
  bytes[end] = code.quote;
  writer.at = end + 1;
}

function writeTimestamp(writer: BufferWriter, ms: number): void {
  writer.ensure(timeBytesMax + 2);
  const { bytes, at } = writer;
  bytes[at] = code.quote;
  const end = writeTime(writer, at + 1, ms);
  bytes[end] = code.quote;
  writer.at = end + 1;
}

function writeDouble(writer: BufferWriter, value: number): void {
  if (Number.isFinite(value)) {
    writer.ensure(numberBytesMax);
    // Writes minus zero as zero.
    writer.at = writeNumber(writer.view, writer.at, value + 0);
  } else writer.string(doubleJson(value));
}

type Members = Readonly<Record<string, unknown>>;

function objectJson(value: Members, type: OpenComplexType, { level }: JsonFormat): string {
  if (type.hasMixedMembers) return dynamicJson(value, type, level === "none");
  return openJson(value, level === "full" ? `"@odata.type":"#${typeNameOf(type)}"` : "");
}

/** Writes an open object of strings; `first` is its control information. */
function openJson(value: object, first: string): string {
  let json = first;
  for (const [name, one] of Object.entries(value))
    json += `${json === "" ? "" : ","}${JSON.stringify(encodeName(name))}:${JSON.stringify(one)}`;
  return `{${json}}`;
}

/** The value as `$value` returns it. */
export function plainText(property: Property, value: unknown): string {
  if (property.type === "Edm.DateTimeOffset") return timeText(value as number);
  return property.type === "Edm.Double" ? doubleJson(value as number).replaceAll('"', "") : String(value);
}
