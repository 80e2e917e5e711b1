// Events over REST (docs/reference/events.md): the routes of 0.4, 0.5 and 0.6, and the handlers below them.

import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  batchesResponse,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
  searchResponse,
} from "../../rest/envelope.ts";
import { bulk, idField, itemsBody, json, requireIdOfPath, textField } from "../../rest/fields.ts";
import { id, integer, type ParameterValues, required } from "../../rest/parameters.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { recordName, recordNameIn } from "../common/fields.rest.ts";
import {
  createEvents,
  deleteEvents,
  divideEvents,
  type Event,
  type EventsQuery,
  getEvent,
  getEvents,
  getEventsByReference,
  listEvents,
  type MemberOfLink,
  searchEvents,
  updateEvent,
  updateEvents,
} from "./events.ts";
import { eventsQueryOf, listQuery, searchQuery, searchQueryOf } from "./filters.rest.ts";
import {
  changeOf,
  eventChange,
  eventIds,
  eventJson,
  eventPatch,
  eventSchema,
  identifiedChange,
  newEvent,
  newEventOf,
  overwriteOf,
  wholeEvent,
} from "./schemas.rest.ts";

const read = { versions: apiVersions, capability: ["eventsAcl", "READ"] } as const;
const write = { versions: apiVersions, capability: ["eventsAcl", "WRITE"] } as const;
const ids = itemsBody(eventIds, { min: 1 });
const names = itemsBody(recordName("Which event"), { min: 1 });
const oneEvent = { eventId: id("The event") };
const items = (version: ApiVersion) => ({ schema: itemsSchema(eventSchema(version)) });
const empty = () => ({ schema: emptySchema });

const reference = Type.Object({
  transformerId: idField("The event transformer that created the events"),
  eventReferenceKeys: Type.Array(textField("The transformer's key of an event"), {
    maxItems: limits.itemsPerWriteMax,
  }),
});

export const eventRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/events",
    summary: "Create events",
    body: json(itemsBody(newEvent, { min: 1 }), bulk),
    response: items,
    created: ["0.6"],
    handle: create,
  }),
  route({
    ...read,
    method: "GET",
    path: "/events",
    summary: "List events by start time; events without one come last",
    query: listQuery,
    response: (version) => ({ schema: pageSchema(eventSchema(version)) }),
    handle: list,
  }),
  route({
    ...read,
    method: "GET",
    path: "/events/cursors",
    summary: "Cursors that divide the list of all events for parallel reads",
    query: { divisions: required(integer("How many cursors at most", { min: 1 })) },
    response: () => ({ schema: itemsSchema(Type.String()) }),
    handle: divide,
  }),
  route({
    ...read,
    method: "GET",
    path: "/events/search",
    summary: "Search events",
    query: searchQuery,
    response: items,
    handle: (ctx, { version, query }) =>
      searchResponse(ctx, searchQueryOf(query), searchEvents, eventJson(version)),
  }),
  route({
    ...read,
    method: "POST",
    path: "/events/byids",
    summary: "Read events by id or external id",
    body: json(names),
    response: items,
    handle: (ctx, { version, body }) =>
      batchesResponse(getEvents(ctx, body.items.map(recordNameIn)), eventJson(version)),
  }),
  route({
    ...read,
    method: "POST",
    path: "/events/byreference",
    summary: "Read events by the keys of their event transformer",
    body: json(reference),
    response: items,
    handle: byReference,
  }),
  route({
    ...write,
    versions: ["0.4", "0.5"],
    method: "POST",
    path: "/events/update",
    summary: "Overwrite events",
    body: json(itemsBody(wholeEvent, { min: 1 }), bulk),
    response: empty,
    handle: overwrite,
  }),
  route({
    ...write,
    versions: ["0.6"],
    method: "POST",
    path: "/events/update",
    summary: "Change events",
    body: json(itemsBody(identifiedChange, { min: 1 }), bulk),
    response: items,
    handle: updateMany,
  }),
  route({
    ...write,
    method: "POST",
    path: "/events/delete",
    summary: "Delete events",
    body: json(ids),
    response: empty,
    handle: async (ctx, { body }) => {
      await deleteEvents(ctx, body.items.map(idIn));
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/events/{eventId}",
    summary: "Read an event",
    parameters: oneEvent,
    response: items,
    handle: async (ctx, { version, path }) =>
      itemsResponse([eventJson(version)(await getEvent(ctx, path.eventId))]),
  }),
  route({
    ...write,
    method: "PATCH",
    path: "/events/{eventId}",
    summary: "Change an event, with changes or plain values",
    parameters: oneEvent,
    body: eventPatch,
    response: items,
    handle: updateOne,
  }),
  route({
    ...write,
    method: "POST",
    path: "/events/{eventId}/update",
    summary: "Change an event",
    parameters: oneEvent,
    body: json(eventChange),
    response: items,
    handle: updateOne,
  }),
];

