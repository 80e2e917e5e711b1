// Values of the cells of a sequence: what a column of some type can hold without losing a digit.
import type { ColumnValueType } from "./schema.ts";

/**
 * A text in a STRING column, a number in a DOUBLE column; in a LONG column a number, or its digits as a text
 * where a number would lose some of them (beyond 2^53).
 */
export type Cell = string | number;

const longMin = -(2n ** 63n);
export const longMax = 2n ** 63n - 1n;

/** What a refusal says a column of this type takes. */
export const expectedBy: Readonly<Record<ColumnValueType, string>> = {
  STRING: "a text",
  DOUBLE: "a number that 64 bits hold exactly as written",
  LONG: "an integer of 64 bits, as a text where it is beyond 2^53",
};

/** The value as a column of this type holds it; `undefined` when it would not be the same value. */
export function cellOf(type: ColumnValueType, sent: string | number): Cell | undefined {
  if (type === "STRING") return typeof sent === "string" ? sent : undefined;
  if (type === "DOUBLE") return typeof sent === "string" ? doubleIn(sent) : finite(sent);
  const long = longIn(sent);
  return long === undefined ? undefined : exact(long);
}

const finite = (number: number) => (Number.isFinite(number) ? number : undefined);

/** As a number where that is exact, else as its digits. */
export const exact = (long: bigint): Cell => {
  const number = Number(long);
  return Number.isSafeInteger(number) ? number : `${long}`;
};

/**
 * An integer of 64 bits. A number beyond 2^53 is none, as it may have lost digits on its way; the fraction of
 * a whole number (`5.0`, as Python prints floats) is passed over.
 */
export function longIn(sent: string | number): bigint | undefined {
  if (typeof sent === "number") return Number.isSafeInteger(sent) ? BigInt(sent) : undefined;
  const digits = /^([+-]?\d{1,40})(?:\.0+)?$/.exec(sent)?.[1];
  if (digits === undefined) return undefined;
  const long = BigInt(digits.replace("+", ""));
  return long >= longMin && long <= longMax ? long : undefined;
}

/** More digits than any double needs, and as many as `toPrecision` gives. */
const digitsMax = 100;

/** The number in a text, if it has just the digits that the nearest double has in these places. */
function doubleIn(text: string): number | undefined {
  const parts = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE][+-]?\d{1,5})?$/.exec(text);
  if (!parts) return undefined;
  const value = Number(text);
  const digits = significant(`${parts[1]}${parts[2] ?? ""}`);
  if (finite(value) === undefined || digits.length > digitsMax) return undefined;
  if (digits === "") return text.match(/\d/) ? 0 : undefined;
  const held = Math.abs(value).toPrecision(digits.length).split("e")[0]!.replace(".", "");
  return significant(held) === digits ? value : undefined;
}

/** Digits without zeros before and after. */
const significant = (digits: string) => digits.replace(/^0+/, "").replace(/0+$/, "");
