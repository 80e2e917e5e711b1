// Integers of 64 bits: a series of numbers holds all of them up to 2^53, and only some beyond.
import { oneOf } from "./one-of.ts";

const ways = ["exact", "rounded", "string"] as const;

/** What becomes of integers of 64 bits. */
export type WayOfIntegers = (typeof ways)[number];

export const integers64Schema = oneOf(
  ways,
  "Integers of 64 bits: `exact` (default) refuses those that a number cannot hold; `rounded`; `string`",
);

/** The number with this value; the integer itself if there is none, unless it may be rounded. */
export function exactInteger(integer: bigint, way: WayOfIntegers = "exact"): number | bigint {
  const number = Number(integer);
  return way === "rounded" || BigInt(number) === integer ? number : integer;
}

const digits = /^[+-]?\d+$/;
/** Fewer digits are below 2^53. */
const safeDigits = 15;

/** As `Number(text)`; the integer itself if no number holds it. */
export function exactNumberIn(text: string): number | bigint {
  if (text.length <= safeDigits || !digits.test(text.trim())) return Number(text);
  return exactInteger(BigInt(text.trim().replace(/^\+/, "")));
}
