// Parses the expression language of calculated series. A refusal gives the position and the expected token.
//
//   any        = conjunct { OR conjunct }
//   conjunct   = negated { AND negated }
//   negated    = NOT negated | comparison
//   comparison = sum [ ("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") sum ]
//   sum        = product { ("+" | "-") product }
//   product    = signed { ("*" | "/" | "%") ( [ "-" | "+" ] number | primary ) }
//   signed     = ("-" | "+") signed | primary
//   primary    = number | "[" name "]" | call | "pi" [ "(" ")" ] | "(" any ")" | case
//   call       = function "(" any { "," any } ")"
//   case       = CASE [ any ] WHEN any THEN any { WHEN any THEN any } [ ELSE any ] END
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { AggregateName } from "../../storage/points.ts";
import { type FunctionName, functions, isOperator } from "./functions.ts";

export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "leaf"; readonly leaf: Leaf }
  | {
      readonly kind: "call";
      readonly name: FunctionName;
      readonly given: readonly [Expression, ...Expression[]];
    };

/**
 * The content of square brackets: an alias or the id of a series. Equal leaves of a function are one object.
 */
export interface Leaf {
  readonly name: string;
  /** Set where an aggregate function is applied to it, as in `avg([a])`. */
  readonly aggregate?: AggregateName;
  /** Where it is first in the expression, counted from 1. */
  readonly position: number;
}

export interface ParsedFunction {
  readonly expression: Expression;
  readonly leaves: ReadonlySet<Leaf>;
}

/** Other names of functions. */
const synonyms: Readonly<Record<string, FunctionName>> = { average: "avg", power: "pow" };

/** Functions that with one argument are aggregates of a series. */
const aggregates: Readonly<Record<string, AggregateName>> = {
  avg: "average",
  max: "max",
  min: "min",
  sum: "sum",
};

/**
 * Parses a function (docs/calculated.md#the-language). Refuses (400) malformed functions, functions without a
 * series, and aggregates of anything except a series.
 */
export function parseFunction(text: string, field: string): ParsedFunction {
  if (text.length > limits.functionLengthMax) {
    const expected = `at most ${limits.functionLengthMax} characters`;
    throw fail("field-invalid", { field, expected, got: `${text.length}` });
  }
  return new Parser(text, field).parse();
}

/** The most characters of a token that a refusal repeats. */
const gotLengthMax = 60;

interface Token {
  readonly kind: "number" | "leaf" | "word" | "sign" | "end";
  readonly text: string;
  /** Counted from 0. */
  readonly at: number;
}

