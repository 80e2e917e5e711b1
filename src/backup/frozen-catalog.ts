// The file of a catalog that stays as it is while servers write it.
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { attachmentTable, fileTable } from "../resources/files/schema.ts";
import { timeSeriesTable } from "../resources/timeseries/schema.ts";
import { blobsNamedIn, type NamedBlob } from "../storage/sql/dialects/sqlite/peek.ts";

/** How long readers of an older state may delay it. The server accepts no change of the catalog meanwhile. */
const freezeMsMax = 1_000;
const retryMs = 5;

/** The tables whose records name blobs. */
export const blobTables = [fileTable.name, attachmentTable.name];

/** The numbers of records of which a backup has a count. */
export function countsIn(database: DatabaseSync): { readonly series: number; readonly files: number } {
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS count FROM "${table}"`).get()!["count"]);
  return { series: count(timeSeriesTable.name), files: count(fileTable.name) };
}

export class FrozenCatalog {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    // Most of the write-ahead log, so that less is left to do while writers wait.
    this.#emptyLog();
  }

  /**
   * Call while no process can write. Brings everything into the file, then begins a read that needs nothing
   * but the file, so SQLite moves no later page into it. False when readers of an older state prevent that.
   */
  async freeze(waitMs = freezeMsMax): Promise<boolean> {
    for (const untilMs = performance.now() + waitMs; !this.#emptyLog(); await pause(retryMs))
      if (performance.now() > untilMs) return false;
    this.#database.exec("BEGIN");
    this.#database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return true;
  }

  counts(): ReturnType<typeof countsIn> {
    return countsIn(this.#database);
  }

  blobs(): Iterable<NamedBlob> {
    return blobsNamedIn(this.#database, blobTables);
  }

  #emptyLog(): boolean {
    const { busy, log, checkpointed } = this.#database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()!;
    return busy === 0 && log === checkpointed;
  }
}
