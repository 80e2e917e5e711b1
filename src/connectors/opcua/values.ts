// Values of OPC UA as numbers and strings.
import type { DataValue } from "./library.ts";

export type PlainKind = "boolean" | "number" | "string" | "enum";

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
export const kindOfType = (builtInType: number): PlainKind | undefined => builtIn[builtInType];

/** Whether it is a type that says nothing: BaseDataType. The value decides. */
export const isAnyType = (builtInType: number): boolean => builtInType === 24;

/** Good or uncertain; the upper two bits are the severity. */
export const isUsable = ({ statusCode }: DataValue): boolean => statusCode.value >>> 30 < 2;

/** Undefined for a value that is not of the kind. */
export function plainValueOf(
  { value: variant }: DataValue,
  kind: PlainKind,
  names: ReadonlyMap<number, string>,
): number | string | undefined {
  if (variant?.arrayType !== 0) return undefined;
  const { value, dataType } = variant;
  if (kind === "string") return textOf(value);
  const number = numberOf(value, dataType);
  return kind === "enum" && number !== undefined ? (names.get(number) ?? String(number)) : number;
}

function numberOf(value: unknown, dataType: number): number | undefined {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number") return value;
  // 64 bits: the upper and the lower 32.
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [upper, lower] = value as [number, number];
  const isSigned = dataType === 8;
  return (isSigned ? upper | 0 : upper) * 2 ** 32 + lower;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  const { text } = (value ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : undefined;
}

/** Of the source, else of the server, in ms. Before 1900 a time is missing. */
export function timeOf({ sourceTimestamp, serverTimestamp }: DataValue, nowMs: number): number {
  for (const time of [sourceTimestamp, serverTimestamp]) {
    const ms = time?.getTime();
    if (ms !== undefined && ms > firstTimeMs) return ms;
  }
  return nowMs;
}

const firstTimeMs = Date.UTC(1900, 0);
