// Connectors over REST 0.6 (docs/reference/connectors.md).
import { type Static, Type } from "typebox";
import { limits } from "../../limits.ts";
import { and } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  cursorParameter,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { idsBody, itemsBody, json, nameField, textField, timeField } from "../../rest/fields.ts";
import { id, oneOfWords, pageSize, text } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { equalTo } from "../common/fields.rest.ts";
import {
  type ConnectorRecord,
  type ConnectorReport,
  connectorStates,
  deleteConnectors,
  getConnector,
  listConnectors,
  reportConnectors,
  withStatus,
} from "./connectors.ts";
import { reportedStates } from "./schema.ts";

const wholeNumber = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const shortText = (description: string) => textField(description, { max: limits.connectorTextLengthMax });

const error = Type.Object(
  { message: shortText("The last error"), time: timeField("When it happened") },
  { description: "The last error; it may be over" },
);

const counts = Type.Object(
  {
    received: wholeNumber("Received from the source"),
    written: wholeNumber("Written to the server"),
    refused: wholeNumber("Refused by the server or the connector"),
    dropped: wholeNumber("Lost because the buffer was full or too old"),
  },
  { description: "Points, events and rows since the buffer of the connector was created" },
);

const buffer = Type.Object(
  {
    points: wholeNumber("Points, events and rows in the buffer"),
    bytes: wholeNumber("Bytes of the buffer on the disk of the connector"),
    oldestTime: Type.Optional(timeField("When the oldest of them was received")),
  },
  { description: "Received and not yet written" },
);

const described = {
  name: nameField("The name, unique in the project"),
  instance: nameField("An id of the connector's installation, which its restarts keep"),
  source: nameField("The type of the source, such as `mqtt`"),
  address: Type.Optional(shortText("The address of the source, without secrets")),
  version: nameField("The version of the connector"),
  startedTime: timeField("When the process started"),
};

const state = {
  error: Type.Optional(error),
  ...{ counts, buffer },
  newestTime: Type.Optional(timeField("The timestamp of the newest point that was written")),
  lagMs: Type.Optional(wholeNumber("From that timestamp until the point was written, in ms")),
};

const reportSchema = Type.Object(
  {
    ...described,
    status: Type.Enum([...reportedStates], { description: "DEGRADED: with a problem at present" }),
    ...state,
  },
  { title: "ConnectorReport" },
);

const connectorSchema = Type.Object(
  {
    id: Type.Integer(),
    ...described,
    status: Type.Enum([...connectorStates], {
      description: `As reported; SILENT after ${limits.connectorSilentMs / 1000} s without a report`,
    }),
    ...state,
    owner: Type.String({ description: "The name of the account or user that reported last" }),
    ownerId: Type.Optional(Type.Integer({ description: "The account; absent if a token reported" })),
    createdTime: Type.Integer({ description: "The first report" }),
    lastSeenTime: Type.Integer({ description: "The last report, by the clock of the server" }),
  },
  { title: "Connector" },
);

const listQuery = {
  name: text("The connector with exactly this name"),
  status: oneOfWords("Connectors that have this status now", connectorStates),
  source: text("Connectors with exactly this type of source"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

const versions = ["0.6"] as const;
const read = { versions, capability: ["connectorsAcl", "READ"] } as const;
const write = { versions, capability: ["connectorsAcl", "WRITE"] } as const;
const items = () => ({ schema: itemsSchema(connectorSchema) });

export const connectorRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/connectors/report",
    summary: "Report the states of connectors; creates or replaces the record of each name",
    body: json(itemsBody(reportSchema, { min: 1, max: limits.connectorReportsMax })),
    response: items,
    handle: async (ctx, { body }) => {
      const reported = await reportConnectors(ctx, await mapInSlices(body.items, reportOf));
      return itemsResponse(reported.map(connectorJson));
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/connectors",
    summary: "List connectors, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(connectorSchema) }),
    handle: (ctx, { query: { name, status, source, ...place } }) => {
      const filter = and(equalTo("name", name), equalTo("source", source), status && withStatus(ctx, status));
      const collection = ["connectors", ctx.projectId, { name, status, source }];
      const read = (page: PageQuery) => listConnectors(ctx, { filter, page });
      return listResponse(ctx, { ...place, collection }, read, connectorJson);
    },
  }),
  route({
    ...write,
    method: "POST",
    path: "/connectors/delete",
    summary: "Delete connectors; the next report of a running one creates it again",
    body: idsBody("Which connector"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteConnectors(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/connectors/{connectorId}",
    summary: "Read a connector",
    parameters: { connectorId: id("The connector") },
    response: items,
    handle: async (ctx, { path }) =>
      itemsResponse([connectorJson(await getConnector(ctx, path.connectorId))]),
  }),
];

function reportOf({ error, counts, buffer, ...sent }: Static<typeof reportSchema>): ConnectorReport {
  return {
    ...sent,
    ...(error && { errorMessage: error.message, errorTime: error.time }),
    ...counts,
    ...{ bufferPoints: buffer.points, bufferBytes: buffer.bytes },
    ...(buffer.oldestTime !== undefined && { bufferOldestTime: buffer.oldestTime }),
  };
}

const connectorJson = (found: ConnectorRecord) => ({
  id: found.id,
  name: found.name,
  instance: found.instance,
  source: found.source,
  address: found.address,
  version: found.version,
  startedTime: found.startedTime,
  status: found.status,
  ...(found.errorMessage !== undefined && {
    error: { message: found.errorMessage, time: found.errorTime },
  }),
  counts: {
    received: found.received,
    written: found.written,
    refused: found.refused,
    dropped: found.dropped,
  },
  buffer: { points: found.bufferPoints, bytes: found.bufferBytes, oldestTime: found.bufferOldestTime },
  newestTime: found.newestTime,
  lagMs: found.lagMs,
  owner: found.owner,
  ownerId: found.ownerId,
  createdTime: found.createdTime,
  lastSeenTime: found.lastSeenTime,
});
