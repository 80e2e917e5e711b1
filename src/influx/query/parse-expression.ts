// Parses expressions of the select list and the conditions of WHERE clauses.
import { limits } from "../../limits.ts";
import type { ComparisonOperator, NamePattern, Operator, QueryExpression, WhereCondition } from "./ast.ts";
import { queryProblem } from "./problems.ts";
import type { TokenReader } from "./token-reader.ts";

/** A comparison of `time`. Its value needs the time zone, which follows later in the statement. */
export interface TimeComparison {
  readonly is: ComparisonOperator;
  readonly value: QueryExpression;
}

export interface ParsedWhere {
  readonly times: readonly TimeComparison[];
  readonly condition: WhereCondition;
}

export const everything: WhereCondition = { kind: "constant", value: true };

/** The clause if there is one. */
export function parseWhere(reader: TokenReader): ParsedWhere {
  if (!reader.tryWord("where")) return { times: [], condition: everything };
  const times: TimeComparison[] = [];
  return { times, condition: new ConditionParser(reader, times).all() };
}

/** The operators of each level of precedence, the weakest first. */
const levels: readonly (readonly Operator[])[] = [
  ["+", "-"],
  ["*", "/", "%"],
];

export function parseExpression(reader: TokenReader, depth = 0): QueryExpression {
  return parseLevel(reader, 0, depth);
}

function refuseDeeper(depth: number): void {
  if (depth > limits.influxqlDepthMax)
    throw queryProblem(`the query is nested more than ${limits.influxqlDepthMax} deep`);
}

function parseLevel(reader: TokenReader, level: number, depth: number): QueryExpression {
  const operators = levels[level];
  if (!operators) return parseOperand(reader, depth);
  let left = parseLevel(reader, level + 1, depth);
  // A chain of operators is as deep as it is long.
  for (let chained = depth; ; chained += 1) {
    refuseDeeper(chained);
    const operator = reader.trySymbol(...operators) as Operator | undefined;
    if (!operator) return left;
    left = { kind: "binary", operator, left, right: parseLevel(reader, level + 1, depth) };
  }
}

function parseOperand(reader: TokenReader, depth: number): QueryExpression {
  refuseDeeper(depth);
  const token = reader.next;
  if (reader.trySymbol("(")) {
    const inner = parseExpression(reader, depth + 1);
    reader.symbol(")");
    return inner;
  }
  if (reader.trySymbol("*")) return { kind: "wildcard", ...parseType(reader) };
  if (reader.trySymbol("-")) {
    const right = parseOperand(reader, depth + 1);
    if (right.kind === "number") return negated(right);
    return { kind: "binary", operator: "*", left: { kind: "number", value: -1, integer: -1n }, right };
  }
  reader.trySymbol("+");
  if (token.kind === "word" || token.kind === "quoted") return parseNamed(reader, depth);
  reader.skip();
  switch (token.kind) {
    case "integer":
      return { kind: "number", value: Number(token.value), integer: token.value };
    case "number":
      return { kind: "number", value: token.value };
    case "string":
      return { kind: "string", value: token.text };
    case "duration":
      return { kind: "duration", nanoseconds: token.nanoseconds };
    case "regex":
      return { kind: "regex", source: token.text };
    default:
      throw queryProblem(`found ${token.text || "EOF"}, expected identifier, string, number, bool`);
  }
}

const negated = ({ value, integer }: Extract<QueryExpression, { kind: "number" }>): QueryExpression => ({
  kind: "number",
  value: -value,
  ...(integer !== undefined && { integer: -integer }),
});

function parseNamed(reader: TokenReader, depth: number): QueryExpression {
  const isWord = reader.next.kind === "word";
  const name = reader.name();
  if (isWord && /^(true|false)$/i.test(name))
    return { kind: "boolean", value: name.toLowerCase() === "true" };
  if (!isWord || !reader.trySymbol("(")) return { kind: "reference", name, ...parseType(reader) };
  const parameters = reader.isSymbol(")") ? [] : reader.list(() => parseExpression(reader, depth + 1));
  reader.symbol(")");
  return { kind: "call", name: name.toLowerCase(), parameters };
}

const parseType = (reader: TokenReader): { readonly type?: string } =>
  reader.trySymbol("::") ? { type: reader.name().toLowerCase() } : {};

/** A name or a regular expression. */
export function parsePattern(reader: TokenReader): NamePattern {
  if (reader.next.kind === "regex") return { source: reader.skip().text };
  return { name: reader.name() };
}

const comparisons: ReadonlyMap<string, ComparisonOperator> = new Map([
  ["=", "="],
  ["!=", "!="],
  ["<>", "!="],
  ["<", "<"],
  ["<=", "<="],
  [">", ">"],
  [">=", ">="],
]);

/** Parses conditions; comparisons of the time are taken out, because they are the range of the statement. */
class ConditionParser {
  readonly #reader: TokenReader;
  readonly #times: TimeComparison[];

  constructor(reader: TokenReader, times: TimeComparison[]) {
    this.#reader = reader;
    this.#times = times;
  }

  all(depth = 0): WhereCondition {
    refuseDeeper(depth);
    const timesBefore = this.#times.length;
    const parts = [this.#conjunction(depth)];
    while (this.#reader.tryWord("or")) parts.push(this.#conjunction(depth));
    if (parts.length === 1) return parts[0]!;
    if (this.#times.length > timesBefore)
      throw queryProblem("conditions on time within OR are not supported");
    return { kind: "or", parts };
  }

  #conjunction(depth: number): WhereCondition {
    const parts = [this.#comparison(depth)];
    while (this.#reader.tryWord("and")) parts.push(this.#comparison(depth));
    return parts.length === 1 ? parts[0]! : { kind: "and", parts };
  }

  #comparison(depth: number): WhereCondition {
    const reader = this.#reader;
    if (reader.trySymbol("(")) {
      const inner = this.all(depth + 1);
      reader.symbol(")");
      return inner;
    }
    const left = parseExpression(reader);
    if (left.kind === "boolean") return { kind: "constant", value: left.value };
    const symbol = reader.skip().text;
    if (symbol === "=~" || symbol === "!~") {
      const { text: source } = reader.of("regex", "regex");
      const { name, type } = namedBy(left);
      return { kind: "match", name, source, isNegated: symbol === "!~", ...(type && { type }) };
    }
    const is = comparisons.get(symbol);
    if (!is) throw queryProblem(`found ${symbol || "EOF"}, expected a comparison`);
    const right = parseExpression(reader);
    return left.kind === "reference"
      ? this.#compare(left, is, right)
      : this.#compare(right, reversed[is], left);
  }

  #compare(left: QueryExpression, is: ComparisonOperator, value: QueryExpression): WhereCondition {
    const { name, type } = namedBy(left);
    if (name.toLowerCase() !== "time")
      return { kind: "compare", name, is, value: literal(value), ...(type && { type }) };
    this.#times.push({ is, value });
    return everything;
  }
}

const reversed = { "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

function namedBy(side: QueryExpression): { readonly name: string; readonly type?: string } {
  if (side.kind === "reference") return side;
  throw queryProblem(
    "a condition compares the name of a tag or field with a value; arithmetic is not supported",
  );
}

function literal(value: QueryExpression): QueryExpression {
  if (["number", "string", "boolean"].includes(value.kind)) return value;
  throw queryProblem("a condition compares the name of a tag or field with a string, number or boolean");
}
