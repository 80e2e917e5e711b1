// The state that servers of a PostgreSQL catalog share: ids, a secret, generations of cached records.
import { sql } from "kysely";
import { limits } from "../../../../limits.ts";
import type { CatalogObserver, GenerationName, Tenant } from "../../../catalog.ts";
import type { Db } from "../../dialect.ts";
import { connectClient } from "./driver.ts";
import {
  generationsTable,
  idSequence,
  migrationLock,
  secretsTable,
  secretsTableText,
  serverSequence,
  versionSequence,
} from "./schema.ts";

/** The key of the lock and of the rows of a tenant; projects have positive ids. */
export const tenantKey = (tenant: Tenant): number => (tenant === "system" ? -1 : tenant);

const tenantOf = (key: number): Tenant => (key === -1 ? "system" : key);

/** The secret of an installation: that of the database, where the first server puts its own. */
export async function sharedSecret(url: string, own: Uint8Array): Promise<Uint8Array> {
  const client = await connectClient(url);
  try {
    await client.query(`begin; select pg_advisory_xact_lock(${migrationLock}); ${secretsTableText}`);
    const value = Buffer.from(own).toString("base64url");
    await client.query(
      `insert into ${secretsTable} (name, value) values ('installation', $1) on conflict (name) do nothing`,
      [value],
    );
    const { rows } = await client.query<{ value: string }>(
      `select value from ${secretsTable} where name = 'installation'`,
    );
    await client.query("commit");
    return Buffer.from(rows[0]!.value, "base64url");
  } finally {
    await client.end();
  }
}

/** A number that no other server has. */
export async function newServerNumber(db: Db): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval(${serverSequence}) as id`.execute(db);
  return rows[0]!.id;
}

/** Reserves ids that no server has had; returns the first one. */
export async function reserveIds(db: Db): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval(${idSequence}) as id`.execute(db);
  return rows[0]!.id;
}

/** Takes versions of datapoints: ascending, and higher than all that were taken before. */
export async function takeVersions(db: Db, count: number): Promise<Float64Array> {
  const reserved = limits.pointVersionsReserved;
  const { rows } = await sql<{ first: number }>`
    select nextval(${versionSequence}) as first from generate_series(1, ${Math.ceil(count / reserved)})
  `.execute(db);
  return Float64Array.from({ length: count }, (_, index) => {
    const { first } = rows[Math.floor(index / reserved)]!;
    return first + (index % reserved);
  });
}

/** Counts changes of cached records in their transaction, in rows of this server alone. */
export const announcing =
  (server: number) => async (db: Db, tenant: Tenant, names: readonly GenerationName[]) => {
    for (const name of names)
      await sql`
      insert into ${sql.table(generationsTable)} as current (server, tenant, name, value)
      values (${server}, ${tenantKey(tenant)}, ${name}, 1)
      on conflict (server, tenant, name) do update set value = current.value + 1, changed = now()
    `.execute(db);
  };

interface Generation {
  readonly server: number;
  readonly tenant: number;
  readonly name: GenerationName;
  readonly value: number;
}

/**
 * Reads the generations of other servers at short intervals, and tells an observer of those that changed.
 *
 * Rows that a change writes in its own transaction reach a server through poolers and failovers too. A
 * notification (`NOTIFY`) does not, and all commits that send one wait for each other.
 */
export class GenerationWatch {
  readonly #reads: Db;
  readonly #server: number;
  readonly #known = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #begunMs = 0;

  constructor(reads: Db, server: number) {
    this.#reads = reads;
    this.#server = server;
  }

  observe(observer: CatalogObserver): void {
    this.#timer = setInterval(() => this.#tick(observer), limits.catalogPollMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /** A read that takes long counts as lost, and is waited for. */
  #tick(observer: CatalogObserver): void {
    if (this.#reading) {
      if (performance.now() - this.#begunMs > limits.catalogPollMsMax) observer.lost();
      return;
    }
    this.#begunMs = performance.now();
    this.#reading = this.#read(observer)
      .catch(() => observer.lost())
      .finally(() => {
        this.#reading = undefined;
      });
  }

  async #read(observer: CatalogObserver): Promise<void> {
    const read = (db: Db) =>
      sql<Generation>`
        select server, tenant, name, value from ${sql.table(generationsTable)} where server <> ${this.#server}
      `.execute(db);
    const { rows } = await this.#reads.transaction().execute(read);
    // A late result may lack a change that is older than the bound.
    if (performance.now() - this.#begunMs > limits.catalogPollMsMax) observer.lost();
    for (const { server, tenant, name, value } of rows) {
      const key = `${server} ${tenant} ${name}`;
      if (this.#known.get(key) === value) continue;
      await observer.changed({ tenant: tenantOf(tenant), generation: name });
      this.#known.set(key, value);
    }
  }
}
