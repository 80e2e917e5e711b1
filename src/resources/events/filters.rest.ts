// The parameters of event lists and searches, and their mapping to queries.
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
  tagId: text("Events with this tag, or linked to the asset with this id"),
  semanticTypeId: integer("Events with a phrase of this semantic type"),
  semanticPhrase: text("Events with exactly this phrase; with `semanticTypeId`, a phrase of that type"),
  ...commonQuery("Events"),
};

const common = {
  ...otherParameters,
  type: text("Events with exactly this type"),
  subtype: text("Events with exactly this subtype"),
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
  assetId: integer(`Events linked to this asset; not together with ${disabledByAsset.join(", ")}`),
  assetSubtrees: idList("Events linked to assets in the subtrees of these assets"),
  hasDescription: boolean("true: events with a description; false: events without one"),
  source: text("Events with exactly this source"),
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
  hasEndTime: boolean("true: events that have ended; false: events without an end, such as those that last"),
  assetIds: idList("Events linked to one of these assets"),
  sort: oneOfWords("The order, instead of best matches first; events without the value come last", [
    "startTime",
    "endTime",
    "createdTime",
    "lastUpdatedTime",
  ]),
};

/** Refuses filters that published clients expect to be refused together with `assetId`. */
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

const withoutEnd: Filter = equals("endTime", null);
const withoutDescription: Filter = or(equals("description", null), equals("description", ""));

export function searchQueryOf({ sort, ...query }: ParameterValues<typeof searchQuery>): TextSearch {
  const { assetIds } = query;
  const further = and(
    equalTo("type", query.type),
    equalTo("subtype", query.subtype),
    during("startTime", query.minStartTime, query.maxStartTime),
    during("endTime", query.minEndTime, query.maxEndTime),
    query.hasEndTime === undefined ? undefined : query.hasEndTime ? not(withoutEnd) : withoutEnd,
    assetIds && hasOneOf("assetIds", assetIds),
    otherFilters(query),
  );
  const direction = query.dir === "asc" ? "ascending" : "descending";
  return { ...textSearchOf(query, further), sort: sort && { field: sort, direction } };
}

/** The conditions that lists and searches share, without the common fields. */
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

/** A tag of 0.4 is a string or the id of an asset. The parameter can mean either. */
function hasTag(tag: string): Filter {
  const id = /^[1-9]\d{0,15}$/.test(tag) ? Number(tag) : Number.NaN;
  return or(hasOneOf("tags", [tag]), Number.isSafeInteger(id) ? hasOneOf("assetIds", [id]) : nothing);
}