interface BodyRequest<Query, Body = undefined> {
  readonly version: ApiVersion;
  readonly query: Query;
  readonly body: Body;
}

type Items<Item extends TSchema> = { readonly items: readonly Static<Item>[] };

const idIn = (sent: Static<typeof eventIds>) => (typeof sent === "number" ? sent : sent.id);

async function create(ctx: RequestContext, { version, body }: BodyRequest<unknown, Items<typeof newEvent>>) {
  return itemsResponse(
    (await createEvents(ctx, await mapInSlices(body.items, newEventOf), memberOfLinkIn(body.items))).map(
      eventJson(version),
    ),
  );
}

function list(ctx: RequestContext, { version, query }: BodyRequest<ParameterValues<typeof listQuery>>) {
  const eventsQuery = eventsQueryOf(query);
  const collection = collectionOf(ctx, eventsQuery);
  const whole = collectionOf(ctx, { filter: everything, direction: eventsQuery.direction });
  const read = (page: PageQuery) => listEvents(ctx, { ...eventsQuery, page });
  const { cursor, limit } = query;
  return listResponse<Event>(ctx, { cursor, limit, collection, whole }, read, eventJson(version));
}

/** A cursor is valid for the same list in all versions. */
const collectionOf = (ctx: RequestContext, eventsQuery: Omit<EventsQuery, "page">) => [
  "events",
  ctx.projectId,
  eventsQuery.filter,
  [eventsQuery.startFrom, eventsQuery.startTo],
  eventsQuery.direction,
];

async function divide(ctx: RequestContext, { query }: BodyRequest<{ readonly divisions: number }>) {
  const cuts = await divideEvents(ctx, Math.min(query.divisions, limits.cursorDivisionsMax));
  const collection = collectionOf(ctx, { filter: everything, direction: "ascending" });
  const cursors = [undefined, ...cuts].map((after, index) => {
    const until = cuts[index];
    return ctx.cursors.sign(collection, { ...(after && { after }), ...(until && { until }) });
  });
  return itemsResponse(cursors);
}

function byReference(ctx: RequestContext, { version, body }: BodyRequest<unknown, Static<typeof reference>>) {
  const { transformerId, eventReferenceKeys: referenceKeys } = body;
  const found = getEventsByReference(ctx, { transformerId, referenceKeys });
  return batchesResponse(found, eventJson(version));
}

async function overwrite(
  ctx: RequestContext,
  { version, body }: BodyRequest<unknown, Items<typeof wholeEvent>>,
) {
  await updateEvents(ctx, await mapInSlices(body.items, overwriteOf(version)), memberOfLinkIn(body.items));
  return emptyResponse;
}

async function updateMany(
  ctx: RequestContext,
  { version, body }: BodyRequest<unknown, Items<typeof identifiedChange>>,
) {
  const changes = await mapInSlices(body.items, (sent, index) =>
    changeOf(sent.id, sent, { version, prefix: `items[${index}].` }),
  );
  return itemsResponse(
    (await updateEvents(ctx, changes, memberOfLinkIn(body.items))).map(eventJson(version)),
  );
}

async function updateOne(
  ctx: RequestContext,
  request: BodyRequest<unknown, Static<typeof eventChange>> & {
    readonly path: ParameterValues<typeof oneEvent>;
  },
) {
  const { path, body, version } = request;
  const { eventId } = path;
  requireIdOfPath(body.id, eventId);
  const change = changeOf(eventId, body, { version, prefix: "" });
  return itemsResponse([eventJson(version)(await updateEvent(ctx, change, memberOfLinkIn([body])))]);
}

interface SentLinks {
  readonly assetIds?: object | null;
  readonly tagIds?: object | null;
}

/** The member that has a link: `tagIds`, if only that one has it. */
const memberOfLinkIn =
  (sent: readonly SentLinks[]): MemberOfLink =>
  (index, id) => {
    const { assetIds, tagIds } = sent[index]!;
    return idsIn(tagIds).includes(id) && !idsIn(assetIds).includes(id) ? "tagIds" : "assetIds";
  };

/** The elements of a list, or of all lists of a change. */
const idsIn = (list: object | null | undefined): unknown[] => Object.values(list ?? {}).flat();
