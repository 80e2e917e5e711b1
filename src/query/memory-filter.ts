// Pages of records that no store can filter: reads pages of all records and filters them in the compute
// thread.
import type { ComputationModule } from "../compute/computation.ts";
import type { Computing, Requester } from "../compute/computing.ts";
import { limits } from "../limits.ts";
import { fieldsOf } from "./conjuncts.ts";
import type { Filter } from "./filter.ts";
import type { RowFiltering, RowsFiltered, RowsToFilter } from "./memory-filter.compute.ts";
import type { Page, PageQuery, Position } from "./page.ts";

/** Whose request it is, and where it computes. */
export type FilteringRequester = Requester & { readonly computing: Computing };

/** How a filter sees the items of a collection. */
interface View<Item> {
  readonly filter: Filter;
  /** The value of a field; undefined when it is missing. */
  readonly fieldOf: (item: Item, field: string) => unknown;
  /** Fields whose values are JSON text, which the filter sees parsed. */
  readonly json?: readonly string[];
}

interface FilteredCollection<Item> extends View<Item> {
  readonly page: PageQuery;
  readonly read: (page: PageQuery) => Promise<Page<Item>>;
  readonly position: (item: Item) => Position;
}

const rowFiltering: ComputationModule<RowFiltering> = {
  url: new URL("./memory-filter.compute.ts", import.meta.url),
  size: "small",
};

/** Filters rows without links: none is linked to an asset or refers to another record. */
export const filterRows = (
  ctx: FilteringRequester,
  filter: Filter,
  rows: RowsToFilter,
): Promise<RowsFiltered> =>
  ctx.computing.session(ctx, { module: rowFiltering, start: filter }, (ask) => ask(rows));

/** The items that meet the filter, however many characters they have. */
export async function filteredItems<Item>(
  ctx: FilteringRequester,
  view: View<Item>,
  items: readonly Item[],
): Promise<readonly Item[]> {
  if (view.filter.kind === "everything" || items.length === 0) return items;
  const { indexes: places } = await filterRows(
    ctx,
    view.filter,
    rowsOf(view, items, Number.POSITIVE_INFINITY),
  );
  return places.map((place) => items[place]!);
}

function rowsOf<Item>(
  { filter, fieldOf, json = [] }: View<Item>,
  items: readonly Item[],
  charactersMax: number,
): RowsToFilter {
  const fields = [...new Set(fieldsOf(filter))];
  const columns = fields.map((field) => [field, items.map((item) => fieldOf(item, field))] as const);
  return { count: items.length, columns: Object.fromEntries(columns), json, charactersMax };
}

/**
 * Returns a page of the items that meet the filter. It ends early, with a position to continue from, after
 * `limits.odataFilteredRowsMax` items or `limits.odataFilteredCharactersMax` characters were examined, or
 * when the items read are too long for a page.
 */
export async function filteredPage<Item>(
  ctx: FilteringRequester,
  asked: FilteredCollection<Item>,
): Promise<Page<Item>> {
  const { filter, page, read, position } = asked;
  if (filter.kind === "everything") return read(page);
  const items: Item[] = [];
  const cutsBefore = page.bound?.cuts;
  let [examined, charactersLeft] = [0, limits.odataFilteredCharactersMax];
  let limit = page.limit;
  for (let { after } = page; ; limit *= 2) {
    limit = Math.min(limit, limits.filteredRowsPerRead);
    const found = await read({ ...page, limit, ...(after && { after }) });
    const rows = rowsOf(asked, found.items, charactersLeft);
    const { indexes: places, examined: looked, characters } = await filterRows(ctx, filter, rows);
    for (const place of places) {
      if (items.length === page.limit) return { items, next: position(items.at(-1)!) };
      items.push(found.items[place]!);
    }
    if (looked < found.items.length) return { items, next: position(found.items[looked - 1]!) };
    if (!found.next) return { items };
    examined += looked;
    charactersLeft -= characters;
    const isCut = page.bound?.cuts !== cutsBefore;
    if (isCut || examined >= limits.odataFilteredRowsMax || charactersLeft <= 0)
      return { items, next: found.next };
    after = found.next;
  }
}

/** How many items meet the filter. */
export async function filteredCount<Item>(
  ctx: FilteringRequester,
  asked: Omit<FilteredCollection<Item>, "page" | "position">,
  pageMax: number,
): Promise<number> {
  let count = 0;
  for (let after: Position | undefined; ; ) {
    const found = await asked.read({ limit: pageMax, ...(after && { after }) });
    count += (await filteredItems(ctx, asked, found.items)).length;
    if (!found.next) return count;
    after = found.next;
  }
}
