// Deletes the rows of deleted records in the background, in batches; continues after a crash.
//
// One transaction deletes a record and stores a pending deletion of its rows. No caller can reach those rows,
// because ids are never used again. So they are deleted in batches, with other writes in between: deleting
// half a million rows at once would block writes for a minute. The next start resumes pending deletions after
// a crash or a stop. Later rows reuse the disk space.
import { setTimeout as delay } from "node:timers/promises";
import { limits } from "../limits.ts";
import { and, between, equals, everything } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import {
  type AnyTable,
  type CatalogWriter,
  keyOf,
  type ProjectCatalog,
  type ProjectId,
  type Stored,
  type Table,
} from "./catalog.ts";

/** A table whose rows belong to records of another table. */
export interface OwnedRows {
  /** Its key has two columns: the id of the record that a row belongs to, and the row's position in it. */
  readonly rows: AnyTable;
  /** A row for each deleted record that may still have rows, with the record's id. */
  readonly pendingDeletions: Table<Stored>;
}

/**
 * Stores that the rows of these records are to be deleted. Call it in the transaction that deletes the
 * records.
 */
export async function insertPendingDeletions(
  tx: CatalogWriter,
  { pendingDeletions }: OwnedRows,
  owners: readonly number[],
): Promise<void> {
  await tx.insert(
    pendingDeletions,
    owners.map((id) => ({ id })),
  );
}

/** Rows of the first transaction. */
const rowsAtFirst = 500;

export class RowDeletions {
  readonly #catalog: ProjectCatalog;
  readonly #kinds: readonly OwnedRows[];
  readonly #report: (problem: unknown) => void;
  readonly #stopping = new AbortController();
  #rowsAtOnce = rowsAtFirst;
  #work: Promise<void> = Promise.resolve();

  /** `report` gets each failure. The rows then stay until the next `start`. */
  constructor(catalog: ProjectCatalog, kinds: readonly OwnedRows[], report: (problem: unknown) => void) {
    this.#catalog = catalog;
    this.#kinds = kinds;
    this.#report = report;
  }

  /** Starts the pending deletions of a project, and returns at once. */
  start(project: ProjectId): void {
    this.#work = this.#work.then(() => this.#deleteAll(project)).catch(this.#report);
  }

  /** Resolves when all deletions that were started are complete. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** Stops after the running transaction, and resolves then. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#work;
  }

  async #deleteAll(project: ProjectId): Promise<void> {
    const { signal } = this.#stopping;
    for (const kind of this.#kinds) {
      for (let hasMore = true; hasMore && !signal.aborted; ) {
        const startMs = performance.now();
        hasMore = await this.#catalog.write(project, (tx) => deleteSlice(tx, kind, this.#rowsAtOnce));
        const tookMs = performance.now() - startMs;
        this.#rowsAtOnce = rowsFor(this.#rowsAtOnce, tookMs);
        // Pauses as long as the deletion took, so that other writes get as much time. `stop` ends the pause.
        if (hasMore) await delay(tookMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

/** Deletes some rows of the first deleted record. Returns whether there may be more to delete. */
async function deleteSlice(
  tx: CatalogWriter,
  { rows, pendingDeletions }: OwnedRows,
  rowsAtOnce: number,
): Promise<boolean> {
  const [pending] = await tx.find(pendingDeletions, { filter: everything, order: byId, page: { limit: 1 } });
  if (!pending) return false;
  const [owner, position] = keyOf(rows) as [string, string];
  const ofOwner = equals(owner, pending.id);
  const order = [{ field: position, direction: "ascending" }] as const;
  const slice = { filter: ofOwner, rank: [], order, limit: 1, offset: rowsAtOnce - 1 };
  const [last] = await tx.search(rows, slice);
  const upTo =
    last && between(position, { to: { value: last[position] as string | number, inclusive: true } });
  await tx.remove(rows, and(ofOwner, upTo));
  if (!last) await tx.remove(pendingDeletions, equals("id", pending.id));
  return true;
}

/** How many rows fit into the time of one transaction, judging by the last one; at most twice as many. */
function rowsFor(before: number, tookMs: number): number {
  const factor = Math.min(2, limits.rowDeletionMs / Math.max(1, tookMs));
  return Math.max(1, Math.min(limits.rowsDeletedAtOnceMax, Math.round(before * factor)));
}
