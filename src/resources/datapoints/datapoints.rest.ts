// The REST operations on the datapoints of one series, and inserts into several
// (docs/reference/datapoints.md).
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { prefersToJson } from "../../lib/media-types.ts";
import { now, timePointMs } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { Continuation, continuationQuery } from "../../rest/continuation.ts";
import { emptyResponse, emptySchema, itemsResponse, itemsSchema } from "../../rest/envelope.ts";
import { bulk } from "../../rest/fields.ts";
import { id, type Parameter, required, text } from "../../rest/parameters.ts";
import { apiVersions, type BytesBody, type Route, route } from "../../rest/route.ts";
import { type KeyInput, keyFields, refuseOtherIds, seriesKeys } from "../timeseries/series-keys.rest.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import { dataFrameRoutes } from "./data-frame.rest.ts";
import {
  countPoints,
  deletePoints,
  insertPoints,
  latestPoint,
  latestPoints,
  prepareReads,
} from "./datapoints.ts";
import type { IncomingPoints } from "./inserts/incoming-points.ts";
import { decodeInsert } from "./inserts/insert-json.rest.ts";
import { decodeInsertMessage } from "./protobuf.ts";
import {
  queryParameters,
  readTime,
  seriesQuery,
  timeField,
  timeParameter,
  timeRange,
} from "./queries.rest.ts";
import {
  jsonResponse,
  latestResponse,
  latestSchema,
  manyLatestResponse,
  namedRows,
  pointSchema,
  protobufResponse,
  protobufType,
  seriesPointsSchema,
} from "./responses.rest.ts";

const nameParameter = required(text("The series' name (`tagId` in 0.4)"));
const idParameter = id("The series' id");

interface SeriesPath {
  readonly path: string;
  readonly parameters: Readonly<Record<string, Parameter<SeriesKey>>>;
}

/** The paths of an operation: all versions address a series by its name or by its id. */
const pathsOf = (word: "data" | "latest", rest = ""): readonly SeriesPath[] => [
  { path: `/timeseries/${word}/{name}${rest}`, parameters: { name: nameParameter } },
  { path: `/timeseries/{id}/${word}${rest}`, parameters: { id: idParameter } },
];

const keyIn = (path: Readonly<Record<string, SeriesKey>>): SeriesKey => Object.values(path)[0]!;

const reading = { method: "GET", versions: apiVersions, capability: ["timeSeriesAcl", "READ"] } as const;
const changing = {
  versions: apiVersions,
  capability: ["timeSeriesAcl", "WRITE"],
  response: () => ({ schema: emptySchema }),
} as const;

const pointsField = Type.Array(pointSchema);

/** An insert without items succeeds and writes nothing. */
async function insert(ctx: RequestContext, { body }: { readonly body: IncomingPoints }) {
  await insertPoints(ctx, body);
  return emptyResponse;
}

type RequestParts = Parameters<BytesBody<IncomingPoints>["read"]>[1];

async function readPoints(
  bytes: Buffer,
  { ctx, path, headers, work }: RequestParts,
): Promise<IncomingPoints> {
  const isMessage = String(headers["content-type"]).toLowerCase().includes("protobuf");
  const key = Object.values(path)[0] as SeriesKey | undefined;
  if (!isMessage) return decodeInsert(ctx, bytes, { key, work });
  const limit = limits.protobufBodyBytesMax;
  if (bytes.length > limit) throw fail("body-too-large", { what: "unpacked", limit });
  return decodeInsertMessage(ctx, bytes, key);
}

const insertRoutes: readonly Route[] = [
  route({
    ...changing,
    method: "POST",
    path: "/timeseries/data",
    summary: "Write datapoints of several series, as JSON or as a protobuf MultiNamedTimeseriesData",
    body: {
      kind: "bytes",
      ...bulk,
      schema: Type.Object({ items: Type.Array(Type.Object({ ...keyFields, datapoints: pointsField })) }),
      read: readPoints,
    },
    handle: insert,
  }),
  ...pathsOf("data").map((path) =>
    route({
      ...changing,
      ...path,
      method: "POST",
      summary: "Write datapoints of one series, as JSON or as a protobuf TimeseriesData",
      body: {
        kind: "bytes",
        ...bulk,
        schema: Type.Object({ items: pointsField }),
        read: readPoints,
      },
      handle: insert,
    }),
  ),
];

