// Logins that were ended before their tokens expire: on disk, so that a restart does not bring them back.
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { between, everything } from "../query/filter.ts";
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

export class EndedSessions {
  readonly #parts: EndedSessionsParts;
  readonly #ended = new Map<string, number>();

  constructor(parts: EndedSessionsParts) {
    this.#parts = parts;
  }

  /** Reads the ended logins: before the first request, and when another server ended one. */
  async load(): Promise<void> {
    const ended = await this.#parts.catalog.read("system", async (tx) => {
      const limit = await tx.count(endedSessionTable, everything);
      return tx.find(endedSessionTable, { filter: everything, order: byId, page: { limit } });
    });
    for (const { sessionId, untilMs } of ended) this.#ended.set(sessionId, untilMs);
  }

  has(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  /**
   * Voids all tokens of a login, which would expire at `untilMs`, and revokes the keys made with them; on
   * disk when it resolves.
   */
  async end(sessionId: string, untilMs: number): Promise<void> {
    if (this.#ended.has(sessionId)) return;
    const { rights, ids, system } = this.#parts;
    const nowMs = system.nowMs();
    this.#ended.set(sessionId, untilMs);
    for (const [old, oldUntilMs] of this.#ended) if (oldUntilMs <= nowMs) this.#ended.delete(old);
    const expired = between("untilMs", { to: { value: nowMs, inclusive: true } });
    await rights.change(async (tx) => {
      await tx.remove(endedSessionTable, expired);
      await tx.insert(endedSessionTable, [{ id: ids.next(), sessionId, untilMs }]);
      await revokeKeys(tx, madeWith([originOf.login(sessionId)]), nowMs);
    });
  }
}