const tokenForms = [
  /(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/,
  /\[(?<leaf>[^[\]]*)\]/,
  /(?<word>[A-Za-z_]\w*)/,
  /(?<sign><>|!=|<=|>=|[-+*/%(),<>=])/,
];
const tokenPattern = new RegExp(tokenForms.map(({ source }) => source).join("|"), "y");
const blanks = /\s*/y;

class Parser {
  readonly #text: string;
  readonly #field: string;
  readonly #leaves = new Map<string, Leaf>();
  #token: Token;
  #at = 0;
  #depth = 0;

  constructor(text: string, field: string) {
    this.#text = text;
    this.#field = field;
    this.#token = this.#read();
  }

  parse(): ParsedFunction {
    const expression = this.#any();
    if (this.#token.kind !== "end") throw this.#unexpected("an operator or the end");
    if (isCondition(expression)) throw this.#fault(0, valueExpected, "a condition");
    const leaves = new Set(leavesOf(expression));
    if (leaves.size === 0)
      throw this.#fault(0, "a series in square brackets, as in [123] or [alias]", "none");
    if (leaves.size > limits.functionLeavesMax)
      throw fail("too-many", { field: this.#field, limit: limits.functionLeavesMax, got: leaves.size });
    return { expression, leaves };
  }

  #any(): Expression {
    let left = this.#conjunct();
    for (let { at } = this.#token; this.#keyword("or"); { at } = this.#token)
      left = this.#checked("or", [left, this.#conjunct()], at);
    return left;
  }

  #conjunct(): Expression {
    let left = this.#negated();
    for (let { at } = this.#token; this.#keyword("and"); { at } = this.#token)
      left = this.#checked("and", [left, this.#negated()], at);
    return left;
  }

  #negated(): Expression {
    const { at } = this.#token;
    if (!this.#keyword("not")) return this.#comparison();
    return this.#checked("not", [this.#deeper(() => this.#negated())], at);
  }

  #comparison(): Expression {
    const left = this.#sum();
    const { at } = this.#token;
    const sign = this.#sign("=", "<>", "!=", "<", "<=", ">", ">=");
    return sign ? this.#checked(sign === "!=" ? "<>" : sign, [left, this.#sum()], at) : left;
  }

  #sum(): Expression {
    let left = this.#product();
    let { at } = this.#token;
    for (let sign = this.#sign("+", "-"); sign; sign = this.#sign("+", "-")) {
      left = this.#checked(sign, [left, this.#product()], at);
      at = this.#token.at;
    }
    return left;
  }

  #product(): Expression {
    let left = this.#signed();
    let { at } = this.#token;
    for (let sign = this.#sign("*", "/", "%"); sign; sign = this.#sign("*", "/", "%")) {
      left = this.#checked(sign, [left, this.#factor()], at);
      at = this.#token.at;
    }
    return left;
  }

  /** Refuses `[a] / - [b]`, as the Grafana data source does; `[a] * -1` is a product with a number. */
  #factor(): Expression {
    const { at } = this.#token;
    const sign = this.#sign("-", "+");
    if (!sign) return this.#primary();
    if (this.#token.kind !== "number")
      throw this.#fault(at, "brackets around the sign and its operand, as in [a] / (-[b]),", sign);
    const number = this.#primary();
    return sign === "-" ? { kind: "call", name: "negate", given: [number] } : number;
  }

  #signed(): Expression {
    const { at } = this.#token;
    const sign = this.#sign("-", "+");
    if (!sign) return this.#primary();
    const signed = this.#deeper(() => this.#signed());
    return sign === "-" ? this.#checked("negate", [signed], at) : signed;
  }

  #primary(): Expression {
    const token = this.#token;
    switch (token.kind) {
      case "number": {
        const value = Number(token.text);
        if (!Number.isFinite(value)) throw this.#unexpected("a number within the range of a double");
        this.#advance();
        return { kind: "number", value };
      }
      case "leaf":
        this.#advance();
        return this.#leaf({ name: token.text, position: token.at + 1 });
      case "word":
        this.#advance();
        return this.#deeper(() => this.#call(token));
      default: {
        if (!this.#sign("(")) throw this.#unexpected("a number, a series such as [123], a function or (");
        const inner = this.#deeper(() => this.#any());
        this.#expect(")");
        return inner;
      }
    }
  }

  #call(word: Token): Expression {
    const lower = word.text.toLowerCase();
    if (lower === "pi") return this.#pi();
    if (lower === "case") return this.#case(word);
    const name = Object.hasOwn(synonyms, lower) ? synonyms[lower]! : lower;
    if (!isFunctionName(name)) throw this.#fault(word.at, `one of ${functionNames.join(", ")}`, word.text);
    this.#expect("(");
    const given: [Expression, ...Expression[]] = [this.#any()];
    while (this.#sign(",")) given.push(this.#any());
    const { least, most } = functions[name];
    if (given.length < least || given.length > most) {
      const count = least === most ? `${least}` : `${least} to ${most}`;
      throw this.#fault(word.at, `${count} arguments of ${word.text}`, `${given.length}`);
    }
    this.#expect(")");
    return given.length === 1 && Object.hasOwn(aggregates, name)
      ? this.#aggregateOf(given[0], word, aggregates[name]!)
      : this.#checked(name, given, word.at);
  }

  /** `CASE x WHEN y` compares x with y. Without ELSE a row has no value if no condition holds. */
  #case(word: Token): Expression {
    const subject = this.#isKeyword("when") ? undefined : this.#any();
    const given: Expression[] = [];
    while (given.length === 0 || this.#isKeyword("when")) {
      const { at } = this.#token;
      this.#expectKeyword("when");
      const when = this.#any();
      this.#expectKeyword("then");
      given.push(subject ? this.#checked("=", [subject, when], at) : when, this.#any());
    }
    const otherwise = this.#keyword("else") ? this.#any() : noValue;
    this.#expectKeyword("end");
    const [first, ...rest] = given;
    return this.#checked("case", [first!, ...rest, otherwise], word.at);
  }

  /** Refuses numbers as conditions and conditions as numbers. */
  #checked(name: FunctionName, given: [Expression, ...Expression[]], at: number): Expression {
    for (const [i, one] of given.entries()) {
      const wantsCondition =
        connectives.has(name) || (name === "case" && i % 2 === 0 && i < given.length - 1);
      if (wantsCondition && !isCondition(one)) throw this.#fault(at, conditionExpected, "a number");
      if (!wantsCondition && isCondition(one)) throw this.#fault(at, valueExpected, "a condition");
    }
    return { kind: "call", name, given };
  }

  #pi(): Expression {
    if (this.#sign("(")) this.#expect(")");
    return { kind: "number", value: Math.PI };
  }

  #aggregateOf(argument: Expression, word: Token, aggregate: AggregateName): Expression {
    if (argument.kind === "leaf") return this.#leaf({ ...argument.leaf, aggregate });
    throw this.#fault(
      word.at,
      `${word.text} of one series, as in avg([a]) + avg([b]),`,
      "a combined expression",
    );
  }

  #leaf(leaf: Leaf): Expression {
    const key = JSON.stringify([leaf.name, leaf.aggregate]);
    const known = this.#leaves.get(key) ?? leaf;
    this.#leaves.set(key, known);
    return { kind: "leaf", leaf: known };
  }

  #deeper(parse: () => Expression): Expression {
    this.#depth += 1;
    if (this.#depth > limits.functionDepthMax)
      throw this.#fault(this.#token.at, `at most ${limits.functionDepthMax} levels`, "more");
    const parsed = parse();
    this.#depth -= 1;
    return parsed;
  }

  /** Takes the next token if it is one of these signs. */
  #sign<Sign extends string>(...signs: readonly Sign[]): Sign | undefined {
    const found = this.#token.kind === "sign" ? signs.find((sign) => sign === this.#token.text) : undefined;
    if (found) this.#advance();
    return found;
  }

  #isKeyword(keyword: string): boolean {
    return this.#token.kind === "word" && this.#token.text.toLowerCase() === keyword;
  }

  /** Takes the next token if it is this keyword. */
  #keyword(keyword: string): boolean {
    const found = this.#isKeyword(keyword);
    if (found) this.#advance();
    return found;
  }

  #expectKeyword(keyword: string): void {
    if (!this.#keyword(keyword)) throw this.#unexpected(keyword.toUpperCase());
  }

  #expect(sign: string): void {
    if (!this.#sign(sign)) throw this.#unexpected(sign);
  }

  #advance(): void {
    this.#token = this.#read();
  }

  #read(): Token {
    blanks.lastIndex = this.#at;
    blanks.test(this.#text);
    const at = blanks.lastIndex;
    if (at === this.#text.length) return { kind: "end", text: "", at };
    tokenPattern.lastIndex = at;
    const { number, leaf, word, sign } = tokenPattern.exec(this.#text)?.groups ?? {};
    this.#at = tokenPattern.lastIndex;
    if (number !== undefined) return { kind: "number", text: number, at };
    if (leaf !== undefined) return { kind: "leaf", text: leaf.trim(), at };
    if (word !== undefined) return { kind: "word", text: word, at };
    if (sign !== undefined) return { kind: "sign", text: sign, at };
    const expected = "a number, a series such as [123], a function, an operator or a bracket";
    throw this.#fault(at, expected, String.fromCodePoint(this.#text.codePointAt(at)!));
  }

  #unexpected(expected: string) {
    const { kind, text, at } = this.#token;
    const got = kind === "end" ? "the end" : kind === "leaf" ? `[${text}]` : text;
    return this.#fault(at, expected, got);
  }

  #fault(at: number, expected: string, got: string) {
    const cut = got.length > gotLengthMax ? `${got.slice(0, gotLengthMax)}...` : got;
    return fail("field-invalid", {
      field: this.#field,
      expected: `${expected} at character ${at + 1}`,
      got: cut,
      position: at + 1,
    });
  }
}

/** All leaves of the expression, with repeats. */
export function leavesOf(expression: Expression): readonly Leaf[] {
  if (expression.kind === "leaf") return [expression.leaf];
  return expression.kind === "call" ? expression.given.flatMap(leavesOf) : [];
}

const connectives: ReadonlySet<FunctionName> = new Set(["and", "or", "not"]);
const conditions: ReadonlySet<FunctionName> = new Set([...connectives, "=", "<>", "<", "<=", ">", ">="]);

const isCondition = (expression: Expression): boolean =>
  expression.kind === "call" && conditions.has(expression.name);

const conditionExpected = "a condition, as in [a] > 5,";
const valueExpected = "a number, as of CASE WHEN [a] > 5 THEN 1 ELSE 0 END,";

const noValue: Expression = { kind: "number", value: Number.NaN };

const functionNames = [...Object.keys(functions).filter((name) => !isOperator(name)), "pi"].sort();

const isFunctionName = (name: string): name is FunctionName =>
  Object.hasOwn(functions, name) && !isOperator(name);
