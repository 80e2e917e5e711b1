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
  type Catalog,
  type CatalogWriter,
  keyOf,
  type ProjectId,
  type Stored,
  type Table,
} from "./catalog.ts";

/** A table whose rows belong to records of another one. */
export interface OwnedRows {
  /** Its key has two columns: the id of the record that a row belongs to, and the row's place in it. */
  readonly rows: AnyTable;
  /** Records that are gone and whose rows may still be there; the id is the record's own. */
  readonly erasures: Table<Stored>;
}

/** Notes that the rows of these records have to go, in the transaction in which the records do. */
export async function noteErasures(
  tx: CatalogWriter,
  { erasures }: OwnedRows,
  owners: readonly number[],
): Promise<void> {
  await tx.insert(
    erasures,
    owners.map((id) => ({ id })),
  );
}

const rowsAtFirst = 500;

export class Erasures {
  readonly #catalog: Catalog;
  readonly #kinds: readonly OwnedRows[];
  readonly #report: (problem: unknown) => void;
  readonly #ending = new AbortController();
  #rowsAtOnce = rowsAtFirst;
  #work: Promise<void> = Promise.resolve();

  /** `report` hears of what goes wrong; the rows then stay until the next `begin`. */
  constructor(catalog: Catalog, kinds: readonly OwnedRows[], report: (problem: unknown) => void) {
    this.#catalog = catalog;
    this.#kinds = kinds;
    this.#report = report;
  }

  /** Begins to take away what is noted in this project; returns at once. */
  begin(project: ProjectId): void {
    this.#work = this.#work.then(() => this.#eraseAll(project)).catch(this.#report);
  }

  /** Resolves when all that was begun has come to its end. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** Stops after the slice under way. */
  end(): Promise<void> {
    this.#ending.abort();
    return this.#work;
  }

  async #eraseAll(project: ProjectId): Promise<void> {
    const { signal } = this.#ending;
    for (const kind of this.#kinds) {
      for (let isLeft = true; isLeft && !signal.aborted; ) {
        const startMs = performance.now();
        isLeft = await this.#catalog.write(project, (tx) => eraseSlice(tx, kind, this.#rowsAtOnce));
        const tookMs = performance.now() - startMs;
        this.#rowsAtOnce = rowsFor(this.#rowsAtOnce, tookMs);
        // As long again for the others; being ended cuts it short.
        if (isLeft) await delay(tookMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

/** Takes away some rows of a record that is gone; whether there is more to take away. */
async function eraseSlice(
  tx: CatalogWriter,
  { rows, erasures }: OwnedRows,
  rowsAtOnce: number,
): Promise<boolean> {
  const [gone] = await tx.find(erasures, { filter: everything, order: byId, page: { limit: 1 } });
  if (!gone) return false;
  const [owner, place] = keyOf(rows) as [string, string];
  const ofOwner = equals(owner, gone.id);
  const order = [{ field: place, direction: "ascending" }] as const;
  const slice = { filter: ofOwner, rank: [], order, limit: 1, offset: rowsAtOnce - 1 };
  const [last] = await tx.search(rows, slice);
  const upTo = last && between(place, { to: { value: last[place] as string | number, inclusive: true } });
  await tx.remove(rows, and(ofOwner, upTo));
  if (!last) await tx.remove(erasures, equals("id", gone.id));
  return true;
}

/** Long rows take a while: as many as should take the time of a slice, but not twice as many as before. */
function rowsFor(before: number, tookMs: number): number {
  const factor = Math.min(2, limits.erasureSliceMs / Math.max(1, tookMs));
  return Math.max(1, Math.min(limits.rowsErasedAtOnceMax, Math.round(before * factor)));
}