const readRoutes = pathsOf("data").map((path) =>
  route({
    ...reading,
    ...path,
    summary: "Read points or aggregates of one series; points also as a protobuf TimeseriesData",
    query: { ...queryParameters, ...continuationQuery },
    response: (version) => ({
      schema: itemsSchema(seriesPointsSchema(version)),
      otherContentTypes: [protobufType],
      hasNextLink: true,
    }),
    handle: async (ctx, { version, path, query: { cursor, ...options }, headers }) => {
      const key = keyIn(path);
      const continuation = new Continuation(ctx, [key, options], cursor);
      const read = seriesQuery(continuation.nowMs, key, { options, version });
      const [result] = await prepareReads(ctx, [continuation.remaining(read)]);
      const wantsMessage = prefersToJson(protobufType, headers["accept"]) && options.aggregates === undefined;
      if (wantsMessage) return protobufResponse(ctx, result!, continuation);
      return jsonResponse(ctx, [namedRows(result!, version)], version, continuation);
    },
  }),
);

const latestQuerySchema = Type.Object({
  items: Type.Array(Type.Object(keyFields), { maxItems: limits.latestSeriesMax }),
  before: timeField("Only points earlier than this; now when absent"),
});

interface LatestQueryInput {
  readonly items: readonly KeyInput[];
  readonly before?: string | number;
}

const manyLatestRoute = route({
  ...reading,
  versions: ["0.6"],
  method: "POST",
  path: "/timeseries/latest",
  summary: "Read the last point of each of several series before a time, in the order of the request",
  body: { kind: "json", schema: latestQuerySchema },
  response: (version) => ({ schema: itemsSchema(latestSchema(version)) }),
  handle: async (ctx, { version, body }) => {
    const { items, before = "now" } = body as LatestQueryInput;
    const keys = seriesKeys(items);
    await refuseOtherIds(ctx, items);
    const beforeMs = timePointMs(readTime(before, "before"), ctx.system.nowMs());
    return manyLatestResponse(ctx, await latestPoints(ctx, keys, beforeMs), version);
  },
});

const latestRoutes = pathsOf("latest").map((path) =>
  route({
    ...reading,
    ...path,
    summary: "Read the last point before a time; no items when there is none",
    query: { before: timeParameter("Only points earlier than this; now when absent") },
    response: () => ({ schema: itemsSchema(pointSchema) }),
    handle: async (ctx, { path, query }) => {
      const beforeMs = timePointMs(query.before ?? now, ctx.system.nowMs());
      return latestResponse(await latestPoint(ctx, keyIn(path), beforeMs));
    },
  }),
);

const countRoutes = pathsOf("data", "/count").map((path) =>
  route({
    ...reading,
    ...path,
    versions: ["0.6"],
    summary: "Count the points of one series in a time range",
    query: { start: queryParameters.start, end: queryParameters.end },
    response: () => ({
      schema: itemsSchema(Type.Object({ count: Type.Integer() }, { title: "PointCount" })),
    }),
    handle: async (ctx, { path, query }) => {
      const count = await countPoints(ctx, keyIn(path), timeRange(ctx.system.nowMs(), query));
      return itemsResponse([{ count }]);
    },
  }),
);

const deleteSingleRoutes = pathsOf("data", "/deletesingle").map((path) =>
  route({
    ...changing,
    ...path,
    method: "DELETE",
    summary: "Delete the point at a time, if there is one",
    query: { timestamp: required(timeParameter("The time of the point")) },
    handle: async (ctx, { path, query }) => {
      const startMs = timePointMs(query.timestamp, ctx.system.nowMs());
      await deletePoints(ctx, keyIn(path), { startMs, endMs: startMs + 1 });
      return emptyResponse;
    },
  }),
);

const deleteRangeRoutes = pathsOf("data", "/deleterange").map((path) =>
  route({
    ...changing,
    ...path,
    method: "DELETE",
    summary: "Delete all points in a time range",
    query: {
      timestampInclusiveBegin: required(timeParameter("The first time to delete")),
      timestampExclusiveEnd: required(timeParameter("The first time to keep")),
    },
    handle: async (ctx, { path, query }) => {
      const { timestampInclusiveBegin: start, timestampExclusiveEnd: end } = query;
      const fields = { start: "timestampInclusiveBegin", end: "timestampExclusiveEnd" };
      await deletePoints(ctx, keyIn(path), timeRange(ctx.system.nowMs(), { start, end }, fields));
      return emptyResponse;
    },
  }),
);

export const datapointRoutes: readonly Route[] = [
  ...insertRoutes,
  ...readRoutes,
  ...latestRoutes,
  manyLatestRoute,
  ...countRoutes,
  ...deleteSingleRoutes,
  ...deleteRangeRoutes,
  ...dataFrameRoutes,
];
