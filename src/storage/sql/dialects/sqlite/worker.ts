// The thread that owns the connections to one SQLite file: runs the driver's statements in the order they
// come.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { limits } from "../../../../limits.ts";
import { lengthOfValue } from "../../../../query/length-bound.ts";
import { addFunctions, type FunctionState } from "./functions.ts";
import { ChunkEnds, chunkEndsOf, RowChunks, type StatementResult } from "./row-chunks.ts";

export interface WorkerSettings {
  readonly file: string;
  readonly mode: "read" | "write";
}

/** How much of a result is read. */
export interface Within {
  /** Reading ends after the row with which all rows are longer than this (see `lengthOfValue`). */
  readonly lengthMax: number;
  /** No row is returned when there are more. */
  readonly allOrNone: boolean;
}

/** One statement of a transaction; the first one carries `begins`, so that beginning costs no message. */
export interface Statement {
  readonly kind: "run";
  readonly id: number;
  readonly connection: number;
  readonly begins: boolean;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** With these the statement runs once for each, instead of `parameters`. */
  readonly batch: readonly (readonly unknown[])[] | undefined;
  readonly within: Within | undefined;
}

/** Requests the next chunk of a result that is sent in several. */
export interface NextChunk {
  readonly kind: "next";
  /** That of the statement. */
  readonly id: number;
  readonly connection: number;
}

export type Request =
  | Statement
  | NextChunk
  | {
      readonly kind: "end";
      readonly id: number;
      readonly connection: number;
      readonly how: "commit" | "rollback";
    }
  | { readonly kind: "foreign version"; readonly id: number; readonly connection: number }
  | { readonly kind: "close" };

export interface Reply {
  readonly id: number;
  readonly version?: number;
  readonly outcome?: StatementResult;
  /** More chunks follow; `NextChunk` requests the next one. */
  readonly hasMore?: boolean;
  readonly error?: { readonly message: string; readonly code: number };
}

const noOutcome: StatementResult = { columns: [], count: 0, values: [], changes: 0 };

const changesOnly = (changes: number) => new RowChunks({ ...noOutcome, changes }, []);

class Connection {
  readonly #db: DatabaseSync;
  readonly #mode: WorkerSettings["mode"];
  readonly #functions: FunctionState;
  /** Least recently used first. */
  readonly #prepared = new Map<string, { statement: StatementSync; columns: readonly string[] }>();
  #version: StatementSync | undefined;
  /** Rows of statements that have been read, by the ids of the statements, until all are sent. */
  readonly #unsent = new Map<number, RowChunks>();

  constructor({ file, mode }: WorkerSettings, number: number) {
    this.#mode = mode;
    this.#db = new DatabaseSync(file, { timeout: limits.catalogBusyMsMax });
    if (mode === "write") {
      this.#db.exec("pragma journal_mode = wal; pragma synchronous = full");
      this.#db.exec(`pragma wal_autocheckpoint = ${limits.catalogLogPages}`);
    } else this.#db.exec("pragma query_only = true");
    const cacheKib = number === 0 ? limits.catalogCacheKibMax : limits.catalogOtherCacheKibMax;
    this.#db.exec(`pragma cache_size = -${cacheKib}; pragma temp_store = memory`);
    this.#functions = addFunctions(this.#db);
  }

  /** A statement outside a transaction is refused: its transaction never began, or SQLite has given it up. */
  #run({ begins, sql, parameters, batch, within }: Statement): RowChunks {
    if (begins) this.#db.exec(this.#mode === "write" ? "begin immediate" : "begin");
    else if (!this.#db.isTransaction) throw new Error("the transaction was given up");
    const { statement, columns } = this.#prepare(sql);
    this.#functions.reset();
    if (batch) {
      let changes = 0;
      for (const row of batch) changes += Number(statement.run(...(row as SQLInputValue[])).changes);
      return changesOnly(changes);
    }
    const values = parameters as SQLInputValue[];
    if (columns.length === 0) return changesOnly(Number(statement.run(...values).changes));
    if (within) return readWithin(statement.iterate(...values), columns, within);
    const rows = statement.all(...values) as unknown as unknown[][];
    const byColumn = columns.map((_, at) => rows.map((row) => row[at]));
    const outcome = { columns, count: rows.length, values: byColumn, changes: 0 };
    return new RowChunks(outcome, chunkEndsOf(outcome));
  }

  /** Returns the first chunk of a statement's result, or the next one. */
  reply(request: Statement | NextChunk): Reply {
    const { id } = request;
    const chunks = request.kind === "run" ? this.#run(request) : this.#unsent.get(id)!;
    const outcome = chunks.next();
    if (chunks.hasMore) this.#unsent.set(id, chunks);
    else this.#unsent.delete(id);
    return { id, outcome, hasMore: chunks.hasMore };
  }

