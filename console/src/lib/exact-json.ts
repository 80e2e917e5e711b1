// JSON with every digit of its numbers: a number that JavaScript would round stays as it was written.

interface RawJson {
  readonly rawJSON: string;
}

interface ExactJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /** Absent in browsers that cannot write a number as it was read. */
  rawJSON?(text: string): RawJson;
}

const json = JSON as unknown as ExactJson;

/** Like `JSON.parse`; a number that a double would change becomes an object that writes itself as it was. */
export const parseExact = (text: string): unknown =>
  json.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? (json.rawJSON?.(source) ?? value)
      : value,
  );

/** A number in JSON with exactly these characters. */
export const numberAsWritten = (text: string): unknown => json.rawJSON?.(text) ?? Number(text);

/** A value as text for people: a string without quotes, `null` and absent values as nothing. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export type ValueType = "text" | "number" | "boolean" | "object" | "list" | "empty";

export function typeOf(value: unknown): ValueType {
  if (value === undefined || value === null || value === "") return "empty";
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number" || "rawJSON" in (value as object)) return "number";
  return Array.isArray(value) ? "list" : "object";
}
