// The parameters of a search that several resources share (docs/reference/common.md#search).

import { underAsset } from "../access/asset-subtree.ts";
import { limits } from "../limits.ts";
import { and, between, type Filter, hasMetadata, nothing } from "../query/filter.ts";
import type { TextSearch } from "../query/text-search.ts";
import {
  boolean,
  idList,
  integer,
  metadata,
  oneOfWords,
  type ParameterValues,
  pageSize,
  text,
} from "./parameters.ts";

const time = (which: string) => integer(`${which}, in ms since 1970, inclusive`);

/** `things` is what is searched, as its descriptions call it: "Assets". */
export const searchParameters = (things: string) => ({
  name: text("Words that begin words of the name"),
  description: text("Words that begin words of the description"),
  query: text("Words that begin words of the name or the description"),
  metadata: metadata(`${things} that have all of these pairs`),
  assetSubtrees: idList(`${things} in the subtrees of these assets`),
  minCreatedTime: time("Created at this time or later"),
  maxCreatedTime: time("Created at this time or earlier"),
  minLastUpdatedTime: time("Last updated at this time or later"),
  maxLastUpdatedTime: time("Last updated at this time or earlier"),
  sort: oneOfWords("Order by this field instead of by relevance", ["createdTime", "lastUpdatedTime"]),
  dir: oneOfWords("Direction of `sort`; desc when absent", ["asc", "desc"]),
  boostName: boolean("Results that match `query` in the name come first"),
  limit: pageSize({ byDefault: limits.searchItemsDefault, max: limits.searchItemsMax }),
  offset: integer("How many of the best results to leave out", { min: 0, max: limits.searchItemsMax }),
});

export type SearchParameters = Partial<ParameterValues<ReturnType<typeof searchParameters>>>;

/**
 * The question of a search, `further` being conditions of its own.
 */
export function textSearchOf(asked: SearchParameters, further?: Filter): TextSearch {
  const { name, description, query, boostName = false, sort, dir } = asked;
  const { limit = limits.searchItemsDefault, offset = 0 } = asked;
  return {
    ...{ name, description, query, boostName, offset },
    filter: and(
      further,
      metadataFilter(asked.metadata),
      asked.assetSubtrees?.length ? underAsset(asked.assetSubtrees) : undefined,
      during("createdTime", asked.minCreatedTime, asked.maxCreatedTime),
      during("lastUpdatedTime", asked.minLastUpdatedTime, asked.maxLastUpdatedTime),
    ),
    sort: sort && { field: sort, direction: dir === "asc" ? "ascending" : "descending" },
    limit: Math.min(limit, limits.searchItemsMax),
  };
}

/** All pairs; a text that is no pairs matches nothing (docs/reference/common.md#query-parameters). */
export const metadataFilter = (pairs: Readonly<Record<string, string>> | "unreadable" | undefined): Filter =>
  pairs === "unreadable"
    ? nothing
    : and(...Object.entries(pairs ?? {}).map(([key, value]) => hasMetadata(key, value)));

/** Both inclusive; leaves out records that lack the value, unless both are absent. */
export function during(field: string, from: number | undefined, to: number | undefined): Filter | undefined {
  if (from === undefined && to === undefined) return undefined;
  return between(field, {
    ...(from !== undefined && { from: { value: from, inclusive: true } }),
    ...(to !== undefined && { to: { value: to, inclusive: true } }),
  });
}
