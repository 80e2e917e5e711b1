// The REST operations on the datapoints of one series, and inserts into several
// (docs/reference/datapoints.md).
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { now, timePointMs } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { Continuation, continuationQuery } from "../../rest/continuation.ts";
import { emptyResponse, emptySchema, itemsSchema } from "../../rest/envelope.ts";
import { bulk } from "../../rest/fields.ts";
import { id, type Parameter, required, text } from "../../rest/parameters.ts";
import { apiVersions, type BytesBody, type Route, route } from "../../rest/route.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import { erasePoints, insertPoints, latestPoint, readMany } from "./datapoints.ts";
import { frameRoutes } from "./frame.rest.ts";
import type { IncomingPoints } from "./inserts/incoming-points.ts";
import { readInsert } from "./inserts/insert-json.rest.ts";
import { readInsertMessage } from "./protobuf.ts";
import { keyFields, moment, questionOf, questionParameters, rangeOf } from "./queries.rest.ts";
import {
  jsonAnswer,
  latestAnswer,
  namedRows,
  pointShape,
  pointsShape,
  protobufAnswer,
  protobufType,
} from "./responses.rest.ts";

const nameParameter = required(text("The series' name (`tagId` in 0.4)"));
const idParameter = id("The series' id");

interface Address {
  readonly path: string;
  readonly parameters: Readonly<Record<string, Parameter<SeriesKey>>>;
}

/** A series is addressed by its name or by its id; what follows is the same, in all versions. */
const addresses = (word: "data" | "latest", rest = ""): readonly Address[] => [
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

const pointsField = Type.Array(pointShape);

/** An insert without items is one of nothing: answered like any other. */
async function insert(ctx: RequestContext, { body }: { readonly body: IncomingPoints }) {
  await insertPoints(ctx, body);
  return emptyResponse;
}

type Sent = Parameters<BytesBody<IncomingPoints>["read"]>[1];

async function readPoints(bytes: Buffer, { ctx, path, headers, work }: Sent): Promise<IncomingPoints> {
  const isMessage = String(headers["content-type"]).toLowerCase().includes("protobuf");
  const key = Object.values(path)[0] as SeriesKey | undefined;
  if (!isMessage) return readInsert(ctx, bytes, { key, work });
  const limit = limits.protobufBodyBytesMax;
  if (bytes.length > limit) throw fail("body-too-large", { what: "unpacked", limit });
  return readInsertMessage(ctx, bytes, key);
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
  ...addresses("data").map((address) =>
    route({
      ...changing,
      ...address,
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

const readRoutes = addresses("data").map((address) =>
  route({
    ...reading,
    ...address,
    summary: "Points or aggregates of one series; points also as a protobuf TimeseriesData",
    query: { ...questionParameters, ...continuationQuery },
    response: (version) => ({
      schema: itemsSchema(pointsShape(version)),
      otherContentTypes: [protobufType],
      hasNextLink: true,
    }),
    handle: async (ctx, { version, path, query: { cursor, ...asked }, headers }) => {
      const key = keyIn(path);
      const continuation = new Continuation(ctx, [key, asked], cursor);
      const question = questionOf(continuation.nowMs, key, { asked });
      const [found] = await readMany(ctx, [continuation.rest(question)]);
      const wantsMessage = headers["accept"]?.includes(protobufType) && asked.aggregates === undefined;
      if (wantsMessage) return protobufAnswer(ctx, found!, continuation);
      return jsonAnswer(ctx, [namedRows(found!, version)], version, continuation);
    },
  }),
);

const latestRoutes = addresses("latest").map((address) =>
  route({
    ...reading,
    ...address,
    summary: "The last point before a time; no items when there is none",
    query: { before: moment("Only points earlier than this; now when absent") },
    response: () => ({ schema: itemsSchema(pointShape) }),
    handle: async (ctx, { path, query }) => {
      const beforeMs = timePointMs(query.before ?? now, ctx.system.nowMs());
      return latestAnswer(await latestPoint(ctx, keyIn(path), beforeMs));
    },
  }),
);

const deleteSingleRoutes = addresses("data", "/deletesingle").map((address) =>
  route({
    ...changing,
    ...address,
    method: "DELETE",
    summary: "Remove the point at a time, if there is one",
    query: { timestamp: required(moment("The time of the point")) },
    handle: async (ctx, { path, query }) => {
      const startMs = timePointMs(query.timestamp, ctx.system.nowMs());
      await erasePoints(ctx, keyIn(path), { startMs, endMs: startMs + 1 });
      return emptyResponse;
    },
  }),
);

const deleteRangeRoutes = addresses("data", "/deleterange").map((address) =>
  route({
    ...changing,
    ...address,
    method: "DELETE",
    summary: "Remove all points in a range of time",
    query: {
      timestampInclusiveBegin: required(moment("The first time to remove")),
      timestampExclusiveEnd: required(moment("The first time to keep")),
    },
    handle: async (ctx, { path, query }) => {
      const { timestampInclusiveBegin: start, timestampExclusiveEnd: end } = query;
      const fields = { start: "timestampInclusiveBegin", end: "timestampExclusiveEnd" };
      await erasePoints(ctx, keyIn(path), rangeOf(ctx.system.nowMs(), { start, end }, fields));
      return emptyResponse;
    },
  }),
);

export const datapointRoutes: readonly Route[] = [
  ...insertRoutes,
  ...readRoutes,
  ...latestRoutes,
  ...deleteSingleRoutes,
  ...deleteRangeRoutes,
  ...frameRoutes,
];
