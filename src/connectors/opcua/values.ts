// Values of OPC UA as numbers and strings.
import { exactInteger, type WayOfIntegers } from "../integers.ts";
import type { DataValue } from "./library.ts";

/** `digits`: an integer of 64 bits that becomes a string. */
export type PlainKind = "boolean" | "number" | "digits" | "string" | "enum";

/** Of the built-in types: numbers of OPC 10000-6, table 1. */
const builtIn: Readonly<Record<number, PlainKind>> = {
  1: "boolean",
  ...{ 2: "number", 3: "number", 4: "number", 5: "number", 6: "number", 7: "number" },
  ...{ 8: "number", 9: "number", 10: "number", 11: "number" },
  ...{ 12: "string", 13: "string", 14: "string", 21: "string" },
  // The abstract types Number, Integer, UInteger and Enumeration.
  ...{ 26: "number", 27: "number", 28: "number", 29: "enum" },
};

/** Undefined for types that are neither a number nor a string. */
export const kindOfType = (builtInType: number, integers64: WayOfIntegers): PlainKind | undefined =>
  integers64 === "string" && (builtInType === int64 || builtInType === uint64)
    ? "digits"
    : builtIn[builtInType];

const [int64, uint64] = [8, 9];

/** Whether it is a type that says nothing: BaseDataType. The value decides. */
export const isAnyType = (builtInType: number): boolean => builtInType === 24;

/** Good or uncertain; the upper two bits are the severity. */
export const isUsable = ({ statusCode }: DataValue): boolean => statusCode.value >>> 30 < 2;

/** Converts a value; undefined if it is not of the kind, a bigint for an integer that is no exact double. */
export function plainValueOf(
  { value: variant }: DataValue,
  { kind, names }: { readonly kind: PlainKind; readonly names: ReadonlyMap<number, string> },
  integers64: WayOfIntegers,
): number | string | bigint | undefined {
  if (variant?.arrayType !== 0) return undefined;
  const { value, dataType } = variant;
  if (kind === "string") return textOf(value);
  const number = Array.isArray(value) ? integerOf(value, dataType) : numberOf(value);
  if (number === undefined) return undefined;
  if (kind === "digits") return String(number);
  const exact = typeof number === "bigint" ? exactInteger(number, integers64) : number;
  return kind === "enum" ? (names.get(Number(exact)) ?? String(exact)) : exact;
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "number" ? value : undefined;
}

/** An integer of 64 bits: the library has the upper and the lower 32. */
function integerOf(value: readonly unknown[], dataType: number): bigint | undefined {
  if (value.length !== 2) return undefined;
  const [upper, lower] = value as [number, number];
  const bits = (BigInt(upper >>> 0) << 32n) | BigInt(lower >>> 0);
  return dataType === int64 ? BigInt.asIntN(64, bits) : bits;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  const { text } = (value ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : undefined;
}

/** The time of the source, else of the server, in ms. A time before 1900 counts as missing. */
export function timeOf({ sourceTimestamp, serverTimestamp }: DataValue, nowMs: number): number {
  for (const time of [sourceTimestamp, serverTimestamp]) {
    const ms = time?.getTime();
    if (ms !== undefined && ms > firstTimeMs) return ms;
  }
  return nowMs;
}

const firstTimeMs = Date.UTC(1900, 0);
