// The value of a point as a person types it.

export interface TypedValue {
  /** Absent while nothing, or no valid value, is typed. */
  readonly value?: number | string;
  readonly problem?: string;
}

/** The server has the same bound (docs/LIMITS.md, stringValueLengthMax). */
const textLengthMax = 16_384;

const numberPattern = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Reads the value for a series of numbers or of strings. */
export function typedValue(text: string, isString: boolean): TypedValue {
  if (text.trim() === "") return {};
  if (isString)
    return text.length > textLengthMax
      ? { problem: `A text has at most ${textLengthMax} characters.` }
      : { value: text };
  const trimmed = text.trim().replace("\u2212", "-");
  if (!numberPattern.test(trimmed)) {
    const hint = trimmed.includes(",") ? "The decimal sign is a point" : "Write a number";
    return { problem: `${hint}, such as 12.5.` };
  }
  const value = Number(trimmed);
  return Number.isFinite(value) ? { value } : { problem: "This is too large for a number." };
}
