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

/** The parameters of a search. `things` names the searched records in the descriptions: "Assets". */
export const searchParameters = (things: string) => ({
  name: text("Prefixes of words in the name"),
  description: text("Prefixes of words in the description"),
  query: text("Prefixes of words in the name or the description"),
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

/** The search that the parameters describe; its results also match `further`. */
export function textSearchOf(parameters: SearchParameters, further?: Filter): TextSearch {
  const { name, description, query, boostName = false, sort, dir } = parameters;
  const { limit = limits.searchItemsDefault, offset = 0 } = parameters;
  return {
    ...{ name, description, query, boostName, offset },
    filter: and(
      further,
      metadataFilter(parameters.metadata),
      parameters.assetSubtrees?.length ? underAsset(parameters.assetSubtrees) : undefined,
      during("createdTime", parameters.minCreatedTime, parameters.maxCreatedTime),
      during("lastUpdatedTime", parameters.minLastUpdatedTime, parameters.maxLastUpdatedTime),
    ),
    sort: sort && { field: sort, direction: dir === "asc" ? "ascending" : "descending" },
    limit: Math.min(limit, limits.searchItemsMax),
  };
}

/**
 * Matches records with all of the pairs; unreadable pairs match nothing
 * (docs/reference/common.md#query-parameters).
 */
export const metadataFilter = (pairs: Readonly<Record<string, string>> | "unreadable" | undefined): Filter =>
  pairs === "unreadable"
    ? nothing
    : and(...Object.entries(pairs ?? {}).map(([key, value]) => hasMetadata(key, value)));

/** Both times are inclusive. Records without the field do not match; undefined if both times are absent. */
export function during(field: string, from: number | undefined, to: number | undefined): Filter | undefined {
  if (from === undefined && to === undefined) return undefined;
  return between(field, {
    ...(from !== undefined && { from: { value: from, inclusive: true } }),
    ...(to !== undefined && { to: { value: to, inclusive: true } }),
  });
}
