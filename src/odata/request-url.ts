// Parses the URL of a request: splits it into segments and options, then decodes each. The server has
// already refused URLs that do not decode.
//
// URL routers and form decoders cannot be used: they decode `%2F` before they split, turn `+` in a time
// zone into a blank, and keep the last of two equal options (docs/reference/odata.md#requests-and-formats).
import { fail } from "../errors.ts";
import type { FilterExpression } from "./expression.ts";
import { parseExpression } from "./parse-expression.ts";
import { syntax } from "./tokens.ts";

/** One segment of a path: `Assets`, `Assets('101')`, `AssetsSearch(Search='pump')`, `$count`. */
export interface PathSegment {
  readonly name: string;
  /** The decoded text in the parentheses; absent without parentheses. */
  readonly parentheses?: string;
}

export interface RequestUrl {
  readonly segments: readonly PathSegment[];
  /** The decoded path, which a token for the next page is bound to. */
  readonly decodedPath: string;
  /** System query options by their names in lower case with `$`. */
  readonly options: ReadonlyMap<string, string>;
  /** Values of parameter aliases by name, with `@`. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Path and query string as sent, for links to the next page. */
  readonly path: string;
  readonly query: string;
}

/** Parses the part of the request line after the root of the service. Refuses repeated options. */
export function parseRequestUrl(rest: string): RequestUrl {
  const [path, query] = splitOnce(rest, "?");
  const options = new Map<string, string>();
  const aliases = new Map<string, string>();
  for (const piece of query.split("&").filter((one) => one !== "")) {
    const [sentName, sentValue] = splitOnce(piece, "=");
    const name = decodeURIComponent(sentName);
    const system = systemName(name);
    const into = system !== undefined ? options : name.startsWith("@") ? aliases : undefined;
    const key = system ?? name;
    if (into?.has(key)) throw fail("query-option-repeated", { option: key });
    into?.set(key, decodeURIComponent(withoutPlus(sentValue)));
  }
  const segments = path
    .split("/")
    .filter((one) => one !== "")
    .map(parseSegment);
  const resource = segments.map(
    ({ name, parentheses: inside }) => name + (inside === undefined ? "" : `(${inside})`),
  );
  return { segments, decodedPath: resource.join("/"), options, aliases, path, query };
}

/** The name of a system query option. OData 4.01 allows it without `$` and in any case. */
function systemName(name: string): string | undefined {
  const small = name.toLowerCase();
  if (small.startsWith("$")) return small;
  return knownOptions.has(`$${small}`) ? `$${small}` : undefined;
}

const knownOptions: ReadonlySet<string> = new Set([
  "$filter",
  "$select",
  "$expand",
  "$top",
  "$skip",
  "$count",
  "$orderby",
]);

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

const plusOrQuote = /'|%27|\+/gi;
const zone = /^\+\d\d(:|%3A)\d\d/i;

/** Encodes each `+` outside strings, time zones and exponents as a blank, and all others as `%2B`. */
function withoutPlus(sent: string): string {
  if (!sent.includes("+")) return sent;
  let isText = false;
  return sent.replaceAll(plusOrQuote, (found, at: number) => {
    if (found !== "+") isText = !isText;
    else if (!isText && !zone.test(sent.slice(at)) && !/\de\+\d/i.test(sent.slice(at - 2, at + 2)))
      return "%20";
    return found === "+" ? "%2B" : found;
  });
}

function parseSegment(sent: string): PathSegment {
  const text = decodeURIComponent(sent);
  const at = text.indexOf("(");
  if (at < 0) return { name: text };
  if (!text.endsWith(")")) throw syntax("')' is missing at the end of a path segment", text.length);
  return { name: text.slice(0, at), parentheses: text.slice(at + 1, -1) };
}

/** The arguments in a segment's parentheses by name; an argument without a name is under `""`. */
export function argumentsIn(
  inside: string,
  aliases: RequestUrl["aliases"],
): ReadonlyMap<string, FilterExpression> {
  const given = new Map<string, FilterExpression>();
  for (const { text, at } of splitList(inside, ",")) {
    const [, name = "", value = ""] = /^\s*(?:([\p{L}_][\p{L}\p{Nd}_]*)\s*=)?(.*)$/su.exec(text)!;
    if (given.has(name)) throw syntax(name === "" ? "one key is enough" : `${name} is given twice`, at);
    given.set(name, parseExpression(value, aliases));
  }
  if (given.size > 1 && given.has("")) throw syntax("arguments have names", 0);
  return given;
}

export interface ListItem {
  readonly text: string;
  readonly at: number;
}

/** Splits a list at separators outside quotes and parentheses; an empty string has no items. */
export function splitList(text: string, separator: "," | ";" | "/"): ListItem[] {
  if (text.trim() === "") return [];
  const found: ListItem[] = [];
  let [start, depth] = [0, 0];
  for (let at = 0; at <= text.length; at++) {
    const letter = text[at];
    if (letter === "'" || letter === '"') at = endOfQuote(text, at);
    else if (letter === "(") depth++;
    else if (letter === ")") depth--;
    if (depth < 0) throw syntax("unexpected ')'", at);
    if (letter !== undefined && (letter !== separator || depth > 0)) continue;
    found.push({ text: text.slice(start, at), at: start });
    start = at + 1;
  }
  if (depth > 0) throw syntax("')' is missing at the end", text.length);
  return found;
}

function endOfQuote(text: string, start: number): number {
  const end = text.indexOf(text[start]!, start + 1);
  if (end < 0) throw syntax("a string in quotes does not end", start);
  return end;
}
