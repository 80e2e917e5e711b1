// The bounds that callers and operators can meet, with the relations between them asserted at start.
//
// Each subject has a file in `limits/`, and a section in docs/LIMITS.md, which is generated. A constant that
// only tunes one algorithm is declared beside it. Published clients rely on some figures
// (docs/reference/common.md#limits-that-clients-rely-on).
import { invariant } from "./lib/invariant.ts";
import { accessLimits } from "./limits/access.ts";
import { auditLimits } from "./limits/audit.ts";
import { catalogLimits } from "./limits/catalog.ts";
import { clientsLimits } from "./limits/clients.ts";
import { computationsLimits } from "./limits/computations.ts";
import { configurationLimits } from "./limits/configuration.ts";
import { connectorsLimits } from "./limits/connectors.ts";
import { datapointsLimits } from "./limits/datapoints.ts";
import { filesLimits } from "./limits/files.ts";
import { influxLimits } from "./limits/influx.ts";
import { modelsLimits } from "./limits/models.ts";
import { odataLimits } from "./limits/odata.ts";
import { recordsLimits } from "./limits/records.ts";
import { requestsLimits } from "./limits/requests.ts";
import { retentionLimits } from "./limits/retention.ts";
import { sqlLimits } from "./limits/sql.ts";
import { suggestionsLimits } from "./limits/suggestions.ts";
import { tablesLimits } from "./limits/tables.ts";
import { transformationsLimits } from "./limits/transformations.ts";

/** All limits by subject, in the order of docs/LIMITS.md. */
export const limitsBySubject = {
  "Requests and responses": requestsLimits,
  Access: accessLimits,
  "Audit log": auditLimits,
  Records: recordsLimits,
  "Sequences and raw data": tablesLimits,
  "Files and disk": filesLimits,
  "Time series and datapoints": datapointsLimits,
  Retention: retentionLimits,
  Computations: computationsLimits,
  Suggestions: suggestionsLimits,
  Models: modelsLimits,
  "SQL of transformations": sqlLimits,
  Transformations: transformationsLimits,
  Configuration: configurationLimits,
  OData: odataLimits,
  "InfluxDB protocol": influxLimits,
  "Importer and demo plant": clientsLimits,
  Connectors: connectorsLimits,
  Catalog: catalogLimits,
} as const;

const described = {
  ...requestsLimits,
  ...accessLimits,
  ...auditLimits,
  ...recordsLimits,
  ...tablesLimits,
  ...filesLimits,
  ...datapointsLimits,
  ...retentionLimits,
  ...computationsLimits,
  ...suggestionsLimits,
  ...modelsLimits,
  ...sqlLimits,
  ...transformationsLimits,
  ...configurationLimits,
  ...odataLimits,
  ...influxLimits,
  ...clientsLimits,
  ...connectorsLimits,
  ...catalogLimits,
};

export const limits = Object.fromEntries(
  Object.entries(described).map(([name, one]) => [name, one.value]),
) as { readonly [Name in keyof typeof described]: number };

/** Four bytes of UTF-8, each percent-encoded. */
const bytesPerEncodedCharacterMax = 12;

/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const utf8BytesPerCharacterMax = 3;

invariant(
  2 * limits.bulkBodyBytesMax + limits.jsonValuesMax * limits.jsonValueBytes <= limits.bodyReserveBytes,
  "the largest body fits into its reserve when other bodies hold all the rest",
);
invariant(
  limits.openBodyBytesMax <= limits.bodyBytesUncounted,
  "requests without credentials take no memory from others",
);
invariant(
  limits.modelPackageBytesMax + limits.modelFileBytesMax < limits.modelDiskBytesMax,
  "the largest package and an artifact of the largest size fit into the folder of a run",
);
invariant(
  limits.pageLengthMax * 2 <= limits.responseReserveBytes,
  "the largest page fits into the memory for responses, also at two bytes a character",
);
invariant(
  limits.rawColumnsLengthMax <= limits.pageLengthMax,
  "a page holds at least one raw row of the largest size",
);
invariant(limits.modelRunMsMax < limits.requestMsMax, "a prediction ends before its request does");
invariant(limits.searchItemsDefault <= limits.searchItemsMax, "a default is within its maximum");
invariant(
  limits.nameLengthMax * bytesPerEncodedCharacterMax <= limits.pathSegmentBytesMax,
  "every name of a series fits into a path",
);
invariant(
  limits.rawKeyLengthMax * bytesPerEncodedCharacterMax <= limits.pathSegmentBytesMax,
  "every key of a raw row fits into a path",
);
invariant(
  (limits.rawKeyLengthMax + 2 * limits.nameLengthMax) * bytesPerEncodedCharacterMax < limits.headBytesMax,
  "every key of a raw row fits into a path together with its database and table",
);
invariant(
  limits.rawColumnsLengthMax * utf8BytesPerCharacterMax < limits.rawCsvLineBytesMax,
  "the columns of a raw row fit into a line of CSV",
);
invariant(
  limits.computationsPerCaller < limits.computationsAtOnce &&
    limits.computationsLargePerCaller < limits.computationsLargeAtOnce,
  "one caller cannot occupy all computations",
);
invariant(
  limits.influxFieldsPerLineMax < limits.pointsPerWriteMax,
  "the points of a line fit into one write",
);
invariant(limits.rawRowsMax <= limits.itemsPerWriteMax, "rows in CSV are no more than rows in JSON");
invariant(
  limits.importPointsPerRequest <= limits.pointsPerWriteMax,
  "the server accepts the requests of the importer",
);
invariant(
  limits.importBodyBytesMax <= limits.bulkBodyBytesMax,
  "the server accepts the requests of the importer",
);
invariant(
  limits.importItemsPerRequest <= limits.itemsPerWriteMax,
  "the server accepts the requests of the importer",
);
invariant(
  5 * limits.connectorReportMs < limits.connectorSilentMs,
  "a connector is not silent because some of its reports were lost",
);
invariant(
  limits.journalCheckpointBytes < limits.journalBytesMax,
  "a checkpoint begins before writes must wait",
);
invariant(
  limits.journalGroupBytesMax <= limits.pointsInFlightBytesMax,
  "a full group of writes can be in flight",
);
