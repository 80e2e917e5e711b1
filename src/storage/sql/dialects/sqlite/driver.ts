// Kysely's driver for SQLite on a thread of its own: hands out connections and posts their statements.
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import { startWorker } from "../../../../lib/heap-limits.ts";
import { WorkerRpc } from "../../../../lib/worker-rpc.ts";
import { chunksOf } from "../../chunks.ts";
import type { StatementResult } from "./row-chunks.ts";
import type { Reply, Request, Statement, Within, WorkerSettings } from "./worker.ts";

/** A statement to be run once for each of the rows of parameters. */
export interface BatchQuery extends CompiledQuery {
  readonly batch: readonly (readonly unknown[])[];
}

/** A statement whose rows are read within a bound of their length. */
export interface BoundedQuery extends CompiledQuery {
  readonly within: Within;
}

/** Of a `BoundedQuery`, beside its rows. */
export interface BoundedResult {
  readonly read?: StatementResult["read"];
}

/** A statement that SQLite refused; `code` is its extended result code. */
export class SqliteError extends Error {
  readonly code: number;
  constructor(message: string, code: number) {
    super(message);
    this.name = "SqliteError";
    this.code = code;
  }
}

type DatabaseThread = WorkerRpc<Request, Reply>;

async function requestOf(
  thread: DatabaseThread,
  request: Exclude<Request, { kind: "close" }>,
): Promise<Reply> {
  const reply = await thread.request(request);
  if (reply.error) throw new SqliteError(reply.error.message, reply.error.code);
  return reply;
}

/** A connection for one transaction at a time; refuses a statement after the end of its transaction. */
class ThreadConnection implements DatabaseConnection {
  readonly #thread: DatabaseThread;
  readonly number: number;
  #state: "idle" | "about to begin" | "begun" = "idle";

  constructor(thread: DatabaseThread, number: number) {
    this.#thread = thread;
    this.number = number;
  }

  /** Takes effect with the first statement: an empty transaction costs nothing. */
  begin(): void {
    this.#state = "about to begin";
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    const begun = this.#state === "begun";
    this.#state = "idle";
    const id = this.#thread.newId();
    if (begun) await requestOf(this.#thread, { kind: "end", id, connection: this.number, how });
  }

  /** Rows and batches are transferred in chunks, so that other requests run between two chunks. */
  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row> & BoundedResult> {
    const { batch, within } = query as Partial<BatchQuery & BoundedQuery>;
    if (!batch) return this.#run<Row>(query, { batch, within });
    let changed = 0n;
    for (const chunk of chunksOf(batch))
      changed += (await this.#run<Row>(query, { batch: chunk, within })).numAffectedRows!;
    return { rows: [], numAffectedRows: changed };
  }

  async #run<Row>(
    { sql, parameters }: CompiledQuery,
    how: Pick<Statement, "batch" | "within">,
  ): Promise<QueryResult<Row> & BoundedResult> {
    if (this.#state === "idle") throw new Error("broken invariant: statements run in a transaction");
    const begins = this.#state === "about to begin";
    this.#state = "begun";
    const of = { id: this.#thread.newId(), connection: this.number };
    let reply = await requestOf(this.#thread, { kind: "run", ...of, begins, sql, parameters, ...how });
    const { read } = reply.outcome!;
    const rows: Row[] = [];
    for (;;) {
      // The thread prepares the next chunk while this one is read.
      const next = reply.hasMore ? requestOf(this.#thread, { kind: "next", ...of }) : undefined;
      const { columns, count, values, changes } = reply.outcome!;
      for (let at = 0; at < count; at++) rows.push(named<Row>(columns, values, at));
      if (!next) return { rows, numAffectedRows: BigInt(changes), ...(read && { read }) };
      reply = await next;
    }
  }

  // biome-ignore lint/correctness/useYield: pages are bounded, so nothing is streamed
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("broken invariant: the catalog reads pages, not streams");
  }
}

/** The row at a place; a missing value is an absent member. */
function named<Row>(columns: readonly string[], values: StatementResult["values"], at: number): Row {
  const row: Record<string, unknown> = {};
  for (let column = 0; column < columns.length; column++) {
    const value = values[column]![at];
    if (value !== null) row[columns[column]!] = value;
  }
  return row as Row;
}

export interface DriverSettings extends WorkerSettings {
  /** How many transactions may be open at the same time; further ones wait their turn. */
  readonly connections: number;
}

export class SqliteDriver implements Driver {
  readonly #settings: DriverSettings;
  // Not a `Semaphore`: Kysely acquires and releases in two calls, and a waiter gets a certain connection.
  // Lowest number last: the first connection, which caches most pages, is used whenever it is idle.
  readonly #idle: number[] = [];
  readonly #waiting: ((number: number) => void)[] = [];
  #thread: DatabaseThread | undefined;

  constructor(settings: DriverSettings) {
    this.#settings = settings;
  }

  async init(): Promise<void> {
    const { file, mode, connections } = this.#settings;
    const worker = startWorker(new URL("./worker.ts", import.meta.url), { file, mode });
    this.#thread = new WorkerRpc(worker, "the database thread");
    for (let number = connections - 1; number >= 0; number--) this.#idle.push(number);
  }

  /** A number that changes when another process has written to the file. */
  async foreignVersion(): Promise<number> {
    const thread = this.#thread!;
    const reply = await requestOf(thread, { kind: "foreign version", id: thread.newId(), connection: 0 });
    return reply.version!;
  }

  async acquireConnection(): Promise<ThreadConnection> {
    const number = this.#idle.pop() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)));
    return new ThreadConnection(this.#thread!, number);
  }

  async beginTransaction(connection: ThreadConnection): Promise<void> {
    connection.begin();
  }

  /** The end of a transaction that only read is not waited for: messages keep their order. */
  async commitTransaction(connection: ThreadConnection): Promise<void> {
    const ended = connection.end("commit");
    if (this.#settings.mode === "write") await ended;
    else ended.catch(() => undefined);
  }

  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    await connection.end("rollback");
  }

  async releaseConnection({ number }: ThreadConnection): Promise<void> {
    const next = this.#waiting.shift();
    if (next) return next(number);
    this.#idle.push(number);
    this.#idle.sort((one, other) => other - one);
  }

  async destroy(): Promise<void> {
    this.#thread?.post({ kind: "close" });
    await this.#thread?.ended;
  }
}
