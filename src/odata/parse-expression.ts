// Parses OData expressions by recursive descent with operator precedence: from the tokens of `tokens.ts` to
// the tree of `expression.ts`.
//
// The parser is our own, as no parser in the npm registry gets `not`, `in` and the operator precedence
// right (docs/decisions). Valid OData that no entity set supports becomes an `unsupported` node, so that it
// is refused as not supported (501) and not as a syntax error (400).
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import {
  type Binary,
  type FilterExpression,
  functions,
  type PropertyPath,
  precedence,
  precedenceOf,
} from "./expression.ts";
import { syntax, type Token, tokensOf } from "./tokens.ts";

/** The values of parameter aliases by name (`@p1`), as strings. */
export type Aliases = ReadonlyMap<string, string>;

/**
 * Parses an expression. Refuses syntax errors, and expressions that are too long, too deep or have too many
 * parts.
 */
export function parseExpression(text: string, aliases: Aliases): FilterExpression {
  return new Parser(text, aliases, { parts: 0, depth: 0 }).whole();
}

/**
 * The size of the expression read so far. An alias counts where it is used, so that all parsers share one.
 */
interface ExpressionSize {
  parts: number;
  depth: number;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #aliases: Aliases;
  readonly #size: ExpressionSize;
  #position = 0;

  constructor(text: string, aliases: Aliases, size: ExpressionSize) {
    if (text.length > limits.odataExpressionLengthMax)
      throw fail("filter-too-large", { what: "characters", limit: limits.odataExpressionLengthMax });
    this.#tokens = tokensOf(text);
    this.#aliases = aliases;
    this.#size = size;
  }

  whole(): FilterExpression {
    const expression = this.#operation(precedence.none);
    if (this.#next.kind !== "end") throw this.#unexpected("an operator such as and, or, eq");
    return expression;
  }

  get #next(): Token {
    return this.#tokens[this.#position]!;
  }

