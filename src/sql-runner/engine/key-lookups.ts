// Finds the equality by which only some rows of a table are needed: those whose column has a value that the
// column of another table has.
//
// That is sound if the equality is one of the conditions joined by AND in the WHERE of the SELECT, in the ON
// of an inner join, or in the ON by which the table itself is joined from the left. Both tables must be in
// the query once, in the same FROM. A table for which these rules find nothing is read in full.
import { type SqlToken, sameName } from "../tokens.ts";
import { isSymbol, isWord } from "./query-text.ts";
import { afterWhere, aliasAt, endOf, levelsOf, onlyPlaceOf, type TableRef, unclear } from "./scopes.ts";

/** Rows of a table are needed if `column` has one of the values of `from.column` in the other table. */
export interface KeyLookup<Table> {
  readonly column: string;
  readonly from: { readonly table: Table; readonly column: string };
}

/** `NOT` is not among them: it may be in the condition. */
const afterOn = ["JOIN", "LEFT", "INNER", "CROSS", "ON", "WHERE", ",", ...afterWhere];
const outer = ["RIGHT", "FULL", "NATURAL", "USING"];

/** All lookups of a table by columns of others. */
export function keyLookups<Table extends TableRef>(
  tokens: readonly SqlToken[],
  table: TableRef,
  others: readonly Table[],
): KeyLookup<Table>[] {
  if (tokens.some((token) => outer.some((word) => isWord(token, word)))) return [];
  const level = levelsOf(tokens);
  const own = placeIn(tokens, level, table);
  if (!own) return [];
  const conditions = conditionsOf(tokens, level, own);
  return others.flatMap((other) => {
    const place = placeIn(tokens, level, other);
    if (!place || place.from !== own.from || sameName(place.alias, own.alias)) return [];
    return conditions.flatMap((at) => {
      const column = equalityAt(tokens, at, own.alias, place.alias);
      return column ? [{ column: column.own, from: { table: other, column: column.other } }] : [];
    });
  });
}

interface Place {
  /** Of its name. */
  readonly at: number;
  readonly alias: string;
  /** The FROM of its SELECT, and where the tables end. */
  readonly from: number;
  readonly to: number;
}

/** Undefined if the table is in the query more than once, or its alias has two meanings. */
function placeIn(tokens: readonly SqlToken[], level: readonly number[], table: TableRef): Place | undefined {
  const at = onlyPlaceOf(tokens, table);
  if (at === undefined) return undefined;
  let from = at;
  while (from >= 0 && !(level[from] === level[at] && isWord(tokens[from], "FROM"))) {
    if (level[from]! < level[at]!) return undefined;
    from -= 1;
  }
  if (from < 0) return undefined;
  const to = endOf(tokens, level, from, ["WHERE", ...afterWhere]);
  const alias = aliasAt(tokens, at + 3) ?? table.table;
  const uses = tokens.slice(from, to).filter(({ value }, index) => {
    const isColumn = isSymbol(tokens[from + index + 1], ".");
    return sameName(value, alias) && !isColumn;
  });
  return uses.length === 1 ? { at, alias, from, to } : undefined;
}

/** The places of conditions that each row of the result fulfils, or each joined row of the table. */
function conditionsOf(tokens: readonly SqlToken[], level: readonly number[], own: Place): number[] {
  const isTop = (index: number) => level[index] === level[own.at];
  const clauses: (readonly [number, number])[] = [];
  for (let index = own.from; index < own.to; index += 1)
    if (isTop(index) && isWord(tokens[index], "ON") && isFiltering(tokens, level, own, index))
      clauses.push([index, Math.min(own.to, endOf(tokens, level, index, afterOn))]);
  if (isWord(tokens[own.to], "WHERE") && isTop(own.to))
    clauses.push([own.to, endOf(tokens, level, own.to, afterWhere)]);
  return clauses.flatMap(([start, end]) => {
    const places = tokens
      .map((_, index) => index)
      .slice(start, end)
      .filter(isTop);
    if (places.some((index) => unclear.some((word) => isWord(tokens[index], word)))) return [];
    return places
      .filter((index) => index === start || isWord(tokens[index], "AND"))
      .map((index) => index + 1)
      .filter((index) => index + equalityTokens === end || isWord(tokens[index + equalityTokens], "AND"));
  });
}

/** Whether a row of the table without a partner for this ON is not part of the result. */
function isFiltering(tokens: readonly SqlToken[], level: readonly number[], own: Place, on: number): boolean {
  let join = on;
  while (join > own.from && !(level[join] === level[on] && isWord(tokens[join], "JOIN"))) join -= 1;
  if (join === own.from) return false;
  const isLeft = isWord(tokens[join - 1], "LEFT") || isWord(tokens[join - 1], "OUTER");
  return !isLeft || own.at === join + 1;
}

const equalityTokens = 7;

/** The columns of `one.column = other.column`, in either order. */
function equalityAt(tokens: readonly SqlToken[], at: number, own: string, other: string) {
  const [left, dot, column, equals, right, dotOfRight, columnOfRight] = tokens.slice(at, at + equalityTokens);
  if (!isSymbol(equals, "=") && !isSymbol(equals, "==")) return undefined;
  if (!isSymbol(dot, ".") || !isSymbol(dotOfRight, ".")) return undefined;
  if (sameName(left!.value, own) && sameName(right!.value, other))
    return { own: column!.value, other: columnOfRight!.value };
  if (sameName(left!.value, other) && sameName(right!.value, own))
    return { own: columnOfRight!.value, other: column!.value };
  return undefined;
}
