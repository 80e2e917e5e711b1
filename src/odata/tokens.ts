// Splits an expression into tokens: literals of all EDM types, names, and signs. Operators are names.
import { fail } from "../errors.ts";

/** The EDM type of a literal; `null` belongs to every type. */
export type LiteralType =
  | "Edm.String"
  | "Edm.Boolean"
  | "Edm.DateTimeOffset"
  | "Edm.Date"
  | "Edm.TimeOfDay"
  | "Edm.Duration"
  | "Edm.Guid"
  | "Edm.Binary"
  | "Edm.Int64"
  | "Edm.Double"
  | "null";

export type Token =
  | {
      readonly kind: "literal";
      readonly type: LiteralType;
      readonly value: LiteralValue;
      readonly at: number;
    }
  /** A literal that no set supports: an enumeration member or a geometry. */
  | { readonly kind: "unsupported"; readonly text: string; readonly at: number }
  | { readonly kind: "name" | "sign"; readonly text: string; readonly at: number }
  | { readonly kind: "end"; readonly text: ""; readonly at: number };

/** Times in milliseconds since 1970, durations in milliseconds, other literals as written. */
export type LiteralValue = string | number | bigint | boolean | null;

const quoted = "'(?:[^']|'')*'";
const digits = "[0-9a-fA-F]";
const day = "-?\\d{4,}-\\d{2}-\\d{2}";
const clock = "\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,12})?)?";
const firstLetter = "[\\p{L}\\p{Nl}_]";
const laterLetter = "[\\p{L}\\p{Nl}\\p{Nd}\\p{Mn}\\p{Mc}\\p{Pc}\\p{Cf}]";
const identifier = `${firstLetter}${laterLetter}{0,127}`;
const dotted = `${identifier}(?:\\.${identifier})*`;

type TokenMaker = (text: string, at: number) => Token;

const literal =
  (type: LiteralType, read: (text: string, at: number) => LiteralValue): TokenMaker =>
  (text, at) => ({ kind: "literal", type, value: read(text, at), at });

const unsupported: TokenMaker = (text, at) => ({ kind: "unsupported", text, at });
const name: TokenMaker = (text, at) => ({ kind: "name", text, at });
const sign: TokenMaker = (text, at) => ({ kind: "sign", text, at });

/** The string in `prefix'string'`, with doubled quotes undone. */
const unquoted = (text: string): string => text.slice(text.indexOf("'") + 1, -1).replaceAll("''", "'");

/** The first pattern that matches makes the token. No letter, digit or quote may follow a word. */
const tokenKinds: readonly { readonly pattern: RegExp; readonly make: TokenMaker; readonly isWord?: true }[] =
  [
    { pattern: pattern(quoted), make: literal("Edm.String", unquoted) },
    { pattern: pattern(`duration${quoted}`, "i"), make: literal("Edm.Duration", durationMs) },
    { pattern: pattern(`binary${quoted}`, "i"), make: literal("Edm.Binary", unquoted) },
    { pattern: pattern(`(?:geography|geometry)${quoted}`, "i"), make: unsupported },
    { pattern: pattern(`${identifier}(?:\\.${identifier})+${quoted}`), make: unsupported },
    {
      pattern: pattern(`${digits}{8}-(?:${digits}{4}-){3}${digits}{12}`),
      make: literal("Edm.Guid", (text) => text.toLowerCase()),
      isWord: true,
    },
    {
      pattern: pattern(`${day}T${clock}(?:Z|[+-]\\d{2}:\\d{2})`, "i"),
      make: literal("Edm.DateTimeOffset", timestampMs),
      isWord: true,
    },
    {
      pattern: pattern(day),
      make: literal("Edm.Date", (text, at) => timestampMs(`${text}T00:00Z`, at)),
      isWord: true,
    },
    { pattern: pattern(clock), make: literal("Edm.TimeOfDay", (text) => text), isWord: true },
    { pattern: pattern("-?INF"), make: literal("Edm.Double", infinity), isWord: true },
    { pattern: pattern("NaN"), make: literal("Edm.Double", () => Number.NaN), isWord: true },
    {
      pattern: pattern("[+-]?\\d+(?:(?:\\.\\d+)?e[+-]?\\d+|\\.\\d+)", "i"),
      make: literal("Edm.Double", Number),
      isWord: true,
    },
    { pattern: pattern("[+-]?\\d+"), make: literal("Edm.Int64", BigInt), isWord: true },
    {
      pattern: pattern("(?:true|false)(?![\\w.(/])", "i"),
      make: literal("Edm.Boolean", isTrue),
      isWord: true,
    },
    { pattern: pattern("null(?![\\w.(/])", "i"), make: literal("null", () => null), isWord: true },
    { pattern: pattern(`@${dotted}(?:#${identifier})?`), make: name, isWord: true },
    { pattern: pattern(`\\$?${dotted}(?:\\.\\*)?`), make: name, isWord: true },
    { pattern: pattern('"(?:[^"\\\\]|\\\\.)*"'), make: unsupported },
    { pattern: pattern("[()[\\]{},:/=*-]"), make: sign },
  ];

