// Tables of the audit log: the records of a project, the head of their chain, and operations in progress.
import type { Table } from "../storage/catalog.ts";

/** The kinds of operations. Those before `write` are recorded by default. */
export const auditKinds = [
  ...(["rights", "keys", "settings", "deletion", "export", "import", "sign-in"] as const),
  ...(["write", "read"] as const),
] as const;
export type AuditKind = (typeof auditKinds)[number];

/** `refused`: status 4xx; `failed`: 5xx; `unknown`: the server ended before the operation did. */
export const auditResults = ["done", "refused", "failed", "unknown"] as const;
export type AuditResult = (typeof auditResults)[number];

/** The kind of credential of the sender. */
export type AuditCredential = "key" | "login" | "session" | "token" | "run" | "server" | "command" | "none";

/** The sender of the operation. */
export interface AuditActor {
  /** The name of the account or of the user of a token; empty if it is not known. */
  readonly account: string;
  readonly accountId?: number;
  readonly credential: AuditCredential;
  /** The API key; never the key itself. */
  readonly keyId?: number;
}

/** An operation that begins. */
export interface BegunOperation extends AuditActor {
  readonly time: number;
  /** The address of the client; empty for the server itself and its commands. */
  readonly address: string;
  readonly kind: AuditKind;
  /** `POST /groups`, without values of parameters. */
  readonly action: string;
  /** The type of the records, such as `groups`. */
  readonly resource: string;
  /** The first ids and names of these records. */
  readonly ids: readonly string[];
  /** How many the request names. */
  readonly idsCount: number;
  /** The header `X-Request-Id` of the response. */
  readonly requestId?: string;
}

export interface EndedOperation extends BegunOperation {
  readonly result: AuditResult;
  readonly endedTime?: number;
  readonly status?: number;
  /** The name of the refusal in docs/ERRORS.md. */
  readonly error?: string;
}

export interface AuditRecord extends EndedOperation {
  /** 1, 2, 3 and so on in the project, without gaps. */
  readonly seq: number;
  readonly previousHash: string;
  readonly hash: string;
}

const text = { type: "text", optional: false } as const;
const integer = { type: "integer", optional: false } as const;
const optionalText = { type: "text", optional: true } as const;
const optionalInteger = { type: "integer", optional: true } as const;

/** Records are added and, by age, removed. No operation changes one. */
export const auditRecordTable: Table<AuditRecord> = {
  name: "audit_records",
  belongsTo: "project",
  columns: {
    seq: integer,
    time: integer,
    endedTime: optionalInteger,
    account: text,
    accountId: optionalInteger,
    credential: text,
    keyId: optionalInteger,
    address: text,
    kind: text,
    action: text,
    resource: text,
    ids: { type: "json", optional: false },
    idsCount: integer,
    result: text,
    status: optionalInteger,
    error: optionalText,
    requestId: optionalText,
    previousHash: text,
    hash: text,
  },
  key: ["seq"],
  indexes: [
    ["account", "seq"],
    ["kind", "seq"],
  ],
  unique: [],
  wordsOf: [],
};

/** The newest record, and the newest one that was removed by age. */
export interface AuditHead {
  /** The only row of a project has the name `head`. */
  readonly name: string;
  readonly seq: number;
  readonly hash: string;
  readonly removedSeq: number;
  readonly removedHash: string;
}

export const auditHeadTable: Table<AuditHead> = {
  name: "audit_heads",
  belongsTo: "project",
  columns: { name: text, seq: integer, hash: text, removedSeq: integer, removedHash: text },
  key: ["name"],
  indexes: [],
  unique: [],
  wordsOf: [],
};

/** An operation that has begun, on disk before it changes anything. */
export interface AuditIntent {
  readonly intent: string;
  /** The lease of the server that does it. */
  readonly owner: number;
  readonly operation: BegunOperation;
}

export const auditIntentTable: Table<AuditIntent> = {
  name: "audit_intents",
  belongsTo: "project",
  columns: { intent: text, owner: integer, operation: { type: "json", optional: false } },
  key: ["intent"],
  indexes: [],
  unique: [],
  wordsOf: [],
};

/** The last record of the project, by `seq`, that a target of copies has. */
export interface AuditCopy {
  readonly target: string;
  readonly seq: number;
}

export const auditCopyTable: Table<AuditCopy> = {
  name: "audit_copies",
  belongsTo: "project",
  columns: { target: text, seq: integer },
  key: ["target"],
  indexes: [],
  unique: [],
  wordsOf: [],
};
