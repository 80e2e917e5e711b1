// Events: things that happened to a plant, with their times and assets.

import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, type Filter, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type OrderBy, type Page, type PageQuery, type Position } from "../../query/page.ts";
import { readInBatches } from "../../query/read-within.ts";
import type { TextSearch } from "../../query/text-search.ts";
import { existingRecords, type IdsNamed, refuseUnknownIds } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { searchByText } from "../../storage/search-by-text.ts";
import { limitToVisibleSubtrees, refuseUnknownAssets } from "../assets/assets.ts";
import { type RecordName, recordsByName } from "../common/external-ids.ts";
import { changeRow, type EventChange, eventType, refuseUnknownSemanticTypes, writeRows } from "./rows.ts";
import { type Event, eventOf, eventTable, rowOf } from "./schema.ts";

export type { EventChange } from "./rows.ts";
export type { Event, SemanticPhrase } from "./schema.ts";

export type NewEvent = Omit<Event, "id" | "createdTime" | "lastUpdatedTime">;

/** By start, then by id; events without a start come last. */
export type EventOrder = OrderBy["direction"];

export interface EventsQuery {
  readonly filter: Filter;
  /** Bounds of the start in ms, both inclusive. Either bound leaves out events without a start. */
  readonly startFrom?: number | undefined;
  readonly startTo?: number | undefined;
  readonly direction: EventOrder;
  readonly page: PageQuery;
}

const startField = (direction: EventOrder) => (direction === "ascending" ? "startOrLast" : "startOrFirst");

const byStart = (direction: EventOrder): readonly OrderBy[] => [
  { field: startField(direction), direction },
  { field: "id", direction },
];

/** The member of the request with a link of an event: `assetIds`, or `tagIds`, which may have ids too. */
export type MemberOfLink = (index: number, assetId: number) => string;

const inAssetIds: MemberOfLink = () => "assetIds";

/**
 * Creates all events or none, and returns them in the same order. Refuses (409) a source and source id or
 * an external id of another event. Refuses (400) a source and source id that two items share, links to
 * unknown assets, and phrases of unknown semantic types.
 */
export async function createEvents(
  ctx: RequestContext,
  items: readonly NewEvent[],
  memberOf: MemberOfLink = inAssetIds,
): Promise<Event[]> {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "WRITE");
  const rows = await writeRows(ctx, permitted, "insert", async (tx) => {
    const links = items.map(({ assetIds }, at) => ({
      field: (id: number) => `items[${at}].${memberOf(at, id)}`,
      assetIds,
    }));
    await refuseUnknownAssets(ctx, tx, "eventsAcl", links);
    const phrases = items.map(({ semanticPhrases }) => semanticPhrases);
    await refuseUnknownSemanticTypes(tx, phrases, (index) => `items[${index}].`);
    const nowMs = ctx.system.nowMs();
    return mapInSlices(items, (item) =>
      rowOf({ ...item, id: ctx.ids.next(), createdTime: nowMs, lastUpdatedTime: nowMs }),
    );
  });
  return rows.map(eventOf);
}

/** Returns one page of the events that the caller may see. */
export async function listEvents(ctx: RequestContext, query: EventsQuery): Promise<Page<Event>> {
  const { direction, page } = query;
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "READ");
  const found = await ctx.catalog.read(ctx.projectId, async (tx) => {
    const visible = await limitToVisibleSubtrees(ctx, tx, "eventsAcl", query.filter);
    const filter = and(permitted, visible, startsWithin(query));
    return readPage(tx, eventTable, { filter, order: byStart(direction), page });
  });
  return { ...found, items: found.items.map(eventOf) };
}

/** Counts the matching events that the caller may see. */
export async function countEvents(ctx: RequestContext, filter: Filter): Promise<number> {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) =>
    tx.count(eventTable, and(permitted, await limitToVisibleSubtrees(ctx, tx, "eventsAcl", filter))),
  );
}

/**
 * Uses the column of the list's order, so that one index serves the filter and the order. In this column,
 * events without a start have a value beyond the bounds.
 */
function startsWithin({ startFrom, startTo, direction }: EventsQuery): Filter | undefined {
  if (startFrom === undefined && startTo === undefined) return undefined;
  const { eventTimeMsMax } = limits;
  return between(startField(direction), {
    from: { value: Math.max(startFrom ?? -eventTimeMsMax, -eventTimeMsMax), inclusive: true },
    to: { value: Math.min(startTo ?? eventTimeMsMax, eventTimeMsMax), inclusive: true },
  });
}

/**
 * Returns at most `parts - 1` positions that split the ascending list of all events into about equal parts.
 */
export async function divideEvents(ctx: RequestContext, parts: number): Promise<Position[]> {
  const filter = permittedRecords(ctx.caller, "eventsAcl", "READ");
  const order = byStart("ascending");
  return ctx.catalog.read(ctx.projectId, (tx) => tx.divide(eventTable, { filter, order, parts }));
}

