// The expression language of calculated series: text to a tree, with the place and expectation of any fault.
//
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "/") signed }
//   signed  = ("-" | "+") signed | primary
//   primary = number | "[" name "]" | function "(" sum { "," sum } ")" | "pi" [ "(" ")" ] | "(" sum ")"
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { AggregateName } from "../../storage/points.ts";
import { type FunctionName, functions } from "./functions.ts";

export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "leaf"; readonly leaf: Leaf }
  | {
      readonly kind: "call";
      readonly name: FunctionName;
      readonly given: readonly [Expression, ...Expression[]];
    };

/**
 * What stands in square brackets: an alias or the id of a series. Equal ones of a function are one object.
 */
export interface Leaf {
  readonly name: string;
  /** Set where an aggregate function is applied to it, as in `avg([a])`. */
  readonly aggregate?: AggregateName;
}

export interface ParsedFunction {
  readonly expression: Expression;
  readonly leaves: ReadonlySet<Leaf>;
}

/** Other names of functions. */
const synonyms: Readonly<Record<string, FunctionName>> = { average: "avg", power: "pow" };

/** Functions that, given one argument, are aggregates of a series. */
const aggregates: Readonly<Record<string, AggregateName>> = {
  avg: "average",
  max: "max",
  min: "min",
  sum: "sum",
};

/**
 * Reads the text of a function (client-endpoints 10); refuses (400) what is none, what names no series, and
 * an aggregate of anything but a series (platform-api, Calculated time series, rule 1).
 */
export function parseFunction(text: string, field: string): ParsedFunction {
  if (text.length > limits.functionLengthMax) {
    const expected = `at most ${limits.functionLengthMax} characters`;
    throw fail("field-invalid", { field, expected, got: `${text.length}` });
  }
  return new Parser(text, field).parse();
}

/** A refusal repeats so much of what came. */
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
  /(?<sign>[-+*/(),])/,
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
    const expression = this.#sum();
    if (this.#token.kind !== "end") throw this.#unexpected("an operator or the end");
    const leaves = new Set(leavesOf(expression));
    if (leaves.size === 0)
      throw this.#fault(0, "a series in square brackets, as in [123] or [alias]", "none");
    if (leaves.size > limits.functionLeavesMax)
      throw fail("too-many", { field: this.#field, limit: limits.functionLeavesMax, got: leaves.size });
    return { expression, leaves };
  }

  #sum(): Expression {
    let left = this.#product();
    for (let sign = this.#sign("+", "-"); sign; sign = this.#sign("+", "-"))
      left = { kind: "call", name: sign, given: [left, this.#product()] };
    return left;
  }

  #product(): Expression {
    let left = this.#signed();
    for (let sign = this.#sign("*", "/"); sign; sign = this.#sign("*", "/"))
      left = { kind: "call", name: sign, given: [left, this.#signed()] };
    return left;
  }

  #signed(): Expression {
    const sign = this.#sign("-", "+");
    if (!sign) return this.#primary();
    const signed = this.#deeper(() => this.#signed());
    return sign === "-" ? { kind: "call", name: "negate", given: [signed] } : signed;
  }

  #primary(): Expression {
    const token = this.#token;
    switch (token.kind) {
      case "number":
        this.#advance();
        return { kind: "number", value: Number(token.text) };
      case "leaf":
        this.#advance();
        return this.#leaf({ name: token.text });
      case "word":
        this.#advance();
        return this.#deeper(() => this.#call(token));
      default: {
        if (!this.#sign("(")) throw this.#unexpected("a number, a series such as [123], a function or (");
        const inner = this.#deeper(() => this.#sum());
        this.#expect(")");
        return inner;
      }
    }
  }

  #call(word: Token): Expression {
    const lower = word.text.toLowerCase();
    if (lower === "pi") return this.#pi();
    const name = Object.hasOwn(synonyms, lower) ? synonyms[lower]! : lower;
    if (!isFunctionName(name)) throw this.#fault(word.at, `one of ${functionNames.join(", ")}`, word.text);
    this.#expect("(");
    const given: [Expression, ...Expression[]] = [this.#sum()];
    while (this.#sign(",")) given.push(this.#sum());
    const { least, most } = functions[name];
    if (given.length < least || given.length > most) {
      const count = least === most ? `${least}` : `${least} to ${most}`;
      throw this.#fault(word.at, `${count} arguments of ${word.text}`, `${given.length}`);
    }
    this.#expect(")");
    return given.length === 1 && Object.hasOwn(aggregates, name)
      ? this.#aggregateOf(given[0], word, aggregates[name]!)
      : { kind: "call", name, given };
  }

  #pi(): Expression {
    if (this.#sign("(")) this.#expect(")");
    return { kind: "number", value: Math.PI };
  }

  #aggregateOf(argument: Expression, word: Token, aggregate: AggregateName): Expression {
    if (argument.kind === "leaf") return this.#leaf({ name: argument.leaf.name, aggregate });
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
    });
  }
}

function leavesOf(expression: Expression): readonly Leaf[] {
  if (expression.kind === "leaf") return [expression.leaf];
  return expression.kind === "call" ? expression.given.flatMap(leavesOf) : [];
}

const operators: readonly string[] = ["+", "-", "*", "/", "negate"];

const functionNames = [...Object.keys(functions).filter((name) => !operators.includes(name)), "pi"].sort();

const isFunctionName = (name: string): name is FunctionName =>
  Object.hasOwn(functions, name) && !operators.includes(name);
