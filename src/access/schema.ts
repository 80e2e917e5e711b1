// Tables of the catalog for access: groups with their rights, accounts in groups, and keys of accounts.
//
// A key is looked up before its project is known, so these tables belong to the installation, and every query
// to them names the project. Deleted records stay, with the time of deletion, so that ids in old logs can be
// explained.
import type { Stored, Table } from "../storage/catalog.ts";
import type { Capability } from "./capabilities.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Permissions } from "./older-permissions.ts";

/** The columns that groups, accounts and keys share. */
interface Kept extends Stored {
  readonly projectId: number;
  readonly createdTime: number;
  readonly deletedTime?: number;
}

export interface ApiKey extends Kept {
  /** The project's URL name, which never changes. */
  readonly project: string;
  /** The account it acts for. Keys that an early version wrote have none until the next start. */
  readonly accountId?: number;
  /** For people. */
  readonly name: string;
  /** Never the key, only a keyed hash of it. */
  readonly hash: string;
  readonly expiresTime?: number;
  /** To within `keyUseAccuracyMs`. */
  readonly lastUsedTime?: number;
  /** The credentials with which it is revoked (`originsOf`). Keys of the command line have none. */
  readonly madeBy?: readonly string[];
  readonly limits?: KeyLimits;
}

/** The accounts that keys act for; the API calls them users (docs/reference/groups-and-accounts.md#users). */
export interface Account extends Kept {
  /** Unique among the accounts of the project that are not deleted. */
  readonly uniqueName: string;
  readonly groupIds: readonly number[];
  /** The account that the command line makes keys of. */
  readonly isAdministrator?: boolean;
}

export interface Group extends Kept {
  readonly name: string;
  readonly source?: string;
  /** The id of a group of the identity provider; its members are members of this group. */
  readonly sourceId?: string;
  readonly capabilities: readonly Capability[];
  /** How rights were granted before there were capabilities; they count as well. */
  readonly permissions?: Permissions;
  /** Grants all there is, also rights that come with later versions. */
  readonly grantsEverything?: boolean;
}

/**
 * A session of the console (`sessions.ts`), or the one-time link that begins one. Its row is removed when it
 * ends, and when the link is used.
 */
export interface Session extends Stored {
  readonly projectId: number;
  readonly project: string;
  readonly accountId: number;
  /** The key that has signed in; absent after a sign-in with a link. */
  readonly keyId?: number;
  readonly isLink?: boolean;
  /** Never the value of the cookie or the link, only a keyed hash of it. */
  readonly hash: string;
  readonly expiresTime: number;
}

const kept = {
  id: { type: "integer", optional: false },
  projectId: { type: "integer", optional: false },
  createdTime: { type: "integer", optional: false },
  deletedTime: { type: "integer", optional: true },
} as const;

export const apiKeyTable: Table<ApiKey> = {
  name: "api_keys",
  belongsTo: "system",
  columns: {
    ...kept,
    project: { type: "text", optional: false },
    accountId: { type: "integer", optional: true },
    name: { type: "text", optional: false },
    hash: { type: "text", optional: false },
    expiresTime: { type: "integer", optional: true },
    lastUsedTime: { type: "integer", optional: true },
    madeBy: { type: "json", optional: true },
    limits: { type: "json", optional: true },
  },
  indexes: [["projectId"], ["accountId"]],
  unique: [["hash"]],
  wordsOf: [],
};

export const sessionTable: Table<Session> = {
  name: "console_sessions",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    projectId: { type: "integer", optional: false },
    project: { type: "text", optional: false },
    accountId: { type: "integer", optional: false },
    keyId: { type: "integer", optional: true },
    isLink: { type: "boolean", optional: true },
    hash: { type: "text", optional: false },
    expiresTime: { type: "integer", optional: false },
  },
  indexes: [["accountId"], ["expiresTime"]],
  unique: [["hash"]],
  wordsOf: [],
};

export const accountTable: Table<Account> = {
  name: "accounts",
  belongsTo: "system",
  columns: {
    ...kept,
    uniqueName: { type: "text", optional: false },
    groupIds: { type: "json", optional: false },
    isAdministrator: { type: "boolean", optional: true },
  },
  indexes: [["projectId", "uniqueName"]],
  unique: [],
  wordsOf: [],
};

export const groupTable: Table<Group> = {
  name: "groups",
  belongsTo: "system",
  columns: {
    ...kept,
    name: { type: "text", optional: false },
    source: { type: "text", optional: true },
    sourceId: { type: "text", optional: true },
    capabilities: { type: "json", optional: false },
    permissions: { type: "json", optional: true },
    grantsEverything: { type: "boolean", optional: true },
  },
  indexes: [["projectId", "sourceId"]],
  unique: [],
  wordsOf: [],
};
