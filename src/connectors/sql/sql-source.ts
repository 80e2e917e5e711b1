// Reads a database by queries into raw tables or series, as a whole or from where it was last time.
import { createHash } from "node:crypto";
import { addAbortListener } from "node:events";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../../client/command.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { parseJson } from "../../lib/json.ts";
import { durationIn } from "../quantities.ts";
import type { SourceRecords } from "../records.ts";
import { recordMaker, type SourceTableRow } from "../row-records.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";
import type { DatabaseOptions, PlantDatabase } from "./database.ts";
import { openByDriver } from "./driver.ts";
import { openMysql } from "./mysql.ts";
import { openPostgres } from "./postgres.ts";
import { type SqlConfiguration, type SqlQuery, sqlSchema } from "./sql-configuration.ts";

/** Where the next read of a query begins. */
interface Position {
  /** The text of the incremental column in the last row. */
  readonly value: string;
  /** Digests of the rows with this value: the next read finds them again. */
  readonly seen: readonly string[];
}

/**
 * Digests of rows with equal values that a position holds. More rows are written again, which changes
 * nothing.
 */
const seenMax = 10_000;
const retryMs = 5_000;

/** The drivers by the protocol of the address. */
const drivers: Readonly<Record<string, (options: DatabaseOptions) => Promise<PlantDatabase>>> = {
  ...{ "postgres:": openPostgres, "postgresql:": openPostgres },
  ...{ "mysql:": openMysql, "mariadb:": openMysql },
};

class SqlSource implements PlantSource {
  readonly address: string;
  readonly #configuration: SqlConfiguration;
  readonly #open: (options: DatabaseOptions) => Promise<PlantDatabase>;

  constructor(configuration: SqlConfiguration) {
    this.#configuration = configuration;
    const { address, open } = openerOf(configuration);
    this.address = address;
    this.#open = open;
    const repeated = duplicatesIn(configuration.queries.map(({ name }) => name));
    // They would have one position, and each would skip rows of the other.
    if (repeated.length > 0) throw new UsageError(`source.queries: several have the name ${repeated[0]}`);
    for (const query of configuration.queries) {
      recordMaker(query.name, query);
      durationIn(query.every ?? "5m", `source.queries ${query.name}: every`);
    }
  }

  async check(signal: AbortSignal): Promise<string> {
    const queries = this.#queries();
    await this.#using(signal, async (database) => {
      for (const { sql } of queries) await database.check(sql);
    });
    return `${this.address} accepts ${queries.length === 1 ? "the query" : `all ${queries.length} queries`}`;
  }

  async discover(written: object, signal: AbortSignal): Promise<object> {
    const queries = await this.#using(signal, (database) => database.discover());
    return { ...written, queries };
  }

  async run(run: SourceRun): Promise<void> {
    await Promise.all(this.#queries().map((query) => this.#repeat(query, run)));
    await run.intake.drain();
  }

  /** A file without queries is one for `discover` only. */
  #queries(): readonly SqlQuery[] {
    const { queries } = this.#configuration;
    if (queries.length === 0) throw new UsageError("source.queries is empty: `discover` proposes queries");
    return queries;
  }

  /** A failed read is repeated from where it was. */
  async #repeat(query: SqlQuery, run: SourceRun): Promise<void> {
    const { health, signal } = run;
    const place = `source ${query.name}` as const;
    const everyMs = durationIn(query.every ?? "5m", "every");
    while (!signal.aborted) {
      const begunMs = performance.now();
      let waitMs = retryMs;
      try {
        await this.#read(query, run);
        health.solved(place);
        waitMs = Math.max(0, everyMs - (performance.now() - begunMs));
      } catch (problem) {
        if (!signal.aborted) health.problem(place, (problem as Error).message);
      }
      await pause(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  async #read(query: SqlQuery, { intake, signal }: SourceRun): Promise<void> {
    const { name, sql, incremental } = query;
    const makeRecords = recordMaker(name, query);
    let position = positionIn(intake.mark(name), incremental?.start);
    await this.#using(signal, async (database) => {
      const order = incremental && { column: incremental.column, from: position?.value };
      for await (const found of database.read(sql, order)) {
        if (signal.aborted) return;
        const fresh = incremental ? found.filter((row) => !isSeen(row, incremental.column, position)) : found;
        if (incremental) position = positionAfter(found, incremental.column, position);
        const refused: string[] = [];
        const records: SourceRecords = makeRecords(fresh, (_row, why) => refused.push(why));
        if (refused.length > 0) intake.refuse(refused.length, `query ${name}: ${refused[0]}`);
        await intake.add({ ...records, ...(position && { marks: { [name]: JSON.stringify(position) } }) });
      }
    });
  }

  /** The signal also ends a query that has not returned a row yet. */
  async #using<Result>(
    signal: AbortSignal,
    work: (database: PlantDatabase) => Promise<Result>,
  ): Promise<Result> {
    const { url, timeout = "10m" } = this.#configuration;
    const database = await this.#open({ url, timeoutMs: durationIn(timeout, "source.timeout") });
    const closing = addAbortListener(signal, () => void database.close());
    try {
      return await work(database);
    } finally {
      closing[Symbol.dispose]();
      await database.close();
    }
  }
}

/**
 * The function that opens the database, and the address without secrets. Of an address that only a driver
 * understands, each part may be a password.
 */
function openerOf({ url, driver }: SqlConfiguration) {
  const scheme = url.slice(0, url.indexOf(":") + 1);
  if (driver !== undefined)
    return {
      address: `${scheme} by ${basename(driver)}`,
      open: (options: DatabaseOptions) => openByDriver(driver, options),
    };
  if (!Object.hasOwn(drivers, scheme))
    throw new UsageError(`source.url: ${scheme}// needs a driver: see docs/connectors.md`);
  const parts = URL.parse(url);
  if (!parts)
    throw new UsageError(
      "source.url is not of the form scheme://user:password@host:port/database. " +
        "Special characters of a password are percent-encoded: `/` is `%2F`",
    );
  // Host and path then begin within the password, and messages would show the rest of it.
  if (`${parts.pathname}${parts.search}${parts.hash}`.includes("@"))
    throw new UsageError("source.url: / ? and # in a password must be percent-encoded: %2F %3F %23");
  return { address: `${scheme}//${parts.host}${parts.pathname}`, open: drivers[scheme]! };
}

function positionIn(mark: string | undefined, start: string | undefined): Position | undefined {
  if (mark !== undefined) return parseJson(mark) as Position;
  return start === undefined ? undefined : { value: start, seen: [] };
}

const digestOf = ({ texts }: SourceTableRow): string =>
  createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 16);

const isSeen = (row: SourceTableRow, column: string, position: Position | undefined): boolean =>
  position !== undefined && row.texts[column] === position.value && position.seen.includes(digestOf(row));

/** A row without a value in the column does not move the position. */
function positionAfter(
  rows: readonly SourceTableRow[],
  column: string,
  before: Position | undefined,
): Position | undefined {
  const value = rows.findLast(({ texts }) => typeof texts[column] === "string")?.texts[column];
  if (value === undefined || value === null) return before;
  const seen = new Set(before?.value === value ? before.seen : []);
  for (const row of rows) if (row.texts[column] === value && seen.size < seenMax) seen.add(digestOf(row));
  return { value, seen: [...seen] };
}

export const sqlKind: SourceKind = {
  schema: sqlSchema,
  make: (configuration: SqlConfiguration) => new SqlSource(configuration),
};
