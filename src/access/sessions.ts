// Sessions of the console: a cookie in place of the API key that has signed in.
//
// A session is a row of the catalog, so it survives a restart and ends when its row is removed. It has no
// rights of its own. A request with its cookie has the caller of the key, so that a session ends with its key
// and its account, and changed rights count at once.
import { createHmac } from "node:crypto";
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, between, equals, oneOf } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { Catalog, CatalogReader, CatalogWriter } from "../storage/catalog.ts";
import type { ApiKeys } from "./api-keys.ts";
import { CallerCache, type KnownCaller } from "./caller-cache.ts";
import { notAfter } from "./credentials.ts";
import type { Rights } from "./rights.ts";
import { type Session, sessionTable } from "./schema.ts";

interface SessionsParts {
  readonly catalog: Catalog;
  readonly ids: IdSource;
  readonly system: System;
  readonly rights: Rights;
  readonly keys: Pick<ApiKeys, "callerOfStored">;
  /** For the hashes of cookies. */
  readonly secret: Uint8Array;
}

/** A session that has begun. */
export interface BegunSession extends KnownCaller {
  /** The value of its cookie; only this result contains it. */
  readonly cookie: string;
}

type NewSession = Omit<Session, "id" | "hash">;

export class Sessions {
  readonly #parts: SessionsParts;
  readonly #cache: CallerCache;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#cache = new CallerCache({ ...parts, read: (cookie) => this.#read(cookie) });
  }

  /** Begins a session of a stored key; undefined when the key or its account has ended meanwhile. */
  async beginWithKey(keyId: number): Promise<BegunSession | undefined> {
    const known = await this.#parts.keys.callerOfStored(keyId);
    if (known?.caller.userId === undefined) return undefined;
    const { userId: accountId, credential } = known.caller;
    const expiresTime = notAfter(credential, this.#parts.system.nowMs() + limits.sessionMsMax);
    const cookie = `ms_${Buffer.from(this.#parts.system.randomBytes(24)).toString("base64url")}`;
    const session = { accountId, keyId, expiresTime };
    await this.#parts.catalog.write("system", (tx) => this.#insert(tx, session, cookie));
    return { caller: known.caller, expiresTime, cookie };
  }

  /**
   * Whom the cookie stands for; undefined when it is unknown, when the session has ended or expired, and when
   * its key or account has.
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
    const { catalog, rights } = this.#parts;
    await catalog.write("system", (tx) => tx.remove(sessionTable, equals("hash", this.#hashOf(cookie))));
    rights.changed();
  }

  async #read(cookie: string): Promise<KnownCaller | undefined> {
    const { catalog, system, keys } = this.#parts;
    const session = await catalog.read("system", (tx) => this.#stored(tx, cookie));
    if (!session || session.expiresTime <= system.nowMs()) return undefined;
    const known = await keys.callerOfStored(session.keyId);
    return known && { ...known, expiresTime: Math.min(known.expiresTime, session.expiresTime) };
  }

  async #stored(tx: CatalogReader, secret: string): Promise<Session | undefined> {
    const filter = equals("hash", this.#hashOf(secret));
    return (await tx.find(sessionTable, { filter, order: byId, page: { limit: 1 } }))[0];
  }

  /** Removes expired sessions, and the oldest of the account when it has too many. */
  async #insert(tx: CatalogWriter, session: NewSession, secret: string): Promise<void> {
    const { ids, system } = this.#parts;
    await tx.remove(sessionTable, between("expiresTime", { to: { value: system.nowMs(), inclusive: true } }));
    const ofAccount = equals("accountId", session.accountId);
    const page = { limit: limits.sessionsPerAccountMax };
    const existing = await tx.find(sessionTable, { filter: ofAccount, order: byId, page });
    const oldest = existing.slice(0, Math.max(0, existing.length + 1 - limits.sessionsPerAccountMax));
    await tx.remove(
      sessionTable,
      and(
        ofAccount,
        oneOf(
          "id",
          oldest.map(({ id }) => id),
        ),
      ),
    );
    await tx.insert(sessionTable, [{ ...session, id: ids.next(), hash: this.#hashOf(secret) }]);
  }

  #hashOf(secret: string): string {
    return createHmac("sha256", this.#parts.secret).update(secret).digest("base64url");
  }
}
