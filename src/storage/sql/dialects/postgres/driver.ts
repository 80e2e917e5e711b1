// Kysely's driver for PostgreSQL by `pg`: a pool of connections in pipeline mode, values in and out.
import type { Socket } from "node:net";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import { Client, DatabaseError, Pool, type PoolClient, type PoolConfig } from "pg";
import { limits } from "../../../../limits.ts";
import { Hosts } from "../../../hosts.ts";
import { postgresUrls } from "./location.ts";
import { decodeText, encodeText } from "./nul.ts";

/** Types of PostgreSQL, by their numbers, whose values `pg` converts otherwise than the catalog needs. */
const [int8, text, varchar, name] = [20, 25, 1043, 19];

const parsers: Readonly<Record<number, (value: string) => unknown>> = {
  [int8]: Number,
  [text]: decodeText,
  [varchar]: decodeText,
  [name]: decodeText,
};

const asItIs = (value: string): unknown => value;
const numbers: readonly number[] = [21, 23, 26, 700, 701];

const types = {
  getTypeParser: (type: number) => parsers[type] ?? (numbers.includes(type) ? Number : asItIs),
};

/** Writes the type after each parameter, because PostgreSQL cannot always infer it. Lists have a cast. */
export class TypedQueryCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value === null) this.append("null");
    else super.appendValue(value);
    if (typeof value === "string") this.append("::text");
    if (typeof value === "number") this.append(Number.isSafeInteger(value) ? "::bigint" : "::float8");
  }
}

/** A list as PostgreSQL reads it. */
function arrayText(values: readonly unknown[]): string {
  const one = (value: unknown): string => {
    if (value === null || value === undefined) return "NULL";
    if (typeof value !== "string") return String(value);
    return `"${encodeText(value).replace(/["\\]/g, "\\$&")}"`;
  };
  return `{${values.map(one).join(",")}}`;
}

const parameterText = (value: unknown): string => {
  if (Array.isArray(value)) return arrayText(value);
  return typeof value === "string" ? encodeText(value) : String(value);
};

export interface PostgresSettings {
  readonly url: string;
  readonly mode: "read" | "write";
  /** How many transactions may be open at the same time; further ones wait. */
  readonly connections: number;
}

/** How the catalog connects; `pg` reads user, password and database from the URL of one host. */
const connectionOf = (url: string): PoolConfig => ({
  connectionString: url,
  types,
  pipeline: true,
  keepAlive: true,
  connectionTimeoutMillis: limits.catalogConnectMsMax,
  application_name: "millrace",
});

/** A standby may lack the last writes. */
const requirePrimary = `
  do $$ begin
    if pg_is_in_recovery() then raise exception using errcode = '25006', message = 'it is a standby'; end if;
  end $$`;

/**
 * The settings of every connection. A commit is on disk of at least one server, with any default of the
 * database. A transaction that a vanished server left open ends, and with it its lock.
 */
const sessionSettings = `${requirePrimary};
  select set_config('synchronous_commit',
    case current_setting('synchronous_commit') when 'off' then 'on'
      else current_setting('synchronous_commit') end, false);
  set idle_in_transaction_session_timeout = ${limits.catalogOpenMsMax};
  set lock_timeout = ${limits.catalogBusyMsMax};
  set jit = off;
  set extra_float_digits = 1`;

const openSession = { text: sessionSettings, query_timeout: limits.catalogConnectMsMax };

const begin = {
  read: "begin isolation level repeatable read read only",
  // Each statement sees the changes committed before it began, and the lock of its tenant excludes other
  // writers.
  write: "begin isolation level read committed",
} as const;

/** Statements of PostgreSQL after one that failed, which say nothing of why. */
const inFailedTransaction = "25P02";

type PreparedClient = PoolClient & { readonly prepared?: Map<string, string> };

/**
 * A connection for one transaction, or for one statement outside; refuses a statement after its transaction.
 */
class PostgresConnection implements DatabaseConnection {
  readonly pool: HostPool;
  readonly client: PreparedClient;
  readonly #mode: PostgresSettings["mode"];
  #state: "outside" | "about to begin" | "begun" | "ended" = "outside";
  #failure: unknown;
  isBroken = false;
  /** Since when the oldest statement waits for its result. */
  #waitingSinceMs = Number.POSITIVE_INFINITY;

