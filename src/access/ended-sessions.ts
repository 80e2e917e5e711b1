// Logins that were ended before their tokens expire: on disk, so that a restart does not bring them back.
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { between, equals, everything, or } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { ProjectCatalog, Table } from "../storage/catalog.ts";
import { madeWith, originOf, revokeKeys } from "./credentials.ts";
import type { Rights } from "./rights.ts";

interface EndedSession {
  readonly id: number;
  readonly sessionId: string;
  /** When its tokens expire and it need not be known any more. */
  readonly untilMs: number;
}

export const endedSessionTable: Table<EndedSession> = {
  name: "ended_sessions",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    sessionId: { type: "text", optional: false },
    untilMs: { type: "integer", optional: false },
  },
  indexes: [["untilMs"]],
  unique: [["sessionId"]],
  wordsOf: [],
  cachedAs: { sessions: null },
};

interface EndedSessionsParts {
  readonly catalog: ProjectCatalog;
  readonly rights: Pick<Rights, "change">;
  readonly ids: IdSource;
  readonly system: System;
}

interface Ended {
  readonly untilMs: number;
  /** Settles when the end is on disk, or could not be written. */
  readonly written: Promise<void>;
}

export class EndedSessions {
  readonly #parts: EndedSessionsParts;
  readonly #ended = new Map<string, Ended>();

  constructor(parts: EndedSessionsParts) {
    this.#parts = parts;
  }

  /** Reads the ended logins: before the first request, and when another server ended one. */
  async load(): Promise<void> {
    const ended = await this.#parts.catalog.read("system", async (tx) => {
      const limit = await tx.count(endedSessionTable, everything);
      return tx.find(endedSessionTable, { filter: everything, order: byId, page: { limit } });
    });
    const written = Promise.resolve();
    for (const { sessionId, untilMs } of ended) this.#ended.set(sessionId, { untilMs, written });
  }

  has(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  /**
   * Voids all tokens of a login, which would expire at `untilMs`, and revokes the keys made with them; on
   * disk when it resolves. They are void at once, and valid again if it rejects, so that it can be repeated.
   */
  end(sessionId: string, untilMs: number): Promise<void> {
    const known = this.#ended.get(sessionId);
    if (known) return known.written;
    const nowMs = this.#parts.system.nowMs();
    for (const [old, one] of this.#ended) if (one.untilMs <= nowMs) this.#ended.delete(old);
    const written: Promise<void> = this.#write(sessionId, untilMs).catch((problem: unknown) => {
      if (this.#ended.get(sessionId)?.written === written) this.#ended.delete(sessionId);
      throw problem;
    });
    this.#ended.set(sessionId, { untilMs, written });
    return written;
  }

  async #write(sessionId: string, untilMs: number): Promise<void> {
    const { rights, ids, system } = this.#parts;
    const nowMs = system.nowMs();
    const expired = between("untilMs", { to: { value: nowMs, inclusive: true } });
    // An earlier write may have succeeded although it was reported as failed.
    const same = equals("sessionId", sessionId);
    await rights.change(async (tx) => {
      await tx.remove(endedSessionTable, or(expired, same));
      await tx.insert(endedSessionTable, [{ id: ids.next(), sessionId, untilMs }]);
      await revokeKeys(tx, madeWith([originOf.login(sessionId)]), nowMs);
    });
  }
}
