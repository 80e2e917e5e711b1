// Splits the text of a query into tokens, as SQLite does, so that parts of it can be found and replaced.
import { SqlFailure } from "./sql-runner.ts";

export interface SqlToken {
  readonly kind: "word" | "identifier" | "string" | "number" | "symbol";
  /** An identifier or a string without its quotes; else as it is written. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Each alternative is linear in its input. `[\s\S]` is any character, a line break too. */
const pattern = new RegExp(
  [
    /(?<space>\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))/,
    /(?<string>'[^']*(?:''[^']*)*')/,
    /(?<identifier>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])/,
    /(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/,
    /(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)/,
    /(?<symbol>\|\||->>?|<<|>>|<=|>=|<>|!=|==|[\s\S])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "y",
);

/** The tokens without spaces and comments. Refuses a string or a quoted name without its end. */
export function tokensOf(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  const sticky = new RegExp(pattern);
  for (let match = sticky.exec(sql); match; match = sticky.exec(sql)) {
    const [kind, written] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!;
    if (kind === "space") continue;
    const { index: start } = match;
    if (kind === "symbol" && /["'`[]/.test(written!))
      throw new SqlFailure({ kind: "syntax", message: `The quote ${written} has no end`, offset: start });
    const token = { kind: kind as SqlToken["kind"], value: unquoted(kind, written!) };
    tokens.push({ ...token, start, end: start + written!.length });
  }
  return tokens;
}

function unquoted(kind: string, written: string): string {
  if (kind !== "string" && kind !== "identifier") return written;
  const quote = written[0]!;
  const inner = written.slice(1, -1);
  return quote === "[" ? inner : inner.replaceAll(quote + quote, quote);
}

/** Compares names as SQLite does: without regard to the case of ASCII letters. */
export const sameName = (one: string, other: string): boolean => folded(one) === folded(other);

export const folded = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
