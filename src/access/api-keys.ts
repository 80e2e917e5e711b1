// API keys: made, listed, revoked, and turned into their caller.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, equals, type Filter } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, CatalogReader } from "../storage/catalog.ts";
import type { ServerLease } from "../storage/server-lease.ts";
import { ensureAdministrator } from "./administrators.ts";
import type { Caller } from "./caller.ts";
import { CallerCache, type KnownCaller } from "./caller-cache.ts";
import { type Credential, inheritKeys, revokeKeys } from "./credentials.ts";
import { endedSessionTable } from "./ended-sessions.ts";
import type { KeyLimits } from "./key-limits.ts";
import { liveIn, type Rights } from "./rights.ts";
import { type Account, type ApiKey, accountTable, apiKeyTable, sessionTable } from "./schema.ts";

/** The project a key is for. */
export interface KeyProject {
  readonly id: number;
  readonly urlName: string;
}

/** The properties of a new key. */
export interface NewKey {
  readonly name: string;
  readonly accountId: number;
  readonly expiresTime?: number;
  readonly madeBy?: readonly string[];
  readonly limits?: KeyLimits;
}

interface ApiKeysParts {
  readonly catalog: Catalog;
  readonly ids: IdSource;
  readonly system: System;
  readonly secret: Uint8Array;
  readonly rights: Rights;
  /** Of the server; absent in a process that runs no background work. */
  readonly lease?: Pick<ServerLease, "owner" | "requireHeld">;
}

/** The project of a caller, as the members of `Caller` name it. */
type CallerProject = Pick<Caller, "projectId" | "projectUrlName">;

interface KeyWithAccount {
  readonly record: ApiKey | TemporaryKey;
  readonly account: Account;
}

/**
 * A key that exists only while the server does some work. It has the rights of the account, and it ends at
 * `expiresTime`, or earlier with the credential of the request that started the work.
 */
export interface TemporaryKey
  extends Required<Pick<ApiKey, "projectId" | "project" | "accountId" | "expiresTime">> {
  readonly startedWith: Credential | undefined;
}

export class ApiKeys {
  readonly #parts: ApiKeysParts;
  /** With the lease of the server at that time: the work that has the key may belong to another one later. */
  readonly #lent = new Map<string, TemporaryKey & { readonly owner: number | undefined }>();
  readonly #cache: CallerCache;

  constructor(parts: ApiKeysParts) {
    this.#parts = parts;
    this.#cache = new CallerCache({ ...parts, read: (key) => this.#read(key) });
  }

