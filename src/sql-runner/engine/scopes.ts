// Places of tables and clauses in the tokens of a query.
import { type SqlToken, sameName } from "../tokens.ts";
import { isSymbol, isWord } from "./query-text.ts";

export interface TableRef {
  readonly schema: string;
  readonly table: string;
}

export const afterWhere = ["GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT"];
const afterTable = [
  ...["JOIN", "LEFT", "INNER", "CROSS", "RIGHT", "FULL", "OUTER", "ON", "WHERE", "INDEXED", "NOT"],
  ...afterWhere,
];
/** Words after which a condition may not be one of those joined by AND. */
export const unclear = ["OR", "BETWEEN", "CASE", "SELECT"];

/** The place of `"schema"."table"` if no other name in the query can mean the same table. */
export function onlyPlaceOf(tokens: readonly SqlToken[], { schema, table }: TableRef): number | undefined {
  const places: number[] = [];
  for (const [at, { kind, value }] of tokens.entries()) {
    if (!sameName(value, table)) continue;
    if (kind === "string" && isNameOfMark(tokens, at)) continue;
    if (kind === "string") return undefined;
    if (isSymbol(tokens[at + 1], ".")) continue;
    if (!isSymbol(tokens[at - 1], ".") || !sameName(tokens[at - 2]?.value ?? "", schema)) return undefined;
    places.push(at - 2);
  }
  return places.length === 1 ? places[0] : undefined;
}

/** SQLite takes a string for a name in some places, but not in `is_new('orders')`. */
const isNameOfMark = (tokens: readonly SqlToken[], at: number): boolean =>
  isSymbol(tokens[at - 1], "(") && sameName(tokens[at - 2]?.value ?? "", "is_new");

/** For each token the number of parentheses around it. */
export function levelsOf(tokens: readonly SqlToken[]): number[] {
  let level = 0;
  return tokens.map((token) => {
    if (isSymbol(token, ")")) level -= 1;
    const own = level;
    if (isSymbol(token, "(")) level += 1;
    return own;
  });
}

/**
 * The first place after `start` that ends its clause: one of these words or symbols, or the end of its
 * SELECT.
 */
export function endOf(
  tokens: readonly SqlToken[],
  level: readonly number[],
  start: number,
  words: readonly string[],
): number {
  const isEnd = (token: SqlToken, index: number) =>
    index > start &&
    (level[index]! < level[start]! ||
      (level[index] === level[start] &&
        [";", ...words].some((word) => isSymbol(token, word) || isWord(token, word))));
  const end = tokens.findIndex(isEnd);
  return end < 0 ? tokens.length : end;
}

export function aliasAt(tokens: readonly SqlToken[], at: number): string | undefined {
  const token = tokens[isWord(tokens[at], "AS") ? at + 1 : at];
  if (token?.kind === "identifier") return token.value;
  return token?.kind === "word" && !afterTable.some((word) => isWord(token, word)) ? token.value : undefined;
}