  constructor(pool: HostPool, client: PreparedClient) {
    this.pool = pool;
    this.client = client;
    this.#mode = pool.mode;
  }

  /** Takes effect with the first statement: an empty transaction costs nothing. */
  begin(): void {
    this.#state = "about to begin";
    this.#failure = undefined;
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    const begun = this.#state === "begun";
    this.#state = "ended";
    if (!begun) return;
    const { command } = await this.#send(() => this.client.query(how));
    if (how === "commit" && command !== "COMMIT")
      throw this.#failure ?? new Error("the transaction was given up");
  }

  /** The end of a transaction that only read is not waited for: statements keep their order. */
  async commit(): Promise<void> {
    const ended = this.end("commit");
    if (this.#mode === "write") await ended;
    else ended.catch(() => undefined);
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const values = parameters.map(parameterText);
    const isScript = values.length === 0 && sql.includes(";");
    const result = await this.#sendInTransaction(() =>
      isScript
        ? this.client.query(sql)
        : this.client.query({ text: sql, values, name: this.#nameOf(sql), rowMode: "array" }),
    );
    if (isScript) return { rows: [] };
    const columns = result.fields.map((field) => field.name);
    const rows = (result.rows as unknown as unknown[][]).map((row) => named<Row>(columns, row));
    return { rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
  }

  /** Whether a statement was sent before this time, and has no result. */
  isWaitingSince(timeMs: number): boolean {
    return this.#waitingSinceMs <= timeMs;
  }

  /**
   * Sends the begin in one packet with the first statement, which shows its failure. Outside of transactions,
   * a statement is committed when its result comes. So a change that pauses must not send anything after its
   * transaction was rolled back: the connection may be that of another transaction then.
   */
  async #sendInTransaction<Result>(query: () => Promise<Result>): Promise<Result> {
    if (this.#state === "ended")
      throw new Error("broken invariant: a transaction that has ended is not used");
    if (this.#state !== "about to begin") return this.#send(query);
    this.#state = "begun";
    const stream = streamOf(this.client);
    stream.cork();
    try {
      this.client.query(begin[this.#mode]).catch(() => undefined);
      return this.#send(query);
    } finally {
      stream.uncork();
    }
  }

  async #send<Result>(query: () => Promise<Result>): Promise<Result> {
    this.#waitingSinceMs = performance.now();
    try {
      return await query();
    } catch (problem) {
      // Other errors are those of the connection.
      if (!(problem instanceof DatabaseError)) this.isBroken = true;
      else if (problem.code === inFailedTransaction && this.#failure) throw this.#failure;
      this.#failure ??= problem;
      throw problem;
    } finally {
      this.#waitingSinceMs = Number.POSITIVE_INFINITY;
    }
  }

  /** The name of the prepared statement; undefined when the connection has as many as it may. */
  #nameOf(text: string): string | undefined {
    const { prepared } = this.client;
    const known = prepared!.get(text);
    if (known !== undefined || prepared!.size >= limits.preparedStatementsMax) return known;
    const name = `s${prepared!.size}`;
    prepared!.set(text, name);
    return name;
  }

  // biome-ignore lint/correctness/useYield: pages are bounded, so nothing is streamed
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("broken invariant: the catalog reads pages, not streams");
  }
}

/** A missing value is an absent member. */
function named<Row>(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < columns.length; at++) {
    const value = values[at];
    if (value !== null) row[columns[at]!] = value;
  }
  return row as Row;
}

/** The connections to one host. */
class HostPool {
  readonly mode: PostgresSettings["mode"];
  readonly #url: string;
  readonly #pool: Pool;
  readonly #clients = new Set<PoolClient>();
  readonly #used = new Set<PostgresConnection>();
  #probing: Promise<void> | undefined;

  constructor(url: string, { mode, connections }: PostgresSettings) {
    this.#url = url;
    this.mode = mode;
    this.#pool = new Pool({
      ...connectionOf(url),
      max: connections,
      ...(mode === "read" && { query_timeout: limits.catalogReadMsMax }),
      onConnect: async (client) => {
        // The statement that needs the connection fails with the same error.
        client.on("error", () => undefined);
        await client.query(openSession);
        Object.assign(client, { prepared: new Map() });
      },
    });
    this.#pool.on("connect", (client) => void this.#clients.add(client));
    this.#pool.on("remove", (client) => void this.#clients.delete(client));
    // An idle connection that ends is replaced by the next transaction.
    this.#pool.on("error", () => undefined);
  }

  async acquire(): Promise<PostgresConnection> {
    const connection = new PostgresConnection(this, await this.#pool.connect());
    this.#used.add(connection);
    return connection;
  }

  release(connection: PostgresConnection): void {
    this.#used.delete(connection);
    connection.client.release(connection.isBroken);
  }

  /**
   * Ends all connections if a statement has waited since this time and the host does not respond to a new
   * connection either. So a long statement differs from one whose host or network is away.
   */
  endUnlessAlive(sinceMs: number, onAway: () => void): void {
    if (![...this.#used].some((connection) => connection.isWaitingSince(sinceMs))) return;
    this.#probing ??= probe(this.#url)
      .catch(() => {
        onAway();
        for (const client of this.#clients) endAtOnce(client);
      })
      .finally(() => {
        this.#probing = undefined;
      });
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

export class PostgresDriver implements Driver {
  readonly #pools: readonly HostPool[];
  readonly #hosts: Hosts<HostPool>;
  readonly #timer: NodeJS.Timeout;

  constructor(settings: PostgresSettings) {
    this.#pools = postgresUrls(settings.url).map((url) => new HostPool(url, settings));
    this.#hosts = new Hosts(this.#pools);
    this.#timer = setInterval(() => this.#endSilent(), limits.catalogSilentMs).unref();
  }

  async init(): Promise<void> {}

  acquireConnection(): Promise<PostgresConnection> {
    return atPrimary(this.#hosts, (pool) => pool.acquire());
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    connection.begin();
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit();
  }

  /** A connection that is broken has rolled back already. */
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.end("rollback").catch(() => undefined);
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.pool.release(connection);
  }

  async destroy(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  #endSilent(): void {
    const sinceMs = performance.now() - limits.catalogSilentMs;
    for (const pool of this.#pools) pool.endUnlessAlive(sinceMs, () => this.#hosts.failed(pool));
  }
}

/** All connections of a host are in use: another host would not help. */
const poolExhausted = /timeout exceeded/;

/** Connects to the host that is the primary; throws the problem of the preferred host if none is. */
async function atPrimary<Host, Result>(
  hosts: Hosts<Host>,
  connect: (host: Host) => Promise<Result>,
): Promise<Result> {
  const problems: unknown[] = [];
  for (const host of hosts.inOrder())
    try {
      return await connect(host);
    } catch (problem) {
      if (poolExhausted.test((problem as Error).message)) throw problem;
      hosts.failed(host);
      problems.push(problem);
    }
  throw problems[0];
}

const streamOf = (client: PoolClient | Client): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

/** Ends a connection without waiting for the host. */
const endAtOnce = (client: PoolClient | Client): void => void streamOf(client).destroy();

/** Rejects if the host does not respond on a new connection; a refusal by PostgreSQL is a response. */
async function probe(url: string): Promise<void> {
  const client = newClientAt(url);
  try {
    await client.connect();
  } catch (problem) {
    if (!(problem instanceof DatabaseError)) throw problem;
  } finally {
    client.end().catch(() => undefined);
  }
}

function newClientAt(url: string): Client {
  const client = new Client(connectionOf(url));
  client.on("error", () => undefined);
  return client;
}

/** A connection to the primary of its own, outside of pools and transactions. */
export const connectClient = (url: string): Promise<Client> =>
  atPrimary(new Hosts(postgresUrls(url)), async (one) => {
    const client = newClientAt(one);
    try {
      await client.connect();
      await client.query(requirePrimary);
      return client;
    } catch (problem) {
      endAtOnce(client);
      throw problem;
    }
  });
