// Values of every type as JSON that OData clients read (odata.md 5), written into bytes: most of an answer is
// values, and a text made of each would cost more than all else.
import type { ByteSheet } from "../lib/byte-sheet.ts";
import { numberBytesMax, writeInteger, writeNumber } from "../lib/number-text.ts";
import { timeBytesMax, timeText, writeTime } from "../lib/time-text.ts";
import { dynamicJson } from "./dynamic-json.ts";
import { namespace, type Property } from "./model.ts";
import { encodeName } from "./names.ts";

export interface Format {
  /** How much an answer says of itself besides the data. */
  readonly level: "none" | "minimal" | "full";
  /** 64-bit integers and counts are texts. */
  readonly isIeee754Compatible: boolean;
}

/** JSON has no such numbers; OData writes them as texts. */
export function doubleJson(value: number): string {
  if (Number.isFinite(value)) return value === 0 ? "0" : String(value);
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"INF"' : '"-INF"';
}

export type WriteValue = (sheet: ByteSheet, value: unknown) => void;

export const [quote, comma, opening, closing] = [34, 44, 91, 93];

/** Writes values of the property; absent ones as null. */
export function valueWriter(property: Property, format: Format): WriteValue {
  const write = writerOf(property.type, format);
  if (property.isList) return (sheet, value) => writeList(sheet, (value ?? []) as readonly unknown[], write);
  return (sheet, value) => (value === undefined || value === null ? sheet.text("null") : write(sheet, value));
}

function writeList(sheet: ByteSheet, values: readonly unknown[], write: WriteValue): void {
  sheet.byte(opening);
  for (let at = 0; at < values.length; at++) {
    if (at > 0) sheet.byte(comma);
    write(sheet, values[at]);
  }
  sheet.byte(closing);
}

function writerOf(type: Property["type"], { isIeee754Compatible, level }: Format): WriteValue {
  switch (type) {
    case "Edm.String":
      return (sheet, value) =>
        typeof value === "number" ? writeQuoted(sheet, value, writeDigits) : sheet.quoted(value as string);
    case "Edm.Boolean":
      return (sheet, value) => sheet.text(String(value));
    case "Edm.DateTimeOffset":
      return (sheet, value) => writeQuoted(sheet, value as number, writeMoment);
    case "Edm.Double":
      return (sheet, value) => writeDouble(sheet, value as number);
    case "Edm.Int64":
      return isIeee754Compatible
        ? (sheet, value) => writeQuoted(sheet, value as number, writeDigits)
        : (sheet, value) => writeDigits(sheet, value as number);
    case "RawData":
      return (sheet, value) =>
        sheet.text(dynamicJson(value as Record<string, unknown>, type, level === "none"));
    default: {
      const first = level === "full" ? `"@odata.type":"#${namespace}.${type}"` : "";
      return (sheet, value) => sheet.text(openJson(value as object, first));
    }
  }
}

function writeQuoted(
  sheet: ByteSheet,
  value: number,
  write: (sheet: ByteSheet, value: number) => void,
): void {
  sheet.byte(quote);
  write(sheet, value);
  sheet.byte(quote);
}

function writeDigits(sheet: ByteSheet, value: number): void {
  sheet.room(numberBytesMax);
  sheet.at = writeInteger(sheet.view, sheet.at, value);
}

function writeMoment(sheet: ByteSheet, ms: number): void {
  sheet.room(timeBytesMax);
  sheet.at = writeTime(sheet, sheet.at, ms);
}

function writeDouble(sheet: ByteSheet, value: number): void {
  if (Number.isFinite(value)) {
    sheet.room(numberBytesMax);
    // Minus zero is written as zero.
    sheet.at = writeNumber(sheet.view, sheet.at, value + 0);
  } else sheet.text(doubleJson(value));
}

/** An open object of texts; `first` is its control information. */
function openJson(value: object, first: string): string {
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(encodeName(name))}:${JSON.stringify(one)}`,
  );
  return `{${[...(first === "" ? [] : [first]), ...members].join(",")}}`;
}

/** A value outside of JSON, as `$value` answers it. */
export function plainText(property: Property, value: unknown): string {
  if (property.type === "Edm.DateTimeOffset") return timeText(value as number);
  return property.type === "Edm.Double" ? doubleJson(value as number).replaceAll('"', "") : String(value);
}
