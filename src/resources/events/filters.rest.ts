// The parameters of event lists and searches, and the questions they ask.

import { underAsset } from "../../access/asset-subtree.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, hasOneOf, not, nothing, or, some } from "../../query/filter.ts";
import type { TextSearch } from "../../query/text-search.ts";
import { cursorParameter } from "../../rest/envelope.ts";
import {
  boolean,
  idList,
  integer,
  oneOfWords,
  type ParameterValues,
  pageSize,
  text,
} from "../../rest/parameters.ts";
import { during, searchParameters, textSearchOf } from "../../rest/search.ts";
import { commonFilter, commonQuery, equalTo } from "../common/fields.rest.ts";
import type { EventsQuery } from "./events.ts";

const time = (which: string) => integer(`${which}, in ms since 1970, inclusive`);

const otherParameters = {
  tagId: text("Events with this tag, or of the asset with this id"),
  semanticTypeId: integer("Events with a phrase of this semantic type"),
  semanticPhrase: text("Events with a phrase of exactly this text; with `semanticTypeId` of that type"),
  ...commonQuery("Events"),
};

const common = {
  ...otherParameters,
  type: text("Events of exactly this type"),
  subtype: text("Events of exactly this subtype"),
  minStartTime: time("Earliest start"),
  maxStartTime: time("Latest start"),
};

/** Filters that are refused together with `assetId` (docs/reference/events.md#listing-events). */
const disabledByAsset = [
  "type",
  "subtype",
  "hasDescription",
  "minStartTime",
  "maxStartTime",
  "source",
] as const;

export const listQuery = {
  ...common,
  assetId: integer(`Events of this asset; not together with ${disabledByAsset.join(", ")}`),
  assetSubtrees: idList("Events of these assets and of all below them"),
  hasDescription: boolean("Events with a description that is not empty, or those without"),
  source: text("Events of exactly this source"),
  sort: oneOfWords("Direction of the start times; ASC when absent", ["ASC", "DESC"]),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.eventsListDefault, max: limits.listItemsMax }),
};

const { name: _, query: __, boostName: ___, ...shared } = searchParameters("Events");

export const searchQuery = {
  ...shared,
  ...common,
  minEndTime: time("Earliest end"),
  maxEndTime: time("Latest end"),
  assetIds: idList("Events of one of these assets"),
  sort: oneOfWords("Order by this instead of by match; events that lack it come last", [
    "startTime",
    "endTime",
    "createdTime",
    "lastUpdatedTime",
  ]),
};

/** Refuses filters that published clients know to be disabled beside `assetId`. */
export function eventsQueryOf(query: ParameterValues<typeof listQuery>): Omit<EventsQuery, "page"> {
  const { assetId, assetSubtrees, hasDescription } = query;
  const disabled = disabledByAsset.filter((name) => query[name] !== undefined);
  if (assetId !== undefined && disabled.length > 0)
    throw fail("filters-disabled", { fields: disabled, by: "assetId" });
  return {
    filter: and(
      equalTo("type", query.type),
      equalTo("subtype", query.subtype),
      equalTo("source", query.source),
      assetId === undefined ? undefined : hasOneOf("assetIds", [assetId]),
      assetSubtrees && underAsset(assetSubtrees),
      hasDescription === undefined
        ? undefined
        : hasDescription
          ? not(withoutDescription)
          : withoutDescription,
      otherFilters(query),
    ),
    startFrom: query.minStartTime,
    startTo: query.maxStartTime,
    direction: query.sort === "DESC" ? "descending" : "ascending",
  };
}

const withoutDescription: Filter = or(equals("description", null), equals("description", ""));

export function searchQueryOf({ sort, ...query }: ParameterValues<typeof searchQuery>): TextSearch {
  const { assetIds } = query;
  const further = and(
    equalTo("type", query.type),
    equalTo("subtype", query.subtype),
    during("startTime", query.minStartTime, query.maxStartTime),
    during("endTime", query.minEndTime, query.maxEndTime),
    assetIds && hasOneOf("assetIds", assetIds),
    otherFilters(query),
  );
  const direction = query.dir === "asc" ? "ascending" : "descending";
  return { ...textSearchOf(query, further), sort: sort && { field: sort, direction } };
}

/** The conditions that lists and searches share, beside those of published clients. */
function otherFilters({
  tagId,
  semanticTypeId,
  semanticPhrase,
  ...query
}: ParameterValues<typeof otherParameters>): Filter {
  const phrase = and(equalTo("semanticTypeId", semanticTypeId), equalTo("text", semanticPhrase));
  return and(
    commonFilter(query),
    tagId === undefined ? undefined : hasTag(tagId),
    phrase.kind === "everything" ? undefined : some("semanticPhrases", phrase),
  );
}

/** A tag of 0.4 is a string or the id of an asset; a parameter does not say which. */
function hasTag(tag: string): Filter {
  const id = /^[1-9]\d{0,15}$/.test(tag) ? Number(tag) : Number.NaN;
  return or(hasOneOf("tags", [tag]), Number.isSafeInteger(id) ? hasOneOf("assetIds", [id]) : nothing);
}
