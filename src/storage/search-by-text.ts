// Runs a search for words in names and descriptions on a table of the catalog.
import { and, everything, type Filter, not, words } from "../query/filter.ts";
import { byId, type OrderBy } from "../query/page.ts";
import type { TextSearch } from "../query/text-search.ts";
import type { CatalogReader, Stored, Table } from "./catalog.ts";

const both = ["name", "description"];

/** The best matches first, equally good ones by id. Without a text, all records that match the filter. */
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
