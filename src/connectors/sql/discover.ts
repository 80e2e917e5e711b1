// Proposes a query for each table that the user may read.
import type pg from "pg";
import { escapeIdentifier } from "pg";
import type { SqlQuery } from "./sql-configuration.ts";

interface TableColumn {
  readonly table_schema: string;
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
  readonly is_key: string;
}

const columnsSql = `
  SELECT c.table_schema, c.table_name, c.column_name, c.data_type, (k.column_name IS NOT NULL)::text AS is_key
  FROM information_schema.columns c
  LEFT JOIN (
    SELECT t.table_schema, t.table_name, u.column_name FROM information_schema.table_constraints t
    JOIN information_schema.key_column_usage u USING (constraint_schema, constraint_name)
    WHERE t.constraint_type = 'PRIMARY KEY'
  ) k USING (table_schema, table_name, column_name)
  WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema')
  ORDER BY c.table_schema, c.table_name, c.ordinal_position`;

/** A column of this kind usually grows with each change. */
const changeTimes = /chang|modif|updat|time|date/i;

export async function discoverTables(client: pg.Client): Promise<SqlQuery[]> {
  const { rows } = await client.query<TableColumn>(columnsSql);
  const tables = Map.groupBy(rows, (row) => `${row.table_schema}.${row.table_name}`);
  return [...tables].map(([name, columns]) => proposalOf(name, columns));
}

function proposalOf(name: string, columns: readonly TableColumn[]): SqlQuery {
  const { table_schema: schema, table_name: table } = columns[0]!;
  const keys = columns.filter(({ is_key: isKey }) => isKey === "true");
  const times = columns.filter(({ data_type: type }) => type.startsWith("timestamp"));
  const changed = times.find(({ column_name: column }) => changeTimes.test(column)) ?? times[0];
  const key = (keys.length > 0 ? keys : columns).map(({ column_name: column }) => `{${column}}`).join("-");
  return {
    name,
    sql: `SELECT * FROM ${escapeIdentifier(schema)}.${escapeIdentifier(table)}`,
    ...(changed && { incremental: { column: changed.column_name } }),
    rows: { database: schema, table, key },
  };
}