  /** Changes when another connection has written. */
  foreignVersion(): number {
    this.#version ??= this.#db.prepare("pragma data_version");
    return this.#version.get()!["data_version"] as number;
  }

  end(how: "commit" | "rollback"): void {
    this.#unsent.clear();
    if (!this.#db.isTransaction && how === "commit") throw new Error("the transaction was given up");
    try {
      if (this.#db.isTransaction) this.#db.exec(how);
    } finally {
      if (this.#db.isTransaction) this.#db.exec("rollback");
    }
  }

  /**
   * Checkpoints the write-ahead log and truncates it; otherwise the file would keep its largest size. Returns
   * false and changes nothing when another transaction is open or the file cannot be written.
   */
  emptyLog(): boolean {
    if (this.#db.isTransaction) return false;
    this.#db.exec("pragma busy_timeout = 0");
    try {
      return this.#db.prepare("pragma wal_checkpoint(truncate)").get()!["busy"] === 0;
    } catch {
      // For example, the disk is full: nothing is lost, and the next write reports it.
      return false;
    } finally {
      this.#db.exec(`pragma busy_timeout = ${limits.catalogBusyMsMax}`);
    }
  }

  close(): void {
    this.#db.close();
  }

  #prepare(sql: string): { statement: StatementSync; columns: readonly string[] } {
    let found = this.#prepared.get(sql);
    if (!found) {
      const statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      found = { statement, columns: statement.columns().map(({ name }) => name) };
      // The result of a change has the last rowid, and the rowids of words are too large for numbers.
      statement.setReadBigInts(found.columns.length === 0);
      const [oldest] = this.#prepared.keys();
      if (this.#prepared.size >= limits.preparedStatementsMax) this.#prepared.delete(oldest!);
    }
    this.#prepared.delete(sql);
    this.#prepared.set(sql, found);
    return found;
  }
}

/** Rows by columns, until they are longer than `lengthMax`; the first row is read however long it is. */
function readWithin(
  rows: IteratorObject<unknown>,
  columns: readonly string[],
  { lengthMax, allOrNone }: Within,
): RowChunks {
  const values: unknown[][] = columns.map(() => []);
  const chunks = new ChunkEnds();
  let count = 0;
  let length = 0;
  let isCut = false;
  try {
    for (const row of rows as Iterable<readonly unknown[]>) {
      isCut = count > 0 && length > lengthMax;
      if (isCut) break;
      for (let at = 0; at < values.length; at++) {
        values[at]!.push(row[at]);
        length += lengthOfValue(row[at]);
      }
      count += 1;
      chunks.count(count, length);
    }
  } finally {
    // Resets the statement. The loop does not do so after an error, and the next run would fail with that
    // error.
    rows.return!();
  }
  const read = { length, isCut };
  if (isCut && allOrNone) return new RowChunks({ ...noOutcome, read }, []);
  const outcome = { columns, count, values, changes: 0, read };
  return new RowChunks(outcome, chunks.ends);
}

/** The connections of one thread, and the work that it does when no request comes. */
class CatalogWorker {
  readonly #settings: WorkerSettings;
  readonly #connections: Connection[] = [];
  /** Set while the write-ahead log may have content. */
  #emptyingLog: NodeJS.Timeout | undefined;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
  }

  reply(request: Exclude<Request, { kind: "close" }>): Reply {
    try {
      const number = request.connection;
      this.#connections[number] ??= new Connection(this.#settings, number);
      const connection = this.#connections[number]!;
      if (request.kind === "foreign version") return { id: request.id, version: connection.foreignVersion() };
      if (request.kind !== "end") return connection.reply(request);
      connection.end(request.how);
      if (this.#settings.mode === "write") this.#emptyLogWhenIdle(connection);
      return { id: request.id, outcome: noOutcome };
    } catch (thrown) {
      const { message, errcode } = thrown as Error & { errcode?: number };
      return { id: request.id, error: { message, code: errcode ?? 0 } };
    }
  }

  close(): void {
    clearTimeout(this.#emptyingLog);
    for (const connection of this.#connections) connection?.close();
  }

  /** Empties the log once no change has ended for `catalogIdleMs`. */
  #emptyLogWhenIdle(connection: Connection): void {
    const empty = () => {
      if (connection.emptyLog()) this.#emptyingLog = undefined;
      else this.#emptyingLog?.refresh();
    };
    if (this.#emptyingLog === undefined) this.#emptyingLog = setTimeout(empty, limits.catalogIdleMs).unref();
    else this.#emptyingLog.refresh();
  }
}

function serve(port: MessagePort, worker: CatalogWorker): void {
  port.on("message", (request: Request) => {
    if (request.kind !== "close") return port.postMessage(worker.reply(request));
    worker.close();
    port.close();
  });
}

serve(parentPort!, new CatalogWorker(workerData as WorkerSettings));
