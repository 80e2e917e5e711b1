// Kysely's driver for PostgreSQL by `pg`: a pool of connections in pipeline mode, values in and out.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import { Client, Pool, type PoolClient, type PoolConfig } from "pg";
import { limits } from "../../../../limits.ts";
import { decodeText, encodeText } from "./nul.ts";

/** Types of PostgreSQL by their numbers, whose values are not what `pg` makes of them. */
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

/** How the catalog connects; `pg` reads host, user, password and database from the URL. */
const connectionOf = (url: string): PoolConfig => ({
  connectionString: url,
  types,
  pipeline: true,
  keepAlive: true,
  connectionTimeoutMillis: limits.catalogConnectMsMax,
  application_name: "millrace",
});

/**
 * What every connection sets. A commit is on disk of one server at least, whatever the database's default.
 * A transaction that a vanished server left open ends, and with it its lock.
 */
const sessionSettings = `
  select set_config('synchronous_commit',
    case current_setting('synchronous_commit') when 'off' then 'on'
      else current_setting('synchronous_commit') end, false);
  set idle_in_transaction_session_timeout = ${limits.catalogOpenMsMax};
  set lock_timeout = ${limits.catalogBusyMsMax};
  set jit = off;
  set extra_float_digits = 1`;

const begin = {
  read: "begin isolation level repeatable read read only",
  // Each statement sees what was committed when it began, and the lock of its tenant keeps others out.
  write: "begin isolation level read committed",
} as const;

/** Statements of PostgreSQL after one that failed, which say nothing of why. */
const inFailedTransaction = "25P02";

type PreparedClient = PoolClient & { readonly prepared?: Map<string, string> };

/** A connection for one transaction at a time. */
class PostgresConnection implements DatabaseConnection {
  readonly client: PreparedClient;
  readonly #mode: PostgresSettings["mode"];
  #state: "idle" | "about to begin" | "begun" = "idle";
  #failure: unknown;
  isBroken = false;

  constructor(client: PreparedClient, mode: PostgresSettings["mode"]) {
    this.client = client;
    this.#mode = mode;
  }

  /** Takes effect with the first statement: an empty transaction costs nothing. */
  begin(): void {
    this.#state = "about to begin";
    this.#failure = undefined;
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    const begun = this.#state === "begun";
    this.#state = "idle";
    if (!begun) return;
    const { command } = await this.#send(() => this.client.query(how));
    if (how === "commit" && command !== "COMMIT")
      throw this.#failure ?? new Error("the transaction was given up");
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#state === "idle") throw new Error("broken invariant: statements run in a transaction");
    // Sent together with the first statement; a failure shows there.
    if (this.#state === "about to begin") this.client.query(begin[this.#mode]).catch(() => undefined);
    this.#state = "begun";
    const values = parameters.map(parameterText);
    const isScript = values.length === 0 && sql.includes(";");
    const result = await this.#send(() =>
      isScript
        ? this.client.query(sql)
        : this.client.query({ text: sql, values, name: this.#nameOf(sql), rowMode: "array" }),
    );
    if (isScript) return { rows: [] };
    const columns = result.fields.map((field) => field.name);
    const rows = (result.rows as unknown as unknown[][]).map((row) => named<Row>(columns, row));
    return { rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
  }

  async #send<Result>(query: () => Promise<Result>): Promise<Result> {
    try {
      return await query();
    } catch (problem) {
      const { code } = problem as { readonly code?: string };
      if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) this.isBroken = true;
      if (code === inFailedTransaction && this.#failure) throw this.#failure;
      this.#failure ??= problem;
      throw problem;
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

export class PostgresDriver implements Driver {
  readonly #settings: PostgresSettings;
  readonly #pool: Pool;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
    const { url, connections } = settings;
    this.#pool = new Pool({
      ...connectionOf(url),
      max: connections,
      ...(settings.mode === "read" && { query_timeout: limits.catalogReadMsMax }),
      onConnect: async (client) => {
        // The statement that needs the connection fails with the same error.
        client.on("error", () => undefined);
        await client.query(sessionSettings);
        Object.assign(client, { prepared: new Map() });
      },
    });
    // An idle connection that ends is replaced by the next transaction.
    this.#pool.on("error", () => undefined);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(await this.#pool.connect(), this.#settings.mode);
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    connection.begin();
  }

  /** The end of a transaction that only read is not waited for: statements keep their order. */
  async commitTransaction(connection: PostgresConnection): Promise<void> {
    const ended = connection.end("commit");
    if (this.#settings.mode === "write") await ended;
    else ended.catch(() => undefined);
  }

  /** A connection that is broken has rolled back already. */
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.end("rollback").catch(() => undefined);
  }

  async releaseConnection({ client, isBroken }: PostgresConnection): Promise<void> {
    client.release(isBroken);
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection of its own, outside of pools and transactions. */
export const newClient = (url: string): Client => new Client(connectionOf(url));
