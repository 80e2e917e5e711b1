// Sessions of the console: a cookie in place of the API key, or the one-time link, that has signed in.
//
// A session is a row of the catalog, so it survives a restart and ends when its row is removed. It has no
// rights of its own. A request with its cookie has the caller of the key, or of the account after a sign-in
// with a link. A session therefore ends with its key and its account, and changed rights count at once.
import { createHmac } from "node:crypto";
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, between, equals, oneOf } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, CatalogReader, CatalogWriter } from "../storage/catalog.ts";
import { ensureAdministrator } from "./administrators.ts";
import type { ApiKeys, KeyProject } from "./api-keys.ts";
import { CallerCache, type KnownCaller } from "./caller-cache.ts";
import { notAfter } from "./credentials.ts";
import type { Rights } from "./rights.ts";
import { type Session, sessionTable } from "./schema.ts";

interface SessionsParts {
  readonly catalog: Catalog;
  readonly ids: IdSource;
  readonly system: System;
  readonly rights: Rights;
  readonly keys: Pick<ApiKeys, "callerOfStored" | "callerAs">;
  /** For the hashes of cookies and links. */
  readonly secret: Uint8Array;
}

/** A session that has begun. */
export interface BegunSession extends KnownCaller {
  /** The value of its cookie. No other result contains it. */
  readonly cookie: string;
}

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #cache: CallerCache;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#cache = new CallerCache({ ...parts, read: (cookie) => this.#read(cookie) });
  }

  /** Begins a session of a stored key; undefined when the key or its account has ended meanwhile. */
  async beginWithKey(keyId: number): Promise<BegunSession | undefined> {
    const { rights, keys, system } = this.#parts;
    const known = await keys.callerOfStored(keyId);
    if (known?.caller.userId === undefined) return undefined;
    const { projectId, projectUrlName: project, userId: accountId, credential } = known.caller;
    const expiresTime = notAfter(credential, system.nowMs() + limits.sessionMsMax);
    const cookie = this.#newSecret("ms_");
    const session = { projectId, project, accountId, keyId, expiresTime, hash: this.#hashOf(cookie) };
    await rights.change((tx) => this.#insert(tx, session));
    return { caller: known.caller, expiresTime, cookie };
  }

  /**
   * Creates the token of a one-time link, which signs in the administrator of the project. The administrator
   * is created if missing.
   */
  async createLink({ id: projectId, urlName: project }: KeyProject): Promise<string> {
    const { rights, system } = this.#parts;
    const token = this.#newSecret("ml_");
    const expiresTime = system.nowMs() + limits.signInLinkMsMax;
    await rights.change(async (tx) => {
      const { id: accountId } = await ensureAdministrator(tx, projectId, this.#parts);
      const link = { projectId, project, accountId, isLink: true, expiresTime, hash: this.#hashOf(token) };
      await this.#insert(tx, link);
    });
    return token;
  }

  /**
   * Uses up a one-time link and begins a session of its account; undefined when the link is unknown, used or
   * expired, or its account is deleted.
   */
  async beginWithLink(token: string): Promise<BegunSession | undefined> {
    const { rights, system } = this.#parts;
    const expiresTime = system.nowMs() + limits.sessionMsMax;
    const cookie = this.#newSecret("ms_");
    const hasBegun = await rights.change(async (tx) => {
      const link = await this.#stored(tx, token);
      if (!link?.isLink || link.expiresTime <= system.nowMs()) return false;
      await tx.remove(sessionTable, equals("id", link.id));
      const { projectId, project, accountId } = link;
      await this.#insert(tx, { projectId, project, accountId, expiresTime, hash: this.#hashOf(cookie) });
      return true;
    });
    const known = hasBegun ? await this.find(cookie) : undefined;
    return known && { ...known, cookie };
  }

  /**
   * Returns the caller of the cookie; undefined when it is unknown, when the session has ended or expired,
   * and when its key or account has.
   */
  find(cookie: string): Promise<KnownCaller | undefined> {
    return this.#cache.find(cookie);
  }

  /** As `find`, from the cache alone. */
  cached(cookie: string): KnownCaller | undefined {
    return this.#cache.cached(cookie);
  }

  /** Ends the session of this cookie; on disk when it resolves. */
  async end(cookie: string): Promise<void> {
    const ended = equals("hash", this.#hashOf(cookie));
    await this.#parts.rights.change((tx) => tx.remove(sessionTable, ended));
  }

  async #read(cookie: string): Promise<KnownCaller | undefined> {
    const { catalog, system, keys } = this.#parts;
    const session = await catalog.read("system", (tx) => this.#stored(tx, cookie));
    if (!session || session.isLink || session.expiresTime <= system.nowMs()) return undefined;
    const { id, keyId, accountId, expiresTime, projectId, project: projectUrlName } = session;
    if (keyId !== undefined) {
      const known = await keys.callerOfStored(keyId);
      return known && { ...known, expiresTime: Math.min(known.expiresTime, expiresTime) };
    }
    const caller = await keys.callerAs(accountId, { projectId, projectUrlName });
    return caller && { caller: { ...caller, credential: { kind: "session", id } }, expiresTime };
  }

  async #stored(tx: CatalogReader, secret: string): Promise<Session | undefined> {
    const filter = equals("hash", this.#hashOf(secret));
    return (await tx.find(sessionTable, { filter, order: byId, page: { limit: 1 } }))[0];
  }

  /** Removes expired sessions first, and the oldest one of the account when it has too many. */
  async #insert(tx: CatalogWriter, session: Omit<Session, "id">): Promise<void> {
    const { ids, system } = this.#parts;
    await tx.remove(sessionTable, between("expiresTime", { to: { value: system.nowMs(), inclusive: true } }));
    const ofAccount = equals("accountId", session.accountId);
    const page = { limit: limits.sessionsPerAccountMax };
    const existing = await tx.find(sessionTable, { filter: ofAccount, order: byId, page });
    const excess = Math.max(0, existing.length + 1 - limits.sessionsPerAccountMax);
    const oldest = existing.slice(0, excess).map(({ id }) => id);
    await tx.remove(sessionTable, and(ofAccount, oneOf("id", oldest)));
    await tx.insert(sessionTable, [{ ...session, id: ids.next() }]);
  }

  /** The prefix tells people the purpose of a secret. */
  #newSecret(prefix: "ms_" | "ml_"): string {
    return prefix + Buffer.from(this.#parts.system.randomBytes(24)).toString("base64url");
  }

  #hashOf(secret: string): string {
    return createHmac("sha256", this.#parts.secret).update(secret).digest("base64url");
  }
}
