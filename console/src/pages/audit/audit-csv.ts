// Audit records as rows of CSV.
import type { AuditRecord } from "../../api/generated.ts";

export const csvHeader = [
  ...["seq", "time", "endedTime", "account", "accountId", "credential", "keyId", "address", "kind", "action"],
  ...["resource", "ids", "idsCount", "result", "status", "error", "requestId", "previousHash", "hash"],
];

const timeOf = (timeMs: number | undefined) => (timeMs === undefined ? "" : new Date(timeMs).toISOString());
const textOf = (value: string | number | undefined) => String(value ?? "");

export const csvCells = (record: AuditRecord): string[] => [
  ...[textOf(record.seq), timeOf(record.time), timeOf(record.endedTime), record.account],
  ...[textOf(record.accountId), record.credential, textOf(record.keyId), record.address],
  ...[record.kind, record.action, record.resource, record.ids.join(";"), textOf(record.idsCount)],
  ...[record.result, textOf(record.status), textOf(record.error), textOf(record.requestId)],
  ...[record.previousHash, record.hash],
];