  /** Returns a new key with its record, which the caller inserts. The key itself is stored nowhere. */
  draft(project: KeyProject, wanted: NewKey): { record: ApiKey; key: string } {
    const key = this.#newKey();
    return { record: this.#recordOf(project, wanted, key), key };
  }

  /**
   * Creates a key for the duration of some work; disposing of it revokes it. The key is only in the memory of
   * this process, so it ends with the process, and no list shows it.
   */
  createTemporary(loan: TemporaryKey): { readonly key: string } & Disposable {
    const key = this.#newKey();
    this.#lent.set(key, { ...loan, owner: this.#parts.lease?.owner });
    const takeBack = () => {
      this.#lent.delete(key);
      this.#cache.forget(key);
    };
    return { key, [Symbol.dispose]: takeBack };
  }

  /** Makes a key of the account, or else of the administrator, who is made where missing. */
  async create(
    project: KeyProject,
    name: string,
    wanted: Partial<NewKey> = {},
  ): Promise<{ id: number; key: string }> {
    return this.#parts.rights.change(async (tx) => {
      const accountId = wanted.accountId ?? (await ensureAdministrator(tx, project.id, this.#parts)).id;
      const { record, key } = this.draft(project, { ...wanted, name, accountId });
      await tx.insert(apiKeyTable, [record]);
      return { id: record.id, key };
    });
  }

  /**
   * Makes `key`, which the operator chose, the only key of the project's administrator with this name.
   * Returns false and changes nothing when the key belongs to another project.
   */
  async ensure(project: KeyProject, name: string, key: string): Promise<boolean> {
    const { rights, system } = this.#parts;
    return rights.change(async (tx) => {
      const { id: accountId } = await ensureAdministrator(tx, project.id, this.#parts);
      const record = this.#recordOf(project, { name, accountId }, key);
      const [known] = await keysWhere(tx, equals("hash", record.hash));
      if (known && known.projectId !== project.id) return false;
      const named = await keysWhere(tx, and(liveIn(project.id), equals("name", name)));
      const old = named.filter(({ id }) => id !== known?.id);
      for (const { id } of old) await inheritKeys(tx, id, known?.id ?? record.id);
      const deletedTime = system.nowMs();
      await tx.setColumns(
        apiKeyTable,
        ["deletedTime"],
        old.map(({ id }) => ({ id, deletedTime })),
      );
      if (!known) await tx.insert(apiKeyTable, [record]);
      else await tx.setColumns(apiKeyTable, revived, [{ id: known.id, name, accountId }]);
      return true;
    });
  }

  /** The keys of a project that are not deleted. */
  async list(project: KeyProject): Promise<readonly ApiKey[]> {
    return this.#parts.catalog.read("system", (tx) => keysWhere(tx, liveIn(project.id)));
  }

  /**
   * Revokes the key and all keys made with it; returns their ids, none when there is no such key. Unlike the
   * API it may revoke the last key as well.
   */
  async revoke(id: number): Promise<readonly number[]> {
    const { rights, system } = this.#parts;
    return rights.change((tx) => revokeKeys(tx, equals("id", id), system.nowMs()));
  }

  /**
   * The caller of a key; undefined when it is unknown, revoked, expired, or its account deleted. A
   * change by this process counts at once, one by another process within twice `keyCacheMsMax`.
   */
  async callerOf(key: string): Promise<Caller | undefined> {
    return (await this.find(key))?.caller;
  }

  /** As `callerOf`, for the cache of a front thread, which has the caller for at most `keyCacheMsMax`. */
  async find(key: string): Promise<KnownCaller | undefined> {
    this.#requireLease(key);
    return this.#cache.find(key);
  }

  /** As `callerOf`, for the stored key with this id. */
  async callerOfStored(id: number): Promise<KnownCaller | undefined> {
    const found = await this.#parts.catalog.read("system", async (tx) => {
      const [record] = await tx.get(apiKeyTable, [id]);
      return record && record.deletedTime === undefined ? this.#withAccount(tx, record) : undefined;
    });
    return found && this.#used(found);
  }

  /** Whether the key is stored and has expired. Says nothing about a key that is not sent whole. */
  async hasExpired(key: string): Promise<boolean> {
    const record = await this.#parts.catalog.read("system", (tx) => this.#kept(tx, key));
    return record?.expiresTime !== undefined && record.expiresTime <= this.#parts.system.nowMs();
  }

  /** As `callerOf`, from the cache; undefined when the cache has no current entry for the key. */
  cachedCallerOf(key: string): Caller | undefined {
    this.#requireLease(key);
    return this.#cache.cached(key)?.caller;
  }

