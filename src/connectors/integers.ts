// Integers of 64 bits: a series of numbers holds all of them up to 2^53, and only some beyond.
import { oneOf } from "./one-of.ts";

const ways = ["exact", "rounded", "string"] as const;

/** The treatment of integers of 64 bits. */
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

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const digits = /^[+-]?\d+$/;
/** Fewer digits are below 2^53. */
const safeDigits = 15;

/**
 * The decimal number that is written; the integer itself if no number holds it. NaN for all else, also for
 * blanks and `0x10`, which `Number` reads as 0 and 16.
 */
export function exactNumberIn(text: string): number | bigint {
  const trimmed = text.trim();
  if (!decimal.test(trimmed)) return Number.NaN;
  if (trimmed.length <= safeDigits || !digits.test(trimmed)) return Number(trimmed);
  return exactInteger(BigInt(trimmed.replace(/^\+/, "")));
}
