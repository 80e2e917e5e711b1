// Events as rows of CSV. An exported file can be imported again.
import type { Event } from "../../api/generated.ts";

export const csvHeader = [
  ...["id", "type", "subtype", "description", "startTime", "endTime"],
  ...["assetIds", "source", "sourceId", "externalId", "metadata"],
];

const timeOf = (timeMs: number | undefined) => (timeMs === undefined ? "" : new Date(timeMs).toISOString());

export function csvCells(event: Event): string[] {
  const { id, type = "", subtype = "", description = "", startTime, endTime, assetIds, metadata } = event;
  const { source = "", sourceId = "", externalId = "" } = event;
  return [
    ...[String(id), type, subtype, description, timeOf(startTime), timeOf(endTime), assetIds.join(";")],
    ...[source, sourceId, externalId, Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata)],
  ];
}
