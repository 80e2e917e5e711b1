// Parses a query of InfluxQL to its statements.
import { isTimeZone } from "../../lib/clock-buckets.ts";
import { limits } from "../../limits.ts";
import type {
  Dimension,
  Fill,
  NamePattern,
  QueryStatement,
  RefusedStatement,
  Select,
  SelectColumn,
  Show,
  ShowSubject,
  TimeGrouping,
  Where,
  Window,
} from "./ast.ts";
import type { BoundParameters } from "./parameters.ts";
import { type ParsedWhere, parseExpression, parsePattern, parseWhere } from "./parse-expression.ts";
import { queryProblem } from "./problems.ts";
import { rangeOf } from "./time-range.ts";
import { TokenReader } from "./token-reader.ts";
import { tokensOf } from "./tokens.ts";

interface ParseOptions {
  readonly nowMs: number;
  /** The values of `$name` in the query. */
  readonly parameters: BoundParameters;
}

/** Refuses (400) text that is not InfluxQL. A statement that is not served becomes one that is refused. */
export function parseQuery(text: string, { nowMs, parameters }: ParseOptions): QueryStatement[] {
  if (text.length > limits.influxqlLengthMax)
    throw queryProblem(`the query has more than ${limits.influxqlLengthMax} characters`);
  const reader = new TokenReader(tokensOf(text).map((token) => parameters.resolve(token)));
  const statements: QueryStatement[] = [];
  while (!reader.isAtEnd) {
    if (reader.trySymbol(";")) continue;
    if (statements.length === limits.influxqlStatementsMax)
      throw queryProblem(`the query has more than ${limits.influxqlStatementsMax} statements`);
    statements.push(parseStatement(reader, nowMs));
    if (!reader.isAtEnd && !reader.trySymbol(";")) reader.fail(";, EOF");
  }
  return statements;
}

function parseStatement(reader: TokenReader, nowMs: number): QueryStatement {
  if (reader.tryWord("select")) return parseSelect(reader, nowMs);
  if (reader.tryWord("show")) return parseShow(reader, nowMs);
  const others = ["alter", "create", "delete", "drop", "explain", "grant", "kill", "revoke", "set"];
  if (!reader.isWord(...others)) reader.fail("SELECT, SHOW");
  return refused(reader, []);
}

/** Skips the rest of the statement; the message has its first words. */
function refused(reader: TokenReader, before: readonly string[], wordsMax = 2): RefusedStatement {
  const words = [...before];
  let isNaming = true;
  while (!reader.isAtEnd && !reader.isSymbol(";")) {
    const token = reader.skip();
    isNaming &&= token.kind === "word" && words.length < wordsMax;
    if (isNaming) words.push(token.text.toUpperCase());
  }
  return { kind: "refused", problem: `${words.join(" ")} is not supported` };
}

function parseSelect(reader: TokenReader, nowMs: number): Select {
  const columns = reader.list(() => parseColumn(reader));
  if (reader.isWord("into")) throw queryProblem("SELECT INTO is not supported");
  reader.word("from");
  const from = parseSources(reader);
  const where = parseWhere(reader);
  const { time, dimensions } = parseGroupBy(reader);
  const fill = parseFill(reader);
  const isDescending = parseOrder(reader);
  const rows = parseWindow(reader, "limit", "offset");
  const series = parseWindow(reader, "slimit", "soffset");
  const timeZone = parseTimeZone(reader);
  const clock = { nowMs, timeZone };
  const resolved = { time: rangeOf(where.times, clock), condition: where.condition };
  return {
    kind: "select",
    columns,
    from,
    where: resolved,
    time,
    dimensions,
    fill,
    isDescending,
    rows,
    series,
    timeZone,
  };
}

function parseColumn(reader: TokenReader): SelectColumn {
  if (reader.isWord("distinct")) throw queryProblem("DISTINCT is not supported");
  const expression = parseExpression(reader);
  return { expression, alias: reader.tryWord("as") ? reader.name() : undefined };
}

function parseSources(reader: TokenReader): NamePattern[] {
  return reader.list(() => {
    if (reader.isSymbol("(")) throw queryProblem("subqueries are not supported");
    return parseSource(reader);
  });
}

/** `"database"."policy"."measurement"`: database and policy are ignored, as in writes. */
function parseSource(reader: TokenReader): NamePattern {
  let found = parsePattern(reader);
  while (reader.trySymbol(".")) {
    if (reader.trySymbol(".")) return parsePattern(reader);
    found = parsePattern(reader);
  }
  return found;
}

function parseGroupBy(reader: TokenReader): Pick<Select, "time" | "dimensions"> {
  if (!reader.tryWord("group")) return { time: undefined, dimensions: [] };
  reader.word("by");
  let time: TimeGrouping | undefined;
  const dimensions: Dimension[] = [];
  reader.list(() => {
    const dimension = parseDimension(reader);
    if ("lengthMs" in dimension) {
      if (time) throw queryProblem("multiple time dimensions not allowed");
      time = dimension;
    } else dimensions.push(dimension);
  });
  return { time, dimensions };
}

function parseDimension(reader: TokenReader): Dimension | TimeGrouping {
  if (reader.trySymbol("*")) {
    if (reader.trySymbol("::")) reader.word("tag");
    return { kind: "every tag" };
  }
  const isWord = reader.next.kind === "word";
  const pattern = parsePattern(reader);
  if (isWord && "name" in pattern && pattern.name.toLowerCase() === "time" && reader.trySymbol("("))
    return parseTimeGrouping(reader);
  if (reader.trySymbol("::")) reader.word("tag");
  return { kind: "tag", pattern };
}

