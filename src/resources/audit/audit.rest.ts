// The audit log over REST 0.6 (docs/reference/audit.md).
import { Type } from "typebox";
import { type AuditRecord, auditKinds, auditResults } from "../../audit/schema.ts";
import { limits } from "../../limits.ts";
import { and } from "../../query/filter.ts";
import type { PageQuery } from "../../query/page.ts";
import { cursorParameter, dataResponse, dataSchema, listResponse, pageSchema } from "../../rest/envelope.ts";
import { integer, oneOfWords, pageSize, text } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { during } from "../../rest/search.ts";
import { equalTo } from "../common/fields.rest.ts";
import { listAuditRecords, verifyAudit } from "./audit.ts";

const recordSchema = Type.Object(
  {
    seq: Type.Integer({ description: "1, 2, 3 and so on in the project, without gaps" }),
    time: Type.Integer({ description: "When the operation began, in ms since 1970" }),
    endedTime: Type.Optional(Type.Integer({ description: "When it ended; absent if the result is unknown" })),
    account: Type.String({ description: "The account or the user of a token; empty if it is not known" }),
    accountId: Type.Optional(Type.Integer({ description: "The account; absent for the user of a token" })),
    credential: Type.String({
      description:
        "By what the sender was authenticated: `key`, `login`, `session`, `token`, `run` of a model, " +
        "`server`, `command` or `none`",
    }),
    keyId: Type.Optional(Type.Integer({ description: "The API key" })),
    address: Type.String({ description: "The address of the client; empty for the server and its commands" }),
    kind: Type.Enum([...auditKinds]),
    action: Type.String({ description: "The operation, such as `POST /groups`" }),
    resource: Type.String({ description: "The type of the records, such as `groups`" }),
    ids: Type.Array(Type.String(), {
      description: `The first ${limits.auditIdsMax} ids and names in the path, the request and the response`,
    }),
    idsCount: Type.Integer({ description: "How many records the request names" }),
    result: Type.Enum([...auditResults], {
      description: "`unknown`: the server ended before the operation did; it may have happened",
    }),
    status: Type.Optional(Type.Integer({ description: "The status of the response" })),
    error: Type.Optional(Type.String({ description: "The name of the refusal" })),
    requestId: Type.Optional(Type.String({ description: "The header `X-Request-Id` of the response" })),
    previousHash: Type.String({ description: "The hash of the record before" }),
    hash: Type.String({ description: "SHA-256 of the record and the previous hash" }),
  },
  { title: "AuditRecord" },
);

const verificationSchema = Type.Object(
  {
    isIntact: Type.Boolean({ description: "Whether every record is as it was written" }),
    checked: Type.Integer({
      description: "Records that are as they were written, before the first broken one",
    }),
    newestSeq: Type.Integer({ description: "The newest record; 0 without any" }),
    newestHash: Type.String(),
    removedSeq: Type.Integer({ description: "The newest record that was removed by age; 0 without any" }),
    removedHash: Type.String(),
    broken: Type.Optional(
      Type.Object(
        {
          seq: Type.Integer(),
          problem: Type.Enum(["missing", "changed", "hash"], {
            description: "`hash`: the record does not follow the one before",
          }),
        },
        { description: "The first record that is not as it was written" },
      ),
    ),
  },
  { title: "AuditVerification" },
);

const listQuery = {
  minTime: integer("Records of this time or later, in ms since 1970, inclusive"),
  maxTime: integer("Records of this time or earlier, in ms since 1970, inclusive"),
  account: text("Records of exactly this account or user"),
  accountId: integer("Records of this account"),
  keyId: integer("Records of this API key"),
  address: text("Records of exactly this address"),
  kind: oneOfWords("Records of this kind", auditKinds),
  action: text("Records of exactly this action, such as `POST /groups`"),
  resource: text("Records of exactly this type of resource"),
  result: oneOfWords("Records with this result", auditResults),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.auditListDefault, max: limits.listItemsMax }),
};

const reading = { method: "GET", versions: ["0.6"], capability: ["auditAcl", "READ"] } as const;

export const auditRoutes: readonly Route[] = [
  route({
    ...reading,
    path: "/audit",
    summary: "List the records of the audit log, newest first",
    query: listQuery,
    response: () => ({ schema: pageSchema(recordSchema) }),
    handle: (ctx, { query: { cursor, limit, minTime, maxTime, ...equal } }) => {
      const filter = and(
        during("time", minTime, maxTime),
        ...Object.entries(equal).map(([field, value]) => equalTo(field, value)),
      );
      const collection = ["audit", ctx.projectId, filter];
      const read = (page: PageQuery) => listAuditRecords(ctx, { filter, page });
      return listResponse(ctx, { cursor, limit, collection }, read, recordJson);
    },
  }),
  route({
    ...reading,
    path: "/audit/verification",
    summary: "Check the hash chain of the audit log",
    response: () => ({ schema: dataSchema(verificationSchema) }),
    handle: async (ctx) => {
      const { head, checked, broken } = await verifyAudit(ctx);
      const { seq, hash, removedSeq, removedHash } = head;
      const newest = { newestSeq: seq, newestHash: hash, removedSeq, removedHash };
      return dataResponse({ isIntact: !broken, checked, ...newest, ...(broken && { broken }) });
    },
  }),
];

const recordJson = (record: AuditRecord) => ({
  seq: record.seq,
  time: record.time,
  endedTime: record.endedTime,
  account: record.account,
  accountId: record.accountId,
  credential: record.credential,
  keyId: record.keyId,
  address: record.address,
  kind: record.kind,
  action: record.action,
  resource: record.resource,
  ids: record.ids,
  idsCount: record.idsCount,
  result: record.result,
  status: record.status,
  error: record.error,
  requestId: record.requestId,
  previousHash: record.previousHash,
  hash: record.hash,
});
