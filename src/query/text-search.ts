// Searches names and descriptions for words, best matches first (docs/reference/common.md#search).
import type { CatalogReader, Stored, Table } from "../storage/catalog.ts";
import { and, everything, type Filter, not, words } from "./filter.ts";
import type { LengthBound } from "./length-bound.ts";
import { byId, type OrderBy } from "./page.ts";

export interface TextSearch {
  readonly filter: Filter;
  /** Words to be found in the name, in the description, in either of them. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly query?: string | undefined;
  /** Records in whose name the words of `query` are found come before all others. */
  readonly boostName: boolean;
  /** Instead of the ranking. */
  readonly sort?: OrderBy | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Ends the search before `limit` when the best records are longer than this together. */
  readonly bound?: LengthBound;
}

const both = ["name", "description"];

/** Without a text, everything that passes the filter; among equally good matches by id. */
export async function searchByText<Row extends Stored>(
  tx: CatalogReader,
  table: Table<Row>,
  wanted: TextSearch,
): Promise<Row[]> {
  const { name, description, query, sort, limit, offset, bound } = wanted;
  const inName = name === undefined ? everything : words(["name"], name);
  const inDescription = description === undefined ? everything : words(["description"], description);
  const inEither = query === undefined ? everything : words(both, query);
  const filter = and(wanted.filter, inName, inDescription, inEither);
  const texts = { name: name ?? query, description: description ?? query };
  const rank = sort ? [] : both.flatMap((field) => rankBy(field, texts[field as keyof typeof texts]));
  const order: OrderBy[] = [...(sort ? [sort] : []), ...byId];
  const ask = (part: Filter, piece: { limit: number; offset: number }) =>
    tx.search(table, { filter: and(filter, part), rank, order, ...piece, ...(bound && { bound }) });
  if (!wanted.boostName || query === undefined || sort) return ask(everything, { limit, offset });

  const named = words(["name"], query);
  const cutsBefore = bound?.cuts;
  const first = await ask(named, { limit, offset });
  const left = limit - first.length;
  if (left === 0 || bound?.cuts !== cutsBefore) return first;
  const skipped = offset === 0 ? 0 : await tx.count(table, and(filter, named));
  return [...first, ...(await ask(not(named), { limit: left, offset: Math.max(0, offset - skipped) }))];
}

const rankBy = (field: string, text: string | undefined) => (text === undefined ? [] : [{ field, text }]);
