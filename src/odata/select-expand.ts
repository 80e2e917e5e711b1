// Parses `$select` and `$expand`.
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { type ListItem, splitList } from "./request-url.ts";
import { syntax } from "./tokens.ts";

/** A path of names: `Name`, `MetaData/serial_no`, `*`. */
export type SelectedPath = readonly string[];

/** One navigation, or all of them (`*`), with the options in its parentheses. */
export interface ExpandItem {
  readonly name: string;
  readonly options: ReadonlyMap<string, string>;
}

const identifier = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u;
const qualified = /^[\p{L}\p{Nl}_][\p{L}\p{Nd}_]*(\.[\p{L}\p{Nl}_][\p{L}\p{Nd}_]*)*(\.\*)?$/u;

/** Parses `$select`. Refuses names of types, operations and annotations as not supported (501). */
export function readSelect(text: string): SelectedPath[] {
  const items = splitList(text, ",");
  if (items.length === 0) throw fail("query-option-invalid", { option: "$select", problem: "it is empty" });
  return items.map((item) => {
    const { text: path, inside } = splitParentheses(item);
    const names = path.split("/");
    if (!names.every(isSegment)) throw syntax(`${path} names no property`, item.at);
    if (inside !== undefined || names.some((name) => /[.@]/.test(name)))
      throw fail("query-option-not-supported", { option: `$select=${path}` });
    return names;
  });
}

const isSegment = (name: string): boolean =>
  name === "*" || identifier.test(name) || qualified.test(name.replace(/^@/, ""));

/** Parses one level of `$expand`. */
export function readExpand(text: string): ExpandItem[] {
  const items = splitList(text, ",");
  if (items.length === 0) throw fail("query-option-invalid", { option: "$expand", problem: "it is empty" });
  return items.map((item) => {
    const { text: path, inside } = splitParentheses(item);
    const names = path.split("/");
    const options = inside === undefined ? new Map<string, string>() : optionsIn(inside);
    if (!names.every((name) => isSegment(name) || /^\$(ref|count|value)$/.test(name)))
      throw syntax(`${path} names no navigation`, item.at);
    refuseUnsupported(path, names, options);
    return { name: path, options };
  });
}

/** Refuses valid `$expand` syntax that is not served (501), and invalid options (400). */
function refuseUnsupported(
  path: string,
  names: readonly string[],
  options: ReadonlyMap<string, string>,
): void {
  const last = names.at(-1)!;
  const allowed = last === "$ref" ? refOptions : last === "$count" ? countOptions : nestedOptions;
  for (const [option, value] of options) {
    if (!allowed.has(option) && nestedOptions.has(option))
      throw fail("query-option-invalid", { option: `$expand=${path}`, problem: `it has no ${option}` });
    if (!allowed.has(option))
      throw fail("query-option-not-supported", { option: `${option} within $expand` });
    if (option === "$levels" && !/^([1-9]\d*|max)$/.test(value))
      throw fail("query-option-invalid", { option, problem: "expected a number from 1, or max" });
  }
  if (names.length > 1 || /[.@$]/.test(path))
    throw fail("query-option-not-supported", { option: `$expand=${path}` });
}

const countOptions: ReadonlySet<string> = new Set(["$filter", "$search"]);
const refOptions: ReadonlySet<string> = new Set([...countOptions, "$orderby", "$skip", "$top", "$count"]);
const nestedOptions: ReadonlySet<string> = new Set([
  ...refOptions,
  "$select",
  "$expand",
  "$levels",
  "$compute",
  "$apply",
]);

function splitParentheses({ text, at }: ListItem): { text: string; inside?: string } {
  const trimmed = text.trim();
  const open = trimmed.indexOf("(");
  if (open < 0) return { text: trimmed };
  if (!trimmed.endsWith(")")) throw syntax("')' is missing", at + text.length);
  return { text: trimmed.slice(0, open), inside: trimmed.slice(open + 1, -1) };
}

/** The options in parentheses, with `$` before their names. Aliases are skipped. */
function optionsIn(inside: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const { text, at } of splitList(inside, ";")) {
    const equals = text.indexOf("=");
    if (equals < 0) throw syntax("expected an option such as $select=Name", at);
    const name = text.slice(0, equals).trim();
    if (name.startsWith("@")) continue;
    const option = `$${name.replace(/^\$/, "").toLowerCase()}`;
    if (options.has(option)) throw fail("query-option-repeated", { option });
    options.set(option, text.slice(equals + 1));
  }
  return options;
}

/** Refuses expansions nested deeper than the limit. */
export function checkDepth(depth: number): void {
  if (depth > limits.odataExpandDepthMax)
    throw fail("query-option-invalid", {
      option: "$expand",
      problem: `it is nested more than ${limits.odataExpandDepthMax} levels deep`,
    });
}
