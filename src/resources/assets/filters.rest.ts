// Maps the parameters of the asset list and the body of a search to queries.
import type { Static } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, containsIgnoringCase, type Filter, within } from "../../query/filter.ts";
import type { TextSearch } from "../../query/text-search.ts";
import type { ParameterValues } from "../../rest/parameters.ts";
import { metadataFilter, textSearchOf } from "../../rest/search.ts";
import { commonBodyFilter, commonFilter, equalTo } from "../common/fields.rest.ts";
import { filterByTypes } from "./asset-types/values.ts";
import type { listQuery, searchBody } from "./schemas.rest.ts";

/** All conditions of the list except the subtree and depth. */
export function listFilter(query: ParameterValues<typeof listQuery>): Filter {
  const { name, fuzziness, description, source } = query;
  return and(
    name !== undefined && fuzziness ? within("name", name, fuzziness) : equalTo("name", name),
    description === undefined ? undefined : containsIgnoringCase("description", description),
    equalTo("source", source),
    metadataFilter(query.metadata),
    commonFilter(query),
  );
}

/** Maps the body of a search, in which 0.6 nests the parameters. */
export function searchOfBody({ search, filter, ...options }: Static<typeof searchBody>): TextSearch {
  const { metadata, types = [], assetSubtrees, createdTime, lastUpdatedTime, ...common } = filter ?? {};
  const fields = types.reduce((count, one) => count + (one.fields?.length ?? 0), 0);
  if (fields > limits.searchFieldsMax)
    throw fail("too-many", { field: "filter.types[].fields", limit: limits.searchFieldsMax, got: fields });
  const textQuery = {
    ...search,
    ...{ metadata, assetSubtrees },
    minCreatedTime: createdTime?.min,
    maxCreatedTime: createdTime?.max,
    minLastUpdatedTime: lastUpdatedTime?.min,
    maxLastUpdatedTime: lastUpdatedTime?.max,
    ...options,
  };
  return textSearchOf(textQuery, and(filterByTypes(types), commonBodyFilter(common)));
}
