// Restores archives over REST, for `millrace import archive` (docs/archive.md).
import { Type } from "typebox";
import { limits } from "../../limits.ts";
import { emptyResponse, emptySchema } from "../../rest/envelope.ts";
import { bulk, idField, itemsBody, timeField } from "../../rest/fields.ts";
import { oneOfWords, required } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import type { TimedRecords } from "../common/restored-times.ts";
import { readRestoredRows } from "../raw/row-json.rest.ts";
import { inTable, restoredRowsBody } from "../raw/schemas.rest.ts";
import { restoreRawRows, restoreTimes } from "./archives.ts";

const times = {
  createdTime: timeField("When the record was created"),
  lastUpdatedTime: timeField("When the record last changed"),
};

const body = itemsBody(
  Type.Object(
    {
      id: idField("Which record"),
      ...times,
      uploadedAt: Type.Optional(timeField("Only for files: when the upload of the bytes was complete")),
      columns: Type.Optional(
        Type.Array(Type.Object({ id: idField("Which column"), ...times }), {
          description: "Only for sequences: the times of the columns",
          maxItems: limits.sequenceColumnsMax,
        }),
      ),
    },
    { title: "RecordTimes" },
  ),
  { min: 1 },
);

const restoring = {
  method: "POST",
  versions: ["0.6"],
  capability: ["projectsAcl", "UPDATE"],
  response: () => ({ schema: emptySchema }),
} as const;

/** `timed` are the resources whose times can be restored, by the path of their list. */
export const archiveRoutes = (timed: Readonly<Record<string, TimedRecords>>): readonly Route[] => [
  route({
    ...restoring,
    path: "/restore/times/{resource}",
    summary: "Set the original times of records restored from an archive",
    parameters: { resource: required(oneOfWords("The type of the records", Object.keys(timed))) },
    body: { kind: "json", schema: body },
    handle: async (ctx, { path, body }) => {
      const items = body.items.map(({ uploadedAt, ...item }) => ({ ...item, uploadedTime: uploadedAt }));
      await restoreTimes(ctx, timed[path.resource]!, items);
      return emptyResponse;
    },
  }),
  route({
    ...restoring,
    path: "/restore/raw/{database}/{table}",
    summary: "Write raw rows from an archive with their original times",
    parameters: inTable,
    body: {
      kind: "bytes",
      ...bulk,
      schema: restoredRowsBody,
      read: readRestoredRows,
    },
    handle: async (ctx, { path, body }) => {
      await restoreRawRows(ctx, path, body);
      return emptyResponse;
    },
  }),
];
