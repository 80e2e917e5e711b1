// Parses the address of a request: splits it into segments and options first, then decodes each. The server
// has refused addresses that do not decode.
//
// Routers and form decoders are no alternative: they decode `%2F` before they split, turn `+` in a time zone
// into a blank, and keep the last of two equal options (docs/reference/odata.md#requests-and-formats).
import { fail } from "../errors.ts";
import type { FilterExpression } from "./expression.ts";
import { parseExpression } from "./parse-expression.ts";
import { syntax } from "./tokens.ts";

/** One step of a path: `Assets`, `Assets('101')`, `AssetsSearch(Search='pump')`, `$count`. */
export interface PathSegment {
  readonly name: string;
  /** What stands in its parentheses, decoded; absent without parentheses. */
  readonly parentheses?: string;
}

export interface RequestUrl {
  readonly segments: readonly PathSegment[];
  /** The path, decoded: what a token for a further page is bound to. */
  readonly decodedPath: string;
  /** System options by their names in small letters with `$`. */
  readonly options: ReadonlyMap<string, string>;
  /** Values of parameter aliases by name, with `@`. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Path and options as sent, for links to further pages. */
  readonly path: string;
  readonly query: string;
}

/** `rest` is what follows the root of the service in the request line. Refuses options given twice. */
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

/** Options that are known, or look like it; 4.01 has them without `$` and in any case as well. */
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

/** With each `+` that stands for a blank turned into one: not in texts, time zones and exponents. */
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

/** The arguments in a segment's parentheses: one without a name under `""`, others by name. */
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

/** The pieces between separators that stand neither in quotes nor in parentheses; none of an empty text. */
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
  if (end < 0) throw syntax("a text in quotes does not end", start);
  return end;
}
