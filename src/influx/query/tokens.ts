// Splits InfluxQL into tokens.
import { queryProblem } from "./problems.ts";

export type QueryToken =
  | { readonly kind: "word" | "quoted" | "string" | "regex" | "parameter" | "symbol"; readonly text: string }
  | { readonly kind: "integer"; readonly text: string; readonly value: bigint }
  | { readonly kind: "number"; readonly text: string; readonly value: number }
  | { readonly kind: "duration"; readonly text: string; readonly nanoseconds: bigint }
  | { readonly kind: "end"; readonly text: "" };

export type QueryTokenKind = QueryToken["kind"];

const nanosecondsOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  u: 1_000n,
  µ: 1_000n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

const blanks = /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const word = /[A-Za-z_]\w*/y;
const parameter = /\$(?:[A-Za-z_]\w*|"[^"]*")/y;
const quoted = /"((?:\\[\s\S]|[^"\\\n])*)"/y;
const string = /'((?:\\[\s\S]|[^'\\\n])*)'/y;
const regex = /\/((?:\\[\s\S]|[^/\\\n])*)\//y;
const durations = /(?:\d+(?:ns|us|ms|[uµsmhdw]))+(?![\w.])/y;
const number = /\d+\.\d*|\.\d+|\d+/y;
const symbol = /=~|!~|!=|<>|<=|>=|::|[-+*/%=<>(),;.:]/y;

/** The keywords and symbols before a `/` that begins a regular expression; after others it divides. */
const beforeRegex: ReadonlySet<string> = new Set(["=~", "!~", ",", "(", ".", "from", "select", "by"]);

function mayBeRegexAfter(token: QueryToken | undefined): boolean {
  const isKeyword = token?.kind === "word" || token?.kind === "symbol";
  return isKeyword && beforeRegex.has(token.text.toLowerCase());
}

export function tokensOf(text: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  for (let at = 0; ; ) {
    at = matchAt(blanks, text, at)!.end;
    if (at === text.length) return [...tokens, { kind: "end", text: "" }];
    const found = tokenAt(text, at, mayBeRegexAfter(tokens.at(-1)));
    if (!found)
      throw queryProblem(`found ${text.slice(at, at + 10)}, unexpected character at char ${at + 1}`);
    tokens.push(found.token);
    at = found.end;
  }
}

interface Match {
  readonly all: string;
  readonly inner: string;
  readonly end: number;
}

function matchAt(pattern: RegExp, text: string, at: number): Match | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found ? { all: found[0], inner: found[1] ?? found[0], end: pattern.lastIndex } : undefined;
}

interface Found {
  readonly token: QueryToken;
  readonly end: number;
}

function tokenAt(text: string, at: number, mayBeRegex: boolean): Found | undefined {
  const match = (pattern: RegExp) => matchAt(pattern, text, at);
  const as = (
    kind: "word" | "quoted" | "string" | "regex" | "symbol",
    one: Match | undefined,
    inner = one?.inner,
  ) => one && { token: { kind, text: inner! }, end: one.end };
  const isRegex = mayBeRegex && text[at] === "/";
  return (
    as("word", match(word)) ??
    parameterIn(match(parameter)) ??
    as("quoted", match(quoted), unescaped(match(quoted)?.inner)) ??
    as("string", match(string), unescaped(match(string)?.inner)) ??
    (isRegex ? as("regex", match(regex), match(regex)?.inner.replaceAll("\\/", "/")) : undefined) ??
    durationIn(match(durations)) ??
    numberIn(match(number)) ??
    as("symbol", match(symbol))
  );
}

function parameterIn(found: Match | undefined): Found | undefined {
  return (
    found && { token: { kind: "parameter", text: found.all.slice(1).replaceAll('"', "") }, end: found.end }
  );
}

const unescaped = (text: string | undefined) =>
  text?.replaceAll(/\\([\s\S])/g, (_, character: string) => (character === "n" ? "\n" : character));

function durationIn(found: Match | undefined): Found | undefined {
  return (
    found && {
      token: { kind: "duration", text: found.all, nanoseconds: durationOf(found.all)! },
      end: found.end,
    }
  );
}

function numberIn(found: Match | undefined): Found | undefined {
  if (!found) return undefined;
  const { all: text, end } = found;
  if (!Number.isFinite(Number(text))) throw queryProblem("a number is beyond the range of a double");
  const token: QueryToken = text.includes(".")
    ? { kind: "number", text, value: Number(text) }
    : { kind: "integer", text, value: BigInt(text) };
  return { token, end };
}

/** The nanoseconds of a duration such as `1h30m`; undefined for anything else. */
export function durationOf(text: string): bigint | undefined {
  if (!/^(?:\d+(?:ns|us|ms|[uµsmhdw]))+$/.test(text)) return undefined;
  let sum = 0n;
  for (const [, count, unit] of text.matchAll(/(\d+)(ns|us|ms|[uµsmhdw])/g))
    sum += BigInt(count!) * nanosecondsOf[unit!]!;
  return sum;
}
