// Connectors over OData: the set Connectors.
import type { RequestContext } from "../../context.ts";
import { type EntityModelPart, entitySet, entityType, type Property } from "../../odata/model.ts";
import { column, type Operand } from "../../odata/operand.ts";
import { id, required, text, time } from "../../odata/property.ts";
import { nothing, or, type Scalar } from "../../query/filter.ts";
import {
  type ConnectorRecord,
  connectorStates,
  countConnectors,
  listConnectors,
  withStatus,
} from "./connectors.ts";

/** A whole number in the column `field`. */
const count = (name: string, get: (row: ConnectorRecord) => number | undefined, field: string) =>
  ({
    ...{ name, type: "Edm.Int64", get },
    queryable: { kind: "value", operand: column(field, "Edm.Int64") },
  }) as const satisfies Property<ConnectorRecord>;

/** The status depends on the time of the request. */
function status(ctx: RequestContext): Operand {
  const equals = (value: Scalar | null) => {
    const known = connectorStates.find((one) => one === value);
    return known ? withStatus(ctx, known) : nothing;
  };
  return { type: "Edm.String", equals, oneOf: (values) => or(...values.map(equals)) };
}

const connector = entityType<ConnectorRecord>({
  name: "Connector",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    required(text("Name", (row) => row.name, column("name"))),
    required(text("Instance", (row) => row.instance, column("instance"))),
    required(text("Source", (row) => row.source, column("source"))),
    text("Address", (row) => row.address, column("address")),
    required(text("Version", (row) => row.version, column("version"))),
    required(text("Status", (row) => row.status, status)),
    text("ErrorMessage", (row) => row.errorMessage, column("errorMessage")),
    time("ErrorTime", (row) => row.errorTime, "errorTime"),
    required(count("Received", (row) => row.received, "received")),
    required(count("Written", (row) => row.written, "written")),
    required(count("Refused", (row) => row.refused, "refused")),
    required(count("Dropped", (row) => row.dropped, "dropped")),
    required(count("BufferPoints", (row) => row.bufferPoints, "bufferPoints")),
    required(count("BufferBytes", (row) => row.bufferBytes, "bufferBytes")),
    time("BufferOldestTime", (row) => row.bufferOldestTime, "bufferOldestTime"),
    time("NewestTime", (row) => row.newestTime, "newestTime"),
    count("LagMs", (row) => row.lagMs, "lagMs"),
    required(text("Owner", (row) => row.owner, column("owner"))),
    required(time("StartedTime", (row) => row.startedTime, "startedTime")),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastSeenTime", (row) => row.lastSeenTime, "lastSeenTime")),
  ],
});

const connectors = entitySet<ConnectorRecord>({
  name: "Connectors",
  type: "Connector",
  isCountable: true,
  read: listConnectors,
  count: countConnectors,
  position: (row) => [row.id],
});

export const connectorModel: EntityModelPart = { types: [connector], sets: [connectors] };