  get #nextText(): string {
    return "text" in this.#next ? this.#next.text : "";
  }

  #take(): Token {
    const token = this.#next;
    if (token.kind === "end") throw this.#unexpected("an expression");
    if (++this.#size.parts > limits.odataExpressionPartsMax)
      throw fail("filter-too-large", { what: "parts", limit: limits.odataExpressionPartsMax });
    this.#position++;
    return token;
  }

  #takeSign(sign: string): boolean {
    const isThere = this.#next.kind === "sign" && this.#next.text === sign;
    if (isThere) this.#position++;
    return isThere;
  }

  #expect(sign: string): void {
    if (!this.#takeSign(sign)) throw this.#unexpected(`'${sign}'`);
  }

  #unexpected(expected: string) {
    const { at } = this.#next;
    if (this.#next.kind === "end") return syntax(`${expected} is missing at the end`, at);
    const found = this.#next.kind === "literal" ? "a value" : `'${this.#nextText}'`;
    return syntax(`expected ${expected} but found ${found}`, at);
  }

  /** Calls `read` one level deeper. Refuses too many levels. */
  #nested<Result>(read: () => Result): Result {
    if (++this.#size.depth > limits.odataExpressionDepthMax)
      throw fail("filter-too-large", { what: "levels of nesting", limit: limits.odataExpressionDepthMax });
    const result = read();
    this.#size.depth--;
    return result;
  }

  /** Reads an operand, and all operators after it that bind tighter than `loosest` with their operands. */
  #operation(loosest: number): FilterExpression {
    let left = this.#operand();
    for (;;) {
      const { at } = this.#next;
      const tightness = this.#next.kind === "name" ? precedenceOf(this.#nextText) : precedence.none;
      if (tightness <= loosest) return left;
      const operator = (this.#take() as { text: string }).text.toLowerCase();
      if (operator === "in") left = { kind: "in", left, items: this.#items(), at };
      else {
        const right = this.#operation(tightness);
        left = { kind: "binary", operator: operator as Binary["operator"], left, right, at };
      }
    }
  }

  #operand(): FilterExpression {
    const token = this.#take();
    const { at } = token;
    if (token.kind === "literal") return token;
    if (token.kind === "unsupported") {
      if (token.text.startsWith('"')) throw syntax("strings need single quotes", at);
      return { kind: "unsupported", feature: `The literal ${token.text}`, at };
    }
    if (token.kind === "name") return this.#startingWith(token.text, at);
    const sign = (token as { text: string }).text;
    if (sign === "(") return this.#parenthesised();
    if (sign === "-")
      return { kind: "negate", part: this.#nested(() => this.#operation(precedence.prefix)), at };
    if (sign === "[" || sign === "{") return this.#json(sign, at);
    this.#position--;
    throw this.#unexpected("a property, a value or a function");
  }

  #parenthesised(): FilterExpression {
    const inside = this.#nested(() => this.#operation(precedence.none));
    this.#expect(")");
    return inside;
  }

  #startingWith(word: string, at: number): FilterExpression {
    if (word.startsWith("@")) return this.#alias(word, at);
    const isCall = this.#nextText === "(" && this.#next.kind === "sign";
    if (word.toLowerCase() === "not" && !this.#endsPath())
      return { kind: "not", part: this.#nested(() => this.#operation(precedence.prefix)), at };
    if (isCall && Object.hasOwn(functions, word.toLowerCase())) return this.#call(word, at);
    return this.#path(word, at);
  }

  /** Whether the word just read is a path: then the next token cannot be the operand of a prefix operator. */
  #endsPath(): boolean {
    const { kind } = this.#next;
    return kind === "end" || (kind === "sign" && !["(", "-"].includes(this.#nextText));
  }

  #call(word: string, at: number): FilterExpression {
    const name = word.toLowerCase();
    const parts = this.#arguments();
    const [fewest, most] = functions[name]!;
    if (parts.length < fewest || parts.length > most)
      throw syntax(`${word} takes ${fewest === most ? fewest : `${fewest} or ${most}`} arguments`, at);
    if (this.#nextText !== "/") return { kind: "call", name, parts, at };
    this.#skipSegments();
    return { kind: "unsupported", feature: `A path after ${word}(...)`, at };
  }

  /** Reads expressions in parentheses, possibly named (`Word=...`), possibly none. */
  #arguments(): FilterExpression[] {
    this.#expect("(");
    const parts: FilterExpression[] = [];
    if (this.#takeSign(")")) return parts;
    do parts.push(this.#nested(() => this.#argument()));
    while (this.#takeSign(","));
    this.#expect(")");
    return parts;
  }

  #argument(): FilterExpression {
    const following = this.#tokens[this.#position + 1];
    const isNamed = this.#next.kind === "name" && following?.kind === "sign" && following.text === "=";
    if (isNamed) this.#position += 2;
    return this.#operation(precedence.none);
  }

  /**
   * Reads the values after `in`: a list of literals, or an expression that is itself a list (OData 4.01).
   */
  #items(): FilterExpression[] {
    const { at } = this.#next;
    const [first] = this.#nextText;
    if (first !== "(") return [this.#operation(precedence.membership)];
    const items = this.#arguments();
    const isValue = ({ kind }: FilterExpression) => kind === "literal" || kind === "unsupported";
    if (items.length > 1 && !items.every(isValue))
      throw syntax("the list after in takes values, not properties", at);
    return items;
  }

  #path(word: string, at: number): FilterExpression {
    const names = [word];
    let feature = word.startsWith("$")
      ? word
      : this.#nextText === "("
        ? `The function or key ${word}(...)`
        : word.includes(".")
          ? `The type ${word}`
          : "";
    if (word.startsWith("$") && !["$it", "$root", "$this", "$count"].includes(word))
      throw syntax(`${word} has no meaning here`, at);
    if (this.#nextText === "(" && this.#next.kind === "sign") {
      const isUnknown = !word.includes(".") && /^[a-z]/.test(word);
      if (isUnknown) throw syntax(`there is no function ${word}`, at);
      this.#arguments();
    }
    while (this.#takeSign("/")) {
      const segment = this.#segment({ kind: "path", names, at });
      if (typeof segment === "string") names.push(segment);
      else if (segment.kind === "unsupported") feature ||= segment.feature;
      else return feature ? { kind: "unsupported", feature, at } : segment;
    }
    if (feature) return { kind: "unsupported", feature, at };
    return { kind: "path", names, at };
  }

  /** Reads the segment after a `/`: a name, or an expression that ends the path or is not supported. */
  #segment(path: PropertyPath): string | Exclude<FilterExpression, PropertyPath> {
    const token = this.#take();
    const { at } = token;
    if (token.kind !== "name") {
      this.#position--;
      throw this.#unexpected("a name");
    }
    const { text } = token;
    const isCall = this.#next.kind === "sign" && this.#nextText === "(";
    if ((text === "any" || text === "all") && isCall) return this.#lambda(path, text, at);
    if (isCall) this.#arguments();
    if (isCall || text.startsWith("$") || text.startsWith("@") || text.includes("."))
      return { kind: "unsupported", feature: `The path segment ${text}`, at };
    return text;
  }

  #lambda(path: PropertyPath, quantifier: "any" | "all", at: number): FilterExpression & { kind: "lambda" } {
    this.#expect("(");
    if (quantifier === "any" && this.#takeSign(")"))
      return { kind: "lambda", path, quantifier, variable: "", body: undefined, at };
    const variable = this.#next;
    if (variable.kind !== "name") throw this.#unexpected("a variable such as a:");
    this.#position++;
    this.#expect(":");
    const body = this.#nested(() => this.#operation(precedence.none));
    this.#expect(")");
    return { kind: "lambda", path, quantifier, variable: variable.text, body, at };
  }

  /** Reads a parameter alias, whose value is null if the request has none, or an annotation. */
  #alias(word: string, at: number): FilterExpression {
    if (word.includes(".") || word.includes("#") || this.#nextText === "/") {
      this.#skipSegments();
      return { kind: "unsupported", feature: `The annotation ${word}`, at };
    }
    const text = this.#aliases.get(word);
    if (text === undefined) return { kind: "literal", type: "null", value: null, at };
    return this.#nested(() => new Parser(text, this.#aliases, this.#size).whole());
  }

  /** Skips further segments of an expression that is refused in any case. */
  #skipSegments(): void {
    while (this.#takeSign("/")) this.#segment({ kind: "path", names: [], at: this.#next.at });
  }

  /** Reads a JSON list or object whose values are expressions. */
  #json(opening: "[" | "{", at: number): FilterExpression {
    const closing = opening === "[" ? "]" : "}";
    const feature = opening === "[" ? "A list in brackets" : "An object in braces";
    if (this.#takeSign(closing)) return { kind: "unsupported", feature, at };
    do
      this.#nested(() => {
        if (opening === "{") this.#memberName();
        if (this.#next.kind === "unsupported") this.#take();
        else this.#operation(precedence.none);
      });
    while (this.#takeSign(","));
    this.#expect(closing);
    return { kind: "unsupported", feature, at };
  }

  #memberName(): void {
    if (this.#next.kind !== "unsupported" || !this.#nextText.startsWith('"'))
      throw this.#unexpected("a name in quotes");
    this.#take();
    this.#expect(":");
  }
}