/** Refuses (404) an unknown event. */
export async function getEvent(ctx: RequestContext, id: number): Promise<Event> {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "READ");
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords(tx, eventTable, permitted, { ids: [id], field: "eventId", status: 404 }),
  );
  return eventOf(found!);
}

/** Reads events in the order of the names, in batches. Refuses (400) unknown and repeated names. */
export const getEvents = (ctx: RequestContext, names: readonly RecordName[]) => {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "READ");
  return recordsByName(ctx, { ...eventType, permitted }, names, async (_tx, rows) => rows.map(eventOf));
};

/**
 * Reads the events with these keys of a transformer, in the order of the keys; events with the same key are
 * ordered by start. Unknown keys are skipped.
 */
export async function* getEventsByReference(
  ctx: RequestContext,
  {
    transformerId,
    referenceKeys,
  }: { readonly transformerId: number; readonly referenceKeys: readonly string[] },
): AsyncGenerator<readonly Event[]> {
  const keys = [...new Set(referenceKeys)];
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "READ");
  const filter = and(permitted, equals("transformerId", transformerId), oneOf("referenceKey", keys));
  const limit = limits.listItemsMax;
  const order = byStart("ascending");
  const fields = ["id", "referenceKey", "startOrLast"];
  const query = { filter, order, page: { limit: limit + 1 }, fields };
  const rows = await ctx.catalog.read(ctx.projectId, (tx) => tx.find(eventTable, query));
  if (rows.length > limit)
    throw fail("field-invalid", {
      field: "eventReferenceKeys",
      expected: `keys of at most ${limit} events`,
      got: "keys of more",
    });
  const byKey = Map.groupBy(rows, (row) => row.referenceKey);
  const ids = keys.flatMap((key) => byKey.get(key) ?? []).map(({ id }) => id);
  yield* readInBatches(ctx.memory, ids, {
    check: async () => {}, // An event that goes meanwhile is left out, as one that was never there.
    read: async (ids, bound) => {
      const page = { limit: ids.length, ...(bound && { bound }) };
      const query = { filter: oneOf("id", ids), order: byId, page };
      const found = await ctx.catalog.read(ctx.projectId, (tx) => tx.find(eventTable, query));
      const byIds = new Map(found.map((row) => [row.id, row]));
      return ids.flatMap((id) => byIds.get(id) ?? []).map(eventOf);
    },
  });
}

/** Best matches first, or in the requested order, in which events without the value come last. */
export async function searchEvents(ctx: RequestContext, query: TextSearch): Promise<Event[]> {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "READ");
  const rows = await ctx.catalog.read(ctx.projectId, async (tx) => {
    const filter = and(permitted, await limitToVisibleSubtrees(ctx, tx, "eventsAcl", query.filter));
    return searchByText(tx, eventTable, { ...query, filter });
  });
  return rows.map(eventOf);
}

/**
 * Changes all events or none, and returns them in the same order. Refuses (400) unknown and repeated ids,
 * and the refusals of `createEvents`.
 */
export async function updateEvents(
  ctx: RequestContext,
  changes: readonly EventChange[],
  memberOf: MemberOfLink = inAssetIds,
): Promise<Event[]> {
  return update(ctx, changes, { field: "items", memberOf });
}

/** Like `updateEvents` for a single event. Refuses (404) an unknown event. */
export async function updateEvent(
  ctx: RequestContext,
  change: EventChange,
  memberOf: MemberOfLink = inAssetIds,
): Promise<Event> {
  const [changed] = await update(ctx, [change], { field: "eventId", status: 404, memberOf });
  return changed!;
}

async function update(
  ctx: RequestContext,
  changes: readonly EventChange[],
  { memberOf, ...named }: Omit<IdsNamed, "ids"> & { readonly memberOf: MemberOfLink },
): Promise<Event[]> {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "WRITE");
  const ids = changes.map(({ id }) => id);
  const rows = await writeRows(ctx, permitted, "replace", async (tx) => {
    const before = await existingRecords(tx, eventTable, permitted, { ids, ...named });
    const after = await mapInSlices(before, (row, at) => changeRow(row, changes[at]!, ctx.system.nowMs()));
    const placeOf = (at: number) => (named.field === "items" ? `items[${at}].` : "");
    const links = await mapInSlices(after, ({ assetIds }, at) => {
      const existing = new Set(before[at]!.assetIds);
      const field = (id: number) => `${placeOf(at)}${memberOf(at, id)}`;
      return { field, assetIds: assetIds.filter((id) => !existing.has(id)) };
    });
    await refuseUnknownAssets(ctx, tx, "eventsAcl", links);
    const phrases = changes.map(({ semanticPhrases }) => semanticPhrases);
    await refuseUnknownSemanticTypes(tx, phrases, placeOf);
    return after;
  });
  return rows.map(eventOf);
}

/** Deletes all events or none. Refuses (400) unknown and repeated ids. */
export async function deleteEvents(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "eventsAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await refuseUnknownIds(tx, eventTable, permitted, { ids, field: "items" });
    await tx.remove(eventTable, oneOf("id", ids));
  });
}
