// Finds the `is_new` by which the rows of a table can be filtered before they are read.
//
// That is sound if a row for which it is false cannot change the result: the query has the table once, and
// `is_new` is one of the conditions joined by AND in the WHERE of the same SELECT. Anything that these rules
// do not know is read in full; `is_new` is evaluated for each row in any case.
import { type SqlToken, sameName } from "../tokens.ts";
import { commitColumn, isSymbol, isWord } from "./query-text.ts";
import { afterWhere, aliasAt, endOf, levelsOf, onlyPlaceOf, type TableRef, unclear } from "./scopes.ts";

/** The name of the `is_new`; undefined if all rows of the table are needed. */
export function newRowsFilter(tokens: readonly SqlToken[], name: TableRef): string | undefined {
  const at = onlyPlaceOf(tokens, name);
  if (at === undefined) return undefined;
  if (tokens.some((token) => isWord(token, "NATURAL") || isWord(token, "USING"))) return undefined;
  const before = tokens[at - 1];
  if (!isWord(before, "FROM") && !isWord(before, "JOIN") && !isSymbol(before, ",")) return undefined;
  const level = levelsOf(tokens);
  const where = whereAfter(tokens, level, at);
  if (where === undefined) return undefined;
  const end = endOf(tokens, level, where, afterWhere);
  const clause = tokens.map((token, index) => ({ token, index }));
  const top = clause.slice(where + 1, end).filter(({ index }) => level[index] === level[at]);
  if (top.some(({ token }) => unclear.some((word) => isWord(token, word)))) return undefined;
  const call = top.find(({ token }) => token.kind !== "string" && sameName(token.value, "is_new"));
  return call && conjunctAt(tokens, call.index, { end, alias: aliasAt(tokens, at + 3) ?? name.table });
}

/** The WHERE of the SELECT whose FROM has the table. */
function whereAfter(tokens: readonly SqlToken[], level: readonly number[], at: number): number | undefined {
  for (let index = at; index < tokens.length && level[index]! >= level[at]!; index += 1) {
    if (level[index] !== level[at]) continue;
    if (isWord(tokens[index], "WHERE")) return index;
    if ([...afterWhere, "SELECT", "VALUES"].some((word) => isWord(tokens[index], word))) return undefined;
  }
  return undefined;
}

/** The name of `is_new` at this place if it is a whole condition on the table of this alias. */
function conjunctAt(
  tokens: readonly SqlToken[],
  at: number,
  { end, alias }: { readonly end: number; readonly alias: string },
): string | undefined {
  const before = tokens[at - 1];
  if (!isWord(before, "WHERE") && !isWord(before, "AND")) return undefined;
  const [open, name, ...rest] = tokens.slice(at + 1, at + 8);
  if (!isSymbol(open, "(") || name?.kind !== "string") return undefined;
  const isShort = isSymbol(rest[0], ")");
  const isQualified =
    isSymbol(rest[0], ",") &&
    sameName(rest[1]?.value ?? "", alias) &&
    isSymbol(rest[2], ".") &&
    sameName(rest[3]?.value ?? "", commitColumn) &&
    isSymbol(rest[4], ")");
  if (!isShort && !isQualified) return undefined;
  const next = at + (isShort ? 4 : 8);
  return next === end || isWord(tokens[next], "AND") ? name.value : undefined;
}
