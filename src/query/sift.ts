// Pages of records that no store can filter: pages of all of them, held against the filter one by one.
import { limits } from "../limits.ts";
import { matchesAlone, type Values } from "./evaluate.ts";
import type { Filter } from "./filter.ts";
import type { Page, PageQuestion, Position } from "./page.ts";

interface Sifted<Item> {
  readonly filter: Filter;
  readonly page: PageQuestion;
  readonly read: (page: PageQuestion) => Promise<Page<Item>>;
  /** The item as the filter sees it. */
  readonly view: (item: Item) => Values;
  readonly position: (item: Item) => Position;
}

/**
 * A page of the items that meet the filter. It ends early, with a position to go on from, when the filter was
 * held against `limits.odataSiftedMax` items.
 */
export async function siftedPage<Item>(asked: Sifted<Item>): Promise<Page<Item>> {
  const { filter, page, read, view, position } = asked;
  if (filter.kind === "everything") return read(page);
  const items: Item[] = [];
  let sifted = 0;
  for (let after = page.after; ; ) {
    const found = await read({ ...page, ...(after && { after }) });
    for (const item of found.items) {
      if (!matchesAlone(filter, view(item))) continue;
      if (items.length === page.limit) return { items, next: position(items.at(-1)!) };
      items.push(item);
    }
    sifted += found.items.length;
    if (!found.next) return { items };
    if (sifted >= limits.odataSiftedMax) return { items, next: found.next };
    after = found.next;
  }
}

/** How many items meet the filter. */
export async function siftedCount<Item>(
  asked: Omit<Sifted<Item>, "page" | "position">,
  pageMax: number,
): Promise<number> {
  let count = 0;
  for (let after: Position | undefined; ; ) {
    const found = await asked.read({ limit: pageMax, ...(after && { after }) });
    count += found.items.filter((item) => matchesAlone(asked.filter, asked.view(item))).length;
    if (!found.next) return count;
    after = found.next;
  }
}
