// The audit log over OData: the set AuditRecords, newest first.
import type { AuditRecord } from "../../audit/schema.ts";
import { type EntityModelPart, entitySet, entityType, type Property } from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { id, required, text, time } from "../../odata/property.ts";
import { countAuditRecords, listAuditRecords } from "./audit.ts";

const string = (name: string, field: "account" | "action" | "address" | "credential" | "error") =>
  text<AuditRecord>(name, (row) => row[field], column(field));

/** A whole number in the column `field`. */
const count = (name: string, field: "idsCount" | "status") =>
  ({
    ...{ name, type: "Edm.Int64", get: (row) => row[field] },
    queryable: { kind: "value", operand: column(field, "Edm.Int64") },
  }) as const satisfies Property<AuditRecord>;

const ids: Property<AuditRecord> = {
  ...{ name: "Ids", type: "Edm.String", isList: true, isRequired: true },
  get: (row) => row.ids,
};

const auditRecord = entityType<AuditRecord>({
  name: "AuditRecord",
  key: "Sequence",
  properties: [
    required(id("Sequence", (row) => row.seq, "seq")),
    required(time("Time", (row) => row.time, "time")),
    time("EndedTime", (row) => row.endedTime, "endedTime"),
    required(string("Account", "account")),
    id("AccountId", (row) => row.accountId, "accountId"),
    required(string("Credential", "credential")),
    id("KeyId", (row) => row.keyId, "keyId"),
    required(string("Address", "address")),
    required(text("Kind", (row) => row.kind, column("kind"))),
    required(string("Action", "action")),
    required(text("Resource", (row) => row.resource, column("resource"))),
    ids,
    required(count("IdsCount", "idsCount")),
    required(text("Result", (row) => row.result, column("result"))),
    count("Status", "status"),
    string("Error", "error"),
    text("RequestId", (row) => row.requestId, column("requestId")),
    required(text("PreviousHash", (row) => row.previousHash, column("previousHash"))),
    required(text("Hash", (row) => row.hash, column("hash"))),
  ],
});

const auditRecords = entitySet<AuditRecord>({
  name: "AuditRecords",
  type: "AuditRecord",
  isCountable: true,
  read: listAuditRecords,
  count: countAuditRecords,
  position: (row) => [row.seq],
});

export const auditModel: EntityModelPart = { types: [auditRecord], sets: [auditRecords] };
