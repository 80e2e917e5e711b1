// Parses OData expressions by recursive descent with operator precedence.
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

/** The size of an expression, with the aliases in it. */
interface ExpressionSize {
  parts: number;
  depth: number;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #aliases: Aliases;
  readonly #spent: ExpressionSize;
  #place = 0;

  constructor(text: string, aliases: Aliases, spent: ExpressionSize) {
    if (text.length > limits.odataExpressionLengthMax)
      throw fail("filter-too-large", { what: "characters", limit: limits.odataExpressionLengthMax });
    this.#tokens = tokensOf(text);
    this.#aliases = aliases;
    this.#spent = spent;
  }

  whole(): FilterExpression {
    const expression = this.#operation(0);
    if (this.#next.kind !== "end") throw this.#unexpected("an operator such as and, or, eq");
    return expression;
  }

  get #next(): Token {
    return this.#tokens[this.#place]!;
  }

  get #nextText(): string {
    return "text" in this.#next ? this.#next.text : "";
  }

  #take(): Token {
    const token = this.#next;
    if (token.kind === "end") throw this.#unexpected("an expression");
    if (++this.#spent.parts > limits.odataExpressionPartsMax)
      throw fail("filter-too-large", { what: "parts", limit: limits.odataExpressionPartsMax });
    this.#place++;
    return token;
  }

  #takeSign(sign: string): boolean {
    const isThere = this.#next.kind === "sign" && this.#next.text === sign;
    if (isThere) this.#place++;
    return isThere;
  }

  #expect(sign: string): void {
    if (!this.#takeSign(sign)) throw this.#unexpected(`'${sign}'`);
  }

  #unexpected(wanted: string) {
    const { at } = this.#next;
    if (this.#next.kind === "end") return syntax(`${wanted} is missing at the end`, at);
    const found = this.#next.kind === "literal" ? "a value" : `'${this.#nextText}'`;
    return syntax(`expected ${wanted} but found ${found}`, at);
  }

  /** Reads one more level of nesting. */
  #deeper<Result>(read: () => Result): Result {
    if (++this.#spent.depth > limits.odataExpressionDepthMax)
      throw fail("filter-too-large", { what: "levels of nesting", limit: limits.odataExpressionDepthMax });
    const result = read();
    this.#spent.depth--;
    return result;
  }

  /** Reads operands and the operators between them that bind tighter than `weakest`. */
  #operation(weakest: number): FilterExpression {
    let left = this.#operand();
    for (;;) {
      const { at } = this.#next;
      const strength = this.#next.kind === "name" ? precedenceOf(this.#nextText) : 0;
      if (strength <= weakest) return left;
      const operator = (this.#take() as { text: string }).text.toLowerCase();
      if (operator === "in") left = { kind: "in", left, items: this.#items(), at };
      else {
        const right = this.#operation(strength);
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
    if (token.kind === "name") return this.#named(token.text, at);
    const sign = (token as { text: string }).text;
    if (sign === "(") return this.#parenthesised();
    if (sign === "-") return { kind: "negate", part: this.#deeper(() => this.#operation(6)), at };
    if (sign === "[" || sign === "{") return this.#json(sign, at);
    this.#place--;
    throw this.#unexpected("a property, a value or a function");
  }

  #parenthesised(): FilterExpression {
    const inside = this.#deeper(() => this.#operation(0));
    this.#expect(")");
    return inside;
  }

  #named(word: string, at: number): FilterExpression {
    if (word.startsWith("@")) return this.#alias(word, at);
    const isCall = this.#nextText === "(" && this.#next.kind === "sign";
    if (word.toLowerCase() === "not" && !this.#endsPath())
      return { kind: "not", part: this.#deeper(() => this.#operation(6)), at };
    if (isCall && word.toLowerCase() in functions) return this.#call(word, at);
    return this.#path(word, at);
  }

  /** Whether the word just read is a path: what follows cannot be the operand of a prefix operator. */
  #endsPath(): boolean {
    const { kind } = this.#next;
    return kind === "end" || (kind === "sign" && !["(", "-"].includes(this.#nextText));
  }

  #call(word: string, at: number): FilterExpression {
    const name = word.toLowerCase();
    const parts = this.#list();
    const [fewest, most] = functions[name]!;
    if (parts.length < fewest || parts.length > most)
      throw syntax(`${word} takes ${fewest === most ? fewest : `${fewest} or ${most}`} arguments`, at);
    if (this.#nextText !== "/") return { kind: "call", name, parts, at };
    this.#further();
    return { kind: "unsupported", feature: `A path after ${word}(...)`, at };
  }

  /** Reads expressions in parentheses, possibly named (`Word=...`), possibly none. */
  #list(): FilterExpression[] {
    this.#expect("(");
    const parts: FilterExpression[] = [];
    if (this.#takeSign(")")) return parts;
    do parts.push(this.#deeper(() => this.#argument()));
    while (this.#takeSign(","));
    this.#expect(")");
    return parts;
  }

  #argument(): FilterExpression {
    const following = this.#tokens[this.#place + 1];
    const isNamed = this.#next.kind === "name" && following?.kind === "sign" && following.text === "=";
    if (isNamed) this.#place += 2;
    return this.#operation(0);
  }

  /**
   * Reads the values after `in`: a list of literals, or an expression that is itself a list (OData 4.01).
   */
  #items(): FilterExpression[] {
    const { at } = this.#next;
    const [first] = this.#nextText;
    if (first !== "(") return [this.#operation(8)];
    const items = this.#list();
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
      this.#list();
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
      this.#place--;
      throw this.#unexpected("a name");
    }
    const { text } = token;
    const isCall = this.#next.kind === "sign" && this.#nextText === "(";
    if ((text === "any" || text === "all") && isCall) return this.#lambda(path, text, at);
    if (isCall) this.#list();
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
    this.#place++;
    this.#expect(":");
    const body = this.#deeper(() => this.#operation(0));
    this.#expect(")");
    return { kind: "lambda", path, quantifier, variable: variable.text, body, at };
  }

  /** Reads a parameter alias, whose value is null if the request has none, or an annotation. */
  #alias(word: string, at: number): FilterExpression {
    if (word.includes(".") || word.includes("#") || this.#nextText === "/") {
      this.#further();
      return { kind: "unsupported", feature: `The annotation ${word}`, at };
    }
    const text = this.#aliases.get(word);
    if (text === undefined) return { kind: "literal", type: "null", value: null, at };
    return this.#deeper(() => new Parser(text, this.#aliases, this.#spent).whole());
  }

  /** Skips further segments of an expression that is refused in any case. */
  #further(): void {
    while (this.#takeSign("/")) this.#segment({ kind: "path", names: [], at: this.#next.at });
  }

  /** Reads a JSON list or object whose values are expressions. */
  #json(opening: "[" | "{", at: number): FilterExpression {
    const closing = opening === "[" ? "]" : "}";
    const feature = opening === "[" ? "A list in brackets" : "An object in braces";
    if (this.#takeSign(closing)) return { kind: "unsupported", feature, at };
    do
      this.#deeper(() => {
        if (opening === "{") this.#memberName();
        if (this.#next.kind === "unsupported") this.#take();
        else this.#operation(0);
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
