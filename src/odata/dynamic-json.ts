// Converts open JSON data to and from OData: annotates types that JSON does not show, and encodes names
// that are not identifiers (docs/reference/odata.md#open-members).
import { fail } from "../errors.ts";
import { JsonText } from "../lib/json-reader.ts";
import { elementsIn, membersIn, type ValueSpan } from "../lib/json-text.ts";
import { limits } from "../limits.ts";
import { type OpenComplexType, typeNameOf } from "./model.ts";
import { decodeName, encodeName } from "./names.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * Writes the object as JSON. `type` is the open type of nested objects; `isPlain` omits the annotations.
 */
export function dynamicJson(value: Members, type: OpenComplexType, isPlain: boolean): string {
  return `{${membersJson(value, type, isPlain).join(",")}}`;
}

function membersJson(value: Members, type: OpenComplexType, isPlain: boolean): string[] {
  return Object.entries(value).flatMap(([key, one]) => {
    const name = JSON.stringify(encodeName(key));
    const [json, annotation] = memberJson(one, type, isPlain);
    if (annotation === undefined || isPlain) return [`${name}:${json}`];
    return [`${name.slice(0, -1)}@odata.type":"#${annotation}"`, `${name}:${json}`];
  });
}

/** A value as JSON, with its type when JSON does not show it. */
function memberJson(
  value: unknown,
  type: OpenComplexType,
  isPlain: boolean,
): [json: string, annotation?: string] {
  if (typeof value === "number" && !Number.isFinite(value)) return [value > 0 ? '"INF"' : '"-INF"', "Double"];
  if (Array.isArray(value)) return listJson(value, type, isPlain);
  if (typeof value !== "object" || value === null) return [JSON.stringify(value)];
  const control = isPlain ? [] : [`"@odata.type":"#${typeNameOf(type)}"`];
  return [`{${[...control, ...membersJson(value as Members, type, isPlain)].join(",")}}`];
}

/** A list with elements of one type stays a list. Any other list becomes a string that holds its JSON. */
function listJson(
  list: readonly unknown[],
  type: OpenComplexType,
  isPlain: boolean,
): [json: string, annotation?: string] {
  const types = new Set(list.map((one) => elementType(one, type)));
  const [only = "String"] = types;
  if (types.size > 1 || only === undefined) return [JSON.stringify(JSON.stringify(list))];
  return [`[${list.map((one) => memberJson(one, type, isPlain)[0]).join(",")}]`, `Collection(${only})`];
}

function elementType(value: unknown, type: OpenComplexType): string | undefined {
  if (typeof value === "string") return "String";
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "number") return "Double";
  return typeof value === "object" && value !== null && !Array.isArray(value) ? typeNameOf(type) : undefined;
}

/**
 * The open object of an inserted entity as JSON: without control information, and with decoded names.
 * Values stay as they were sent, so that numbers keep their digits. An absent object is `{}`.
 */
export function plainData(sent: unknown, name: string): string {
  if (sent === undefined) return "{}";
  const text = JsonText.of(sent);
  if (text === undefined) throw fail("key-invalid", { problem: `${name} is an object` });
  if (!hasCodedName(text)) return text;
  const limit = limits.odataEncodedLengthMax;
  if (text.length > limit)
    throw fail("key-invalid", {
      problem: `${name} holds more than ${limit} characters, with annotations or encoded names among them`,
    });
  return decodedValue(text, { start: 0, end: text.length });
}

/** Whether the name of a member is an annotation or encoded: `@` and `_x` in values have no meaning. */
function hasCodedName(text: string): boolean {
  for (const mark of ["@", "_x"])
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
      at = endOfString(text, at);
      colon.lastIndex = at;
      if (colon.test(text)) return true;
    }
  return false;
}

const colon = /\s*:/y;

/** The position after the string that `at` is in. */
function endOfString(text: string, at: number): number {
  let end = at;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

function decodedValue(text: string, { start, end }: ValueSpan): string {
  if (text[start] === "[")
    return `[${elementsIn(text, start)
      .map((one) => decodedValue(text, one))
      .join(",")}]`;
  if (text[start] !== "{") return text.slice(start, end);
  const members = membersIn(text, start).filter(({ name }) => !name.includes("@"));
  const decoded = members.map(({ name, valueStart, end }) => {
    const value = decodedValue(text, { start: valueStart, end });
    return `${JSON.stringify(decodeName(name))}:${value}`;
  });
  return `{${decoded.join(",")}}`;
}