function pattern(source: string, flags = ""): RegExp {
  return new RegExp(source, `uy${flags}`);
}

const blank = /[ \t]*/y;
const wordCharacter = /[\p{L}\p{N}_'"]/uy;

/** All tokens; the last one is the end. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = skipBlanks(text, 0); at < text.length; ) {
    const [token, end] = tokenAt(text, at);
    tokens.push(token);
    at = skipBlanks(text, end);
  }
  tokens.push({ kind: "end", text: "", at: text.length });
  return tokens;
}

function skipBlanks(text: string, at: number): number {
  blank.lastIndex = at;
  return at + blank.exec(text)![0].length;
}

function tokenAt(text: string, at: number): [Token, end: number] {
  for (const { pattern, make, isWord } of tokenKinds) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) continue;
    const end = at + found.length;
    wordCharacter.lastIndex = end;
    if (isWord && wordCharacter.test(text)) break;
    return [make(found, at), end];
  }
  throw syntax(problemAt(text, at), at);
}

function problemAt(text: string, at: number): string {
  const letter = String.fromCodePoint(text.codePointAt(at)!);
  if (letter === "'") return "a string in quotes does not end; write a quote in it as ''";
  return `unexpected ${letter === '"' ? "double quote; strings need single quotes" : `'${letter}'`}`;
}

export const syntax = (problem: string, at: number) => fail("filter-syntax", { problem, at });

function isTrue(text: string): boolean {
  return text.toLowerCase() === "true";
}

function infinity(text: string): number {
  return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

const timestampParts =
  /^(-?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):(\d\d))$/i;

/** Ignores fractions finer than milliseconds (docs/reference/odata.md#values). */
function timestampMs(text: string, at: number): number {
  const parts = timestampParts.exec(text)!;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const fraction = Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const zone = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === "-" ? -1 : 1);
  const time = new Date(0);
  time.setUTCFullYear(year!, month! - 1, day);
  const isDay = time.getUTCMonth() === month! - 1 && time.getUTCDate() === day;
  const isClock = hour! < 24 && minute! < 60 && second! < 60 && Math.abs(zone) <= 14 * 60;
  if (!isDay || !isClock || year! < 1 || year! > 9999) throw syntax(`${text} is not a valid time`, at);
  return time.getTime() + ((hour! * 60 + minute! - zone) * 60 + second!) * 1000 + fraction;
}

const durationParts = /^([+-]?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i;

function durationMs(text: string, at: number): number {
  const parts = durationParts.exec(unquoted(text));
  if (!parts || !/\d/.test(text) || /T'$/i.test(text)) throw syntax(`${text} is not a valid duration`, at);
  const [days, hours, minutes, seconds] = parts.slice(2).map((part) => Number(part ?? 0));
  const total = ((days! * 24 + hours!) * 60 + minutes!) * 60_000 + seconds! * 1000;
  return parts[1] === "-" ? -total : total;
}
