// Converts values to cells of a column type without loss of digits. JSON numbers are doubles already.
import type { ColumnValueType } from "./schema.ts";

/**
 * A string in a STRING column, a number in a DOUBLE column. In a LONG column a number, or its digits as a
 * string if a number cannot hold it exactly (beyond 2^53).
 */
export type Cell = string | number;

const longMin = -(2n ** 63n);
export const longMax = 2n ** 63n - 1n;

/** The values that a column of each type accepts, for refusals. */
export const expectedBy: Readonly<Record<ColumnValueType, string>> = {
  STRING: "a string",
  DOUBLE: "a number that a 64-bit float holds exactly as written",
  LONG: "an integer of 64 bits, as a string beyond 2^53",
};

/** Converts a value to a cell of the type; undefined if the cell would be a different value. */
export function cellOf(type: ColumnValueType, sent: string | number): Cell | undefined {
  if (type === "STRING") return typeof sent === "string" ? sent : undefined;
  if (type === "DOUBLE") return typeof sent === "string" ? doubleIn(sent) : finite(sent);
  const long = longIn(sent);
  return long === undefined ? undefined : exact(long);
}

const finite = (number: number) => (Number.isFinite(number) ? number : undefined);

/** A number if that is exact, otherwise the digits. */
export const exact = (long: bigint): Cell => {
  const number = Number(long);
  return Number.isSafeInteger(number) ? number : `${long}`;
};

/**
 * Reads an integer of 64 bits. Refuses numbers beyond 2^53, which may have lost digits before they arrived.
 * Ignores a zero fraction (`5.0`, as Python prints floats).
 */
export function longIn(sent: string | number): bigint | undefined {
  if (typeof sent === "number") return Number.isSafeInteger(sent) ? BigInt(sent) : undefined;
  const digits = /^([+-]?\d{1,40})(?:\.0+)?$/.exec(sent)?.[1];
  if (digits === undefined) return undefined;
  const long = BigInt(digits.replace("+", ""));
  return long >= longMin && long <= longMax ? long : undefined;
}

/** More digits than any double has, and the limit of `toPrecision`. */
const digitsMax = 100;

/**
 * Reads a number from a string if the nearest double has the same digits. A double halfway between two
 * strings of the same length may come as either: `toPrecision` rounds up, most programs round to the even
 * digit, and so does `toString`.
 */
function doubleIn(text: string): number | undefined {
  const parts = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE][+-]?\d{1,5})?$/.exec(text);
  if (!parts) return undefined;
  const value = Number(text);
  const digits = significant(`${parts[1]}${parts[2] ?? ""}`);
  if (finite(value) === undefined || digits.length > digitsMax) return undefined;
  if (digits === "") return text.match(/\d/) ? 0 : undefined;
  const strings = [`${Math.abs(value)}`, Math.abs(value).toPrecision(digits.length)];
  return strings.some((written) => digitsOf(written) === digits) ? value : undefined;
}

const digitsOf = (text: string) => significant(text.split("e")[0]!.replace(".", ""));

/** The digits without leading and trailing zeros. */
const significant = (digits: string) => digits.replace(/^0+/, "").replace(/0+$/, "");