  /** Refuses (503) a temporary key whose work another server may have taken over. */
  #requireLease(key: string): void {
    const owner = this.#lent.get(key)?.owner;
    if (owner !== undefined) this.#parts.lease!.requireHeld(owner);
  }

  /** Returns the caller for deferred work of an account; undefined when the account is deleted. */
  async callerAs(id: number, project: CallerProject): Promise<Caller | undefined> {
    const [account] = await this.#parts.catalog.read("system", (tx) => tx.get(accountTable, [id]));
    return account && account.deletedTime === undefined ? this.#callerFor(account, project) : undefined;
  }

  async #read(key: string): Promise<KnownCaller | undefined> {
    const loan = this.#lent.get(key);
    const found = await this.#parts.catalog.read("system", async (tx) => {
      if (loan?.startedWith && (await isEnded(tx, loan.startedWith))) return undefined;
      const record = loan ?? (await this.#kept(tx, key));
      return record && this.#withAccount(tx, record);
    });
    const known = found && (await this.#used(found));
    return loan === this.#lent.get(key) ? known : undefined;
  }

  async #used({ record, account }: KeyWithAccount): Promise<KnownCaller> {
    const { expiresTime = Number.POSITIVE_INFINITY } = record;
    const project = { projectId: record.projectId, projectUrlName: record.project };
    const caller = { ...(await this.#callerFor(account, project)), credential: credentialOf(record) };
    if (!("id" in record)) return { caller, expiresTime };
    this.#noteUse(record);
    const { limits: keyLimits } = record;
    return { caller: keyLimits ? { ...caller, keyLimits } : caller, expiresTime };
  }

  async #callerFor(account: Account, { projectId, projectUrlName }: CallerProject): Promise<Caller> {
    const grants = await this.#parts.rights.grantsTo(projectId, { ids: account.groupIds });
    return { user: account.uniqueName, userId: account.id, projectId, projectUrlName, ...grants };
  }

  /** Undefined when the key has expired, or its account is deleted. */
  async #withAccount(tx: CatalogReader, record: ApiKey | TemporaryKey): Promise<KeyWithAccount | undefined> {
    const { accountId, expiresTime } = record;
    const hasExpired = expiresTime !== undefined && expiresTime <= this.#parts.system.nowMs();
    if (accountId === undefined || hasExpired) return undefined;
    const [account] = await tx.get(accountTable, [accountId]);
    return account && account.deletedTime === undefined ? { record, account } : undefined;
  }

  async #kept(tx: CatalogReader, key: string): Promise<ApiKey | undefined> {
    const hash = this.#hashOf(key);
    const [record] = await keysWhere(tx, and(equals("hash", hash), equals("deletedTime", null)));
    return record && isSame(record.hash, hash) ? record : undefined;
  }

  #newKey(): string {
    return `mr_${Buffer.from(this.#parts.system.randomBytes(24)).toString("base64url")}`;
  }

  /** Writes down the last use from time to time, and no request waits for it. */
  #noteUse({ id, lastUsedTime = 0 }: ApiKey): void {
    const { catalog, system } = this.#parts;
    const nowMs = system.nowMs();
    // Uses of a cached caller are not noted. The clock may have been set back since.
    const unnotedMs = catalog.foreignVersion ? limits.callerAgeMsMax : limits.keyCacheMsMax;
    if (Math.abs(nowMs - lastUsedTime) < limits.keyUseAccuracyMs - unnotedMs) return;
    const noted = [{ id, lastUsedTime: nowMs }];
    // Cached rights stay valid, so this is not a `rights.change`. A full disk must not prevent reads.
    catalog
      .write("system", (tx) => tx.setColumns(apiKeyTable, ["lastUsedTime"], noted))
      .catch(() => undefined);
  }

  #recordOf(project: KeyProject, wanted: NewKey, key: string): ApiKey {
    const { name, accountId, expiresTime, madeBy, limits: keyLimits } = wanted;
    return {
      id: this.#parts.ids.next(),
      projectId: project.id,
      project: project.urlName,
      accountId,
      name,
      hash: this.#hashOf(key),
      createdTime: this.#parts.system.nowMs(),
      ...(expiresTime !== undefined && { expiresTime }),
      ...(madeBy && { madeBy }),
      ...(keyLimits && { limits: keyLimits }),
    };
  }

  #hashOf(key: string): string {
    return createHmac("sha256", this.#parts.secret).update(key).digest("base64url");
  }
}

/** The columns that are written when a key becomes valid again; a column without a value is emptied. */
const revived = ["deletedTime", "expiresTime", "name", "accountId", "madeBy"] as const;

function credentialOf(record: ApiKey | TemporaryKey): Credential {
  if ("startedWith" in record)
    return { kind: "run", startedWith: record.startedWith, untilMs: record.expiresTime };
  const { id, madeBy = [], expiresTime } = record;
  return { kind: "key", id, madeBy, ...(expiresTime !== undefined && { untilMs: expiresTime }) };
}

/** Whether the credential was revoked after the request that it came with was admitted. */
export async function isEnded(tx: CatalogReader, credential: Credential): Promise<boolean> {
  switch (credential.kind) {
    case "key": {
      const [record] = await tx.get(apiKeyTable, [credential.id]);
      return record === undefined || record.deletedTime !== undefined;
    }
    case "login":
      return (await tx.count(endedSessionTable, equals("sessionId", credential.sessionId))) > 0;
    case "run":
      return credential.startedWith !== undefined && isEnded(tx, credential.startedWith);
    case "session":
      return (await tx.count(sessionTable, equals("id", credential.id))) === 0;
    case "token":
      return false;
  }
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

const keysWhere = (tx: CatalogReader, filter: Filter): Promise<ApiKey[]> =>
  tx.find(apiKeyTable, { filter, order: byId, page: { limit: limits.listItemsMax } });
