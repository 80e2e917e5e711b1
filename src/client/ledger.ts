// A file beside the data file that records which of its records are on the server, and their ids.
//
// It is an SQLite database: it survives an interruption at any time, and millions of ids need no memory.
import { constants, existsSync, rmSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parseJson } from "../lib/json.ts";
import { UsageError } from "./command.ts";
import { withOwnFile } from "./own-files.ts";

/** SQLite's name of a database without a file. */
const inMemory = ":memory:";

const besideSuffixes = ["-wal", "-shm"];

/** SQLite would follow a link, and would read a journal file beside the ledger. */
function refuseForeign(file: string): void {
  const unchanged = () => undefined;
  withOwnFile(file, constants.O_RDWR | constants.O_CREAT, unchanged);
  for (const suffix of besideSuffixes)
    if (existsSync(file + suffix)) withOwnFile(file + suffix, constants.O_RDWR, unchanged);
}

/** A record of the file, and its id on the server. */
export interface Made {
  readonly given: number | string;
  readonly id: number;
}

export class Ledger<Progress> {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #say: StatementSync;
  readonly #lastIds = new Map<string, number>();
  #progress: Progress;

  /** `decides` is all that makes an import this one and no other; refuses the note of another import. */
  constructor(file: string, decides: unknown, nothingYet: Progress) {
    this.#file = file;
    try {
      if (file !== inMemory) refuseForeign(file);
      this.#database = new DatabaseSync(file);
      this.#database.exec(`
        PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
        CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, value TEXT);
        CREATE TABLE IF NOT EXISTS made
          (kind TEXT, given, id INTEGER, PRIMARY KEY (kind, given)) WITHOUT ROWID;
      `);
    } catch (problem) {
      throw new UsageError(`Progress cannot be noted in ${file}: ${(problem as Error).message}`);
    }
    this.#find = this.#database.prepare("SELECT id FROM made WHERE kind = ? AND given = ?");
    this.#insert = this.#database.prepare("INSERT INTO made VALUES (?, ?, ?)");
    this.#say = this.#database.prepare("INSERT OR REPLACE INTO note VALUES (?, ?)");
    const identity = JSON.stringify(decides);
    const noted = this.#noted("import");
    if (noted !== undefined && noted !== identity) {
      this.#database.close();
      throw new UsageError(`${file} notes the progress of another import; remove it, or name another place`);
    }
    this.#say.run("import", identity);
    const progress = this.#noted("progress");
    this.#progress = progress === undefined ? nothingYet : (parseJson(progress) as Progress);
    const last = this.#database.prepare("SELECT kind, max(id) AS id FROM made GROUP BY kind").all();
    for (const { kind, id } of last) this.#lastIds.set(String(kind), Number(id));
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** The server's id of the record that is `given` in the file; undefined when it has none. */
  idOf(kind: string, given: number | string): number | undefined {
    return this.#find.get(kind, given)?.["id"] as number | undefined;
  }

  /** The highest id that the server has given to records of this kind; 0 before the first. */
  lastId(kind: string): number {
    return this.#lastIds.get(kind) ?? 0;
  }

  /** Stores the progress and the records made until then, in one transaction. */
  note(progress: Progress, made: Readonly<Record<string, readonly Made[]>> = {}): void {
    this.#database.exec("BEGIN");
    for (const [kind, records] of Object.entries(made))
      for (const { given, id } of records) {
        this.#insert.run(kind, given, id);
        this.#lastIds.set(kind, Math.max(id, this.lastId(kind)));
      }
    this.#say.run("progress", JSON.stringify(progress));
    this.#database.exec("COMMIT");
    this.#progress = progress;
  }

  close(): void {
    this.#database.close();
  }

  /** Closes it and takes it away. */
  remove(): void {
    this.close();
    for (const suffix of ["", ...besideSuffixes]) rmSync(this.#file + suffix, { force: true });
  }

  #noted(name: string): string | undefined {
    const found = this.#database.prepare("SELECT value FROM note WHERE name = ?").get(name);
    return found?.["value"] as string | undefined;
  }
}
