// Reads a page of the catalog, with the positions of its neighbours.
import type { OrderBy, Page, Position } from "../query/page.ts";
import type { CatalogQuery, CatalogReader, Table } from "./catalog.ts";

/**
 * Reads one record more than the page needs, to learn whether another page follows. Another page also follows
 * when the page ends early because its records are long.
 */
export async function readPage<Row extends object>(
  tx: CatalogReader,
  table: Table<Row>,
  question: CatalogQuery,
): Promise<Page<Row>> {
  const { limit, after, before, bound } = question.page;
  if (limit === 0) return { items: [] };
  const cutsBefore = bound?.cuts;
  const found = await tx.find(table, { ...question, page: { ...question.page, limit: limit + 1 } });
  const more = found.length > limit || bound?.cuts !== cutsBefore;
  const items = before ? found.slice(-limit) : found.slice(0, limit);
  const first = items[0];
  const last = items.at(-1);
  const hasNext = before ? true : more;
  const hasPrevious = before ? more : after !== undefined;
  return {
    items,
    ...(last && hasNext && { next: positionOf(last, question.order) }),
    ...(first && hasPrevious && { previous: positionOf(first, question.order) }),
  };
}

const positionOf = (row: object, order: readonly OrderBy[]): Position =>
  order.map(({ field }) => (row as Record<string, string | number>)[field]!);