const nanosecondsPerMs = 1_000_000n;

function parseTimeGrouping(reader: TokenReader): TimeGrouping {
  const { nanoseconds } = reader.of("duration", "duration");
  const sign = reader.trySymbol(",") ? (reader.trySymbol("-") ? -1n : 1n) : 0n;
  const offset = sign === 0n ? 0n : reader.of("duration", "duration").nanoseconds * sign;
  reader.symbol(")");
  if (nanoseconds < nanosecondsPerMs || nanoseconds % nanosecondsPerMs || offset % nanosecondsPerMs)
    throw queryProblem("GROUP BY time needs whole milliseconds, at least one");
  const lengthMs = Number(nanoseconds / nanosecondsPerMs);
  if (lengthMs > limits.timeMsMax) throw queryProblem("the interval of GROUP BY time is too long");
  return { lengthMs, offsetMs: Number((offset % nanoseconds) / nanosecondsPerMs) };
}

function parseFill(reader: TokenReader): Fill {
  if (!reader.tryWord("fill")) return "null";
  reader.symbol("(");
  const word = reader.tryWord("null", "none", "previous", "linear") as Exclude<Fill, object> | undefined;
  const fill = word ?? parseFillNumber(reader);
  reader.symbol(")");
  return fill;
}

function parseFillNumber(reader: TokenReader): Fill {
  const expression = parseExpression(reader);
  if (expression.kind !== "number") throw queryProblem("fill needs null, none, previous, linear or a number");
  return { value: expression.value };
}

function parseOrder(reader: TokenReader): boolean {
  if (!reader.tryWord("order")) return false;
  reader.word("by");
  if (!reader.isWord("asc", "desc") && reader.name().toLowerCase() !== "time")
    throw queryProblem("only ORDER BY time supported at this time");
  return reader.tryWord("asc", "desc") === "desc";
}

function parseWindow(reader: TokenReader, limitWord: string, offsetWord: string): Window {
  const count = (word: string) =>
    reader.tryWord(word) ? Number(reader.of("integer", "integer").value) : undefined;
  const limit = count(limitWord);
  const offset = count(offsetWord) ?? 0;
  // A limit of zero is none, as in InfluxDB.
  return { limit: limit === 0 ? undefined : limit, offset };
}

function parseTimeZone(reader: TokenReader): string {
  if (!reader.tryWord("tz")) return "UTC";
  reader.symbol("(");
  const { text } = reader.of("string", "a time zone in single quotes");
  reader.symbol(")");
  if (!isTimeZone(text)) throw queryProblem(`unable to find time zone ${text}`);
  return text;
}

function parseShow(reader: TokenReader, nowMs: number): QueryStatement {
  const subject = parseSubject(reader);
  if (typeof subject !== "string") return subject;
  if (reader.isWord("cardinality", "exact"))
    return refused(reader, ["SHOW", subject.toUpperCase(), "CARDINALITY"]);
  if (reader.tryWord("on")) reader.name();
  const keyed = subject === "tag values";
  const clauses =
    subject === "measurements"
      ? measurementPattern(reader)
      : reader.tryWord("from")
        ? parseSources(reader)
        : [];
  const keys = keyed ? parseKeys(reader) : undefined;
  const where = showWhere(parseWhere(reader), nowMs);
  if (reader.isWord("group")) return refused(reader, ["SHOW", subject.toUpperCase(), "GROUP BY"]);
  parseOrder(reader);
  return { kind: "show", subject, from: clauses, keys, where, rows: parseWindow(reader, "limit", "offset") };
}

const showWhere = ({ times, condition }: ParsedWhere, nowMs: number): Where => ({
  time: rangeOf(times, { nowMs, timeZone: "UTC" }),
  condition,
});

/** The plural of these is two words. */
const twoWords: ReadonlyMap<string, readonly string[]> = new Map([
  ["retention", ["policies"]],
  ["tag", ["keys", "values"]],
  ["field", ["keys"]],
]);

function parseSubject(reader: TokenReader): ShowSubject | RefusedStatement {
  const one = reader.tryWord("databases", "measurements", "series");
  if (one) return one as ShowSubject;
  const first = reader.tryWord(...twoWords.keys());
  if (!first) return refused(reader, ["SHOW"]);
  const second = reader.tryWord(...twoWords.get(first)!);
  return second === undefined
    ? refused(reader, ["SHOW", first.toUpperCase()], 3)
    : (`${first} ${second}` as ShowSubject);
}

/** `WITH MEASUREMENT = "cpu"` or `=~ /regex/`. */
function measurementPattern(reader: TokenReader): NamePattern[] {
  if (!reader.tryWord("with")) return [];
  reader.word("measurement");
  if (!reader.trySymbol("=", "=~")) reader.fail("=, =~");
  return [parseSource(reader)];
}

/** `WITH KEY = "host"`, `IN ("host", "region")`, `=~ /regex/`, `!= "host"`, `!~ /regex/`. */
function parseKeys(reader: TokenReader): Show["keys"] {
  reader.word("with");
  reader.word("key");
  if (reader.tryWord("in")) {
    reader.symbol("(");
    const patterns = reader.list(() => ({ name: reader.name() }));
    reader.symbol(")");
    return { patterns, isNegated: false };
  }
  const symbol = reader.trySymbol("=", "=~", "!=", "<>", "!~") ?? reader.fail("IN, =, !=, =~, !~");
  return { patterns: [parsePattern(reader)], isNegated: !["=", "=~"].includes(symbol) };
}
