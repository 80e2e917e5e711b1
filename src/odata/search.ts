// Search functions (`AssetsSearch`): words in texts, best matches first, as the search over REST.
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { wordsIn } from "../lib/text.ts";
import { limits } from "../limits.ts";
import { and, type Filter, words } from "../query/filter.ts";
import type { TextSearch } from "../query/search-texts.ts";
import { type EntityFunction, entityFunction } from "./model.ts";

interface Searched<Found> {
  readonly name: string;
  readonly set: string;
  /** Whose words count. */
  readonly fields: readonly string[];
  readonly search: (ctx: RequestContext, wanted: TextSearch) => Promise<readonly Found[]>;
  readonly count: (ctx: RequestContext, filter: Filter) => Promise<number>;
}

/** At most `limits.searchItemsMax` results (odata.md 1.5). Refuses a `Search` without any word. */
export const searchFunction = <Found>({
  name,
  set,
  fields,
  search,
  count,
}: Searched<Found>): EntityFunction =>
  entityFunction<Found>({
    ...{ name, set },
    parameters: [{ name: "Search", type: "Edm.String" }],
    results(given) {
      const query = given["Search"] as string;
      if (wordsIn(query).length === 0)
        throw fail("key-invalid", { problem: `The parameter Search of ${name} holds no word to search for` });
      return {
        async read(ctx, { filter, page }) {
          const [offset = 0] = (page.after ?? []) as readonly number[];
          const limit = Math.min(page.limit, limits.searchItemsMax - offset);
          const { bound } = page;
          const cutsBefore = bound?.cuts;
          const wanted = { filter, query, boostName: true, limit, offset, ...(bound && { bound }) };
          const items = await search(ctx, wanted);
          const end = offset + items.length;
          if (bound?.cuts !== cutsBefore) return { items, next: [end] };
          const hasNext = items.length === limit && end < limits.searchItemsMax;
          const hasMore =
            hasNext && (await search(ctx, { filter, query, boostName: true, limit: 1, offset: end }));
          return { items, ...(hasMore && hasMore.length > 0 && { next: [end] }) };
        },
        count: async (ctx, filter) =>
          Math.min(await count(ctx, and(words(fields, query), filter)), limits.searchItemsMax),
      };
    },
  });
