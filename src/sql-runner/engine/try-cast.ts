// `try_cast`: a value of a type, or null.

import { toTimestamp } from "../../lib/timestamp-format.ts";
import { FunctionRefusal } from "./problems.ts";
import type { Argument, Result } from "./values.ts";

const trueWords = ["true", "t", "yes", "y", "1"];
const falseWords = ["false", "f", "no", "n", "0"];

/**
 * Casts to `integer`, `real`, `boolean` (1 or 0), `text` or `timestamp`. With the decimal mark `,` or `.`,
 * numbers may have the other mark, spaces or apostrophes between groups of three digits.
 */
export function tryCast(value: Argument = null, type: Argument = null, mark: Argument = "."): Result {
  switch (String(type).toLowerCase()) {
    case "real":
    case "double":
      return value === null ? null : numberOf(value, mark);
    case "integer":
    case "int":
    case "long": {
      const number = value === null ? null : numberOf(value, mark);
      return number !== null && Number.isSafeInteger(number) ? BigInt(number) : null;
    }
    case "text":
    case "string":
      return value === null ? null : String(value);
    case "boolean": {
      const word = String(value).trim().toLowerCase();
      return trueWords.includes(word) ? 1n : falseWords.includes(word) ? 0n : null;
    }
    case "timestamp":
      return toTimestamp(value);
  }
  throw new FunctionRefusal(
    `try_cast casts to integer, real, boolean, text or timestamp, and not to ${type}`,
  );
}

function numberOf(value: string | number, mark: Argument): number | null {
  if (typeof value === "number") return value;
  if (mark !== "." && mark !== ",") throw new FunctionRefusal("The decimal mark of try_cast is , or .");
  const other = mark === "." ? "," : "\\.";
  const grouped = new RegExp(`^[+-]?\\d{1,3}(?:[${other}\\s'\u2019]\\d{3})+(?=\\${mark}|$)`);
  const text = value.trim();
  const whole = grouped.exec(text)?.[0] ?? "";
  const plain = (whole.replace(/[^\d+-]/g, "") + text.slice(whole.length)).replace(mark, ".");
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain) && Number.isFinite(Number(plain))
    ? Number(plain)
    : null;
}
