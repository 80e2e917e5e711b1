// From the parameters of asset lists and searches to the questions they ask.
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import {
  and,
  between,
  containsIgnoringCase,
  equals,
  type Filter,
  hasMetadata,
  nothing,
  underAsset,
  within,
} from "../../query/filter.ts";
import type { TextSearch } from "../../query/search-texts.ts";
import type { Values } from "../../rest/parameters.ts";
import type { listQuery } from "./shapes.rest.ts";

/** Every condition of the list but those on the tree (client-endpoints 4.2, (b) 7 and 8). */
export function listFilter(query: Values<typeof listQuery>): Filter {
  const { name, fuzziness, description, source } = query;
  return and(
    name === undefined ? undefined : fuzziness ? within("name", name, fuzziness) : equals("name", name),
    description === undefined ? undefined : containsIgnoringCase("description", description),
    source === undefined ? undefined : equals("source", source),
    metadataFilter(query.metadata),
  );
}

/** All pairs; what cannot be read as pairs matches nothing (client-endpoints 1.4). */
const metadataFilter = (pairs: Readonly<Record<string, string>> | "unreadable" | undefined) =>
  pairs === "unreadable"
    ? nothing
    : and(...Object.entries(pairs ?? {}).map(([key, value]) => hasMetadata(key, value)));

interface Between {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** A search in either of its forms, by parameters or by a body. */
interface SearchAsked {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly query?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | "unreadable" | undefined;
  readonly assetSubtrees?: readonly number[] | undefined;
  readonly createdTime?: Between | undefined;
  readonly lastUpdatedTime?: Between | undefined;
  readonly boostName?: boolean | undefined;
  readonly sort?: "createdTime" | "lastUpdatedTime" | undefined;
  readonly dir?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Refuses an `offset` beyond the best `searchItemsMax`, and lowers a `limit` that would reach beyond. */
export function searchOf(asked: SearchAsked): TextSearch {
  const { name, description, query, boostName = false, sort, dir } = asked;
  const { limit = limits.searchItemsDefault, offset = 0, assetSubtrees = [] } = asked;
  const most = limits.searchItemsMax;
  if (offset > most)
    throw fail("field-invalid", { field: "offset", expected: `at most ${most}`, got: `${offset}` });
  return {
    ...{ name, description, query, boostName, offset },
    filter: and(
      metadataFilter(asked.metadata),
      assetSubtrees.length > 0 ? underAsset(assetSubtrees) : undefined,
      during("createdTime", asked.createdTime),
      during("lastUpdatedTime", asked.lastUpdatedTime),
    ),
    sort: sort && { field: sort, direction: dir === "asc" ? "ascending" : "descending" },
    limit: Math.min(limit, most - offset),
  };
}

function during(field: string, { min, max }: Between = {}): Filter | undefined {
  if (min === undefined && max === undefined) return undefined;
  return between(field, {
    ...(min !== undefined && { from: { value: min, inclusive: true } }),
    ...(max !== undefined && { to: { value: max, inclusive: true } }),
  });
}
