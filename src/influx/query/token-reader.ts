// Reads tokens one after another, and refuses what is not expected.
import { limits } from "../../limits.ts";
import { queryProblem } from "./problems.ts";
import type { QueryToken, QueryTokenKind } from "./tokens.ts";

export class TokenReader {
  readonly #tokens: readonly QueryToken[];
  #at = 0;

  constructor(tokens: readonly QueryToken[]) {
    this.#tokens = tokens;
  }

  get next(): QueryToken {
    return this.#tokens[this.#at]!;
  }

  get isAtEnd(): boolean {
    return this.next.kind === "end";
  }

  skip(): QueryToken {
    const token = this.next;
    if (token.kind !== "end") this.#at += 1;
    return token;
  }

  /** Whether a keyword is next, in any case. */
  isWord(...words: readonly string[]): boolean {
    return this.next.kind === "word" && words.includes(this.next.text.toLowerCase());
  }

  isSymbol(...symbols: readonly string[]): boolean {
    return this.next.kind === "symbol" && symbols.includes(this.next.text);
  }

  /** Takes the keyword if it is next. */
  tryWord(...words: readonly string[]): string | undefined {
    return this.isWord(...words) ? this.skip().text.toLowerCase() : undefined;
  }

  trySymbol(...symbols: readonly string[]): string | undefined {
    return this.isSymbol(...symbols) ? this.skip().text : undefined;
  }

  word(...words: readonly string[]): string {
    return this.tryWord(...words) ?? this.fail(words.map((word) => word.toUpperCase()).join(", "));
  }

  symbol(symbol: string): void {
    if (!this.trySymbol(symbol)) this.fail(symbol);
  }

  of<Kind extends QueryTokenKind>(kind: Kind, expected: string): Extract<QueryToken, { kind: Kind }> {
    if (this.next.kind !== kind) this.fail(expected);
    return this.skip() as Extract<QueryToken, { kind: Kind }>;
  }

  /** A name, in quotes or not. */
  name(): string {
    if (this.next.kind !== "word" && this.next.kind !== "quoted") this.fail("identifier");
    return this.skip().text;
  }

  fail(expected: string): never {
    throw queryProblem(`found ${this.isAtEnd ? "EOF" : this.next.text}, expected ${expected}`);
  }

  /** A list with commas. */
  list<Item>(read: () => Item): Item[] {
    const items = [read()];
    while (this.trySymbol(",")) {
      if (items.length === limits.influxqlListMax)
        throw queryProblem(`a list has more than ${limits.influxqlListMax} elements`);
      items.push(read());
    }
    return items;
  }
}
