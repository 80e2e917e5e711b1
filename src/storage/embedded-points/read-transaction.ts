// One read transaction for the statements of several reads. Without it, each statement locks and unlocks the
// file, which takes half of its time.
import type { DatabaseSync, StatementSync } from "node:sqlite";

export class ReadTransaction {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #isOpen = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
  }

  /** Runs reads in a transaction, which a write among them ends: the reads after it have their own again. */
  run<Result>(reads: () => Result): Result {
    this.#open();
    try {
      return reads();
    } finally {
      this.end();
    }
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      // Some faults of the disk have ended it.
      if (this.#database.isTransaction) this.#commit.run();
    } catch {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    }
  }

  /**
   * Without a transaction after a fault: the reads have their own, and each reports the fault to its caller.
   */
  #open(): void {
    try {
      this.#begin.run();
      this.#isOpen = true;
    } catch {
      this.#isOpen = false;
    }
  }
}
