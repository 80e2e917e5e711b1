// The interface of a database to the source. PostgreSQL and MySQL implement it.
import type { SourceTableRow } from "../row-records.ts";
import type { SqlConfiguration, SqlQuery } from "./sql-configuration.ts";

/** A connection. */
export interface PlantDatabase {
  /** Rejects with the reason of the database if it cannot run the query. */
  check(sql: string): Promise<void>;
  /** A query for each table that the user may read. */
  discover(): Promise<SqlQuery[]>;
  /**
   * The rows of a query, up to `rowsPerRead` at a time, from one consistent state of the database. With an
   * order, rows without a value in its column come first: they are read before there is a position, so that a
   * read that breaks off cannot skip them.
   */
  read(sql: string, order?: RowOrder): AsyncIterable<SourceTableRow[]>;
  close(): Promise<void>;
}

export interface RowOrder {
  readonly column: string;
  /** The first value, as text; from the beginning when absent. */
  readonly from: string | undefined;
}

export interface DatabaseOptions {
  readonly url: SqlConfiguration["url"];
  /** The longest time of a query. */
  readonly timeoutMs: number;
}

export const rowsPerRead = 1_000;
export const connectMsMax = 10_000;
/** A connection that was silent for so long is probed; without a response it ends ten seconds later. */
export const keepAliveMs = 30_000;

/** A number if JavaScript can represent it; else its digits: integers above 2^53, `1.50`, `NaN`. */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? number : text;
}

/** A column of a table, for a proposal. */
export interface DiscoveredColumn {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly isKey: boolean;
  readonly isTime: boolean;
}

/** A column with such a name usually grows with each change. */
const changeTimes = /chang|modif|updat|time|date/i;

/** Proposes a query for each table; `quote` writes a name for SQL. */
export function proposals(columns: readonly DiscoveredColumn[], quote: (name: string) => string): SqlQuery[] {
  const tables = Map.groupBy(columns, ({ schema, table }) => `${schema}.${table}`);
  return [...tables].map(([name, ofTable]) => {
    const { schema, table } = ofTable[0]!;
    const keys = ofTable.filter(({ isKey }) => isKey);
    const times = ofTable.filter(({ isTime }) => isTime);
    const changed = times.find(({ column }) => changeTimes.test(column)) ?? times[0];
    return {
      name,
      sql: `SELECT * FROM ${quote(schema)}.${quote(table)}`,
      ...(changed && { incremental: { column: changed.column } }),
      rows: {
        ...{ database: schema, table },
        key: (keys.length > 0 ? keys : ofTable).map(({ column }) => `{${column}}`).join("-"),
      },
    };
  });
}
