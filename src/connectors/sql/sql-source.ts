// Reads a PostgreSQL database by queries into raw tables or series, as a whole or from where it was last
// time.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { UsageError } from "../../client/command.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { parseJson } from "../../lib/json.ts";
import { durationIn } from "../quantities.ts";
import type { SourceRecords } from "../records.ts";
import { recordMaker, type SourceTableRow } from "../row-records.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";
import { discoverTables } from "./discover.ts";
import { readerOf } from "./postgres-values.ts";

import { type SqlConfiguration, type SqlQuery, sqlSchema } from "./sql-configuration.ts";

/** Where the next read of a query begins. */
interface Position {
  /** The text of the incremental column in the last row. */
  readonly value: string;
  /** Digests of the rows with this value: the next read finds them again. */
  readonly seen: readonly string[];
}

/** Rows that one FETCH of a cursor returns. */
const rowsPerFetch = 1_000;
/**
 * Digests of rows with equal values that a position holds. More rows are written again, which changes
 * nothing.
 */
const seenMax = 10_000;
const retryMs = 5_000;

class SqlSource implements PlantSource {
  readonly address: string;
  readonly #configuration: SqlConfiguration;

  constructor(configuration: SqlConfiguration) {
    this.#configuration = configuration;
    const { host, pathname } = new URL(configuration.url);
    this.address = `postgres://${host}${pathname}`;
    const repeated = duplicatesIn(configuration.queries.map(({ name }) => name));
    // They would have one position, and each would skip rows of the other.
    if (repeated.length > 0) throw new UsageError(`source.queries: several have the name ${repeated[0]}`);
    for (const query of configuration.queries) {
      recordMaker(query.name, query);
      durationIn(query.every ?? "5m", `source.queries ${query.name}: every`);
    }
  }

  async check(): Promise<string> {
    const client = await this.#open();
    try {
      for (const query of this.#configuration.queries)
        await client.query(`SELECT * FROM (${query.sql}\n) AS source LIMIT 0`);
      return `${this.address} has what ${this.#configuration.queries.length} queries read`;
    } finally {
      await client.end();
    }
  }

  async discover(): Promise<object> {
    const client = await this.#open();
    try {
      return { type: "sql", url: this.address, queries: await discoverTables(client) };
    } finally {
      await client.end();
    }
  }

  async run(run: SourceRun): Promise<void> {
    await Promise.all(this.#configuration.queries.map((query) => this.#repeat(query, run)));
    await run.intake.drain();
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

  /** One consistent state of the database, a thousand rows at a time. */
  async #read(query: SqlQuery, { intake, signal }: SourceRun): Promise<void> {
    const { name, incremental } = query;
    const makeRecords = recordMaker(query.name, query);
    let position = positionIn(intake.mark(name), incremental?.start);
    const client = await this.#open();
    try {
      await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      await declareCursor(client, query, position);
      while (!signal.aborted) {
        const { rows, fields } = await client.query<(string | null)[]>({
          text: `FETCH ${rowsPerFetch} FROM source_rows`,
          rowMode: "array",
        });
        const found = fieldsOf(rows, fields);
        if (found.length === 0) return;
        const fresh = incremental ? found.filter((row) => !isSeen(row, incremental.column, position)) : found;
        if (incremental) position = positionAfter(found, incremental.column, position);
        const records: SourceRecords = makeRecords(fresh);
        await intake.add({ ...records, ...(position && { marks: { [name]: JSON.stringify(position) } }) });
      }
    } finally {
      await client.end();
    }
  }

  async #open(): Promise<pg.Client> {
    const { url, timeout = "10m" } = this.#configuration;
    const client = new pg.Client({
      ...{ connectionString: url, application_name: "millrace connect", connectionTimeoutMillis: 10_000 },
      statement_timeout: durationIn(timeout, "source.timeout"),
      types: { getTypeParser: () => (text: string) => text },
    });
    // A lost connection also fails the query that runs.
    client.on("error", () => {});
    await client.connect();
    await client.query("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'iso_8601'");
    return client;
  }
}

async function declareCursor(
  client: pg.Client,
  query: SqlQuery,
  position: Position | undefined,
): Promise<void> {
  const { sql, incremental } = query;
  const column = incremental && pg.escapeIdentifier(incremental.column);
  const where = position ? ` WHERE ${column} >= ${pg.escapeLiteral(position.value)}` : "";
  const order = column === undefined ? "" : ` ORDER BY ${column} ASC NULLS LAST`;
  await client.query(
    `DECLARE source_rows NO SCROLL CURSOR FOR SELECT * FROM (${sql}\n) AS source${where}${order}`,
  );
}

/** The value of each column by its name, with the text that PostgreSQL sent. */
function fieldsOf(rows: readonly (string | null)[][], fields: readonly pg.FieldDef[]): SourceTableRow[] {
  const columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
  return rows.map((cells) => {
    const texts: Record<string, string | null> = {};
    const values: Record<string, unknown> = {};
    for (const [i, { name, read }] of columns.entries()) {
      const text = cells[i] ?? null;
      texts[name] = text;
      values[name] = text === null ? null : read(text);
    }
    return { texts, values };
  });
}

function positionIn(mark: string | undefined, start: string | undefined): Position | undefined {
  if (mark !== undefined) return parseJson(mark) as Position;
  return start === undefined ? undefined : { value: start, seen: [] };
}

const digestOf = ({ texts }: SourceTableRow): string =>
  createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 16);

const isSeen = (row: SourceTableRow, column: string, position: Position | undefined): boolean =>
  position !== undefined && row.texts[column] === position.value && position.seen.includes(digestOf(row));

/** A row without a value in the column, which comes last, does not move the position. */
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
