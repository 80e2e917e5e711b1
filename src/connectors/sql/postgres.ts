// A PostgreSQL database, read through a cursor.
import pg from "pg";
import type { SourceTableRow } from "../row-records.ts";
import {
  connectMsMax,
  type DatabaseOptions,
  keepAliveMs,
  type PlantDatabase,
  proposals,
  type RowOrder,
  rowsPerRead,
} from "./database.ts";
import { readerOf } from "./postgres-values.ts";

/** The constraints of `information_schema` are those of tables that the user may write. A reader has none. */
const columnsSql = `
  SELECT c.table_schema, c.table_name, c.column_name, c.data_type, (k.column_name IS NOT NULL)::text AS is_key
  FROM information_schema.columns c
  LEFT JOIN (
    SELECT n.nspname AS table_schema, t.relname AS table_name, a.attname AS column_name FROM pg_index i
    JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indisprimary
  ) k USING (table_schema, table_name, column_name)
  WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema')
  ORDER BY c.table_schema, c.table_name, c.ordinal_position`;

interface TableColumn {
  readonly table_schema: string;
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
  readonly is_key: string;
}

export async function openPostgres({ url, timeoutMs }: DatabaseOptions): Promise<PlantDatabase> {
  const client = new pg.Client({
    ...{ connectionString: url, application_name: "millrace connect" },
    ...{ connectionTimeoutMillis: connectMsMax, statement_timeout: timeoutMs },
    ...{ keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs },
    types: { getTypeParser: () => (text: string) => text },
  });
  // A lost connection also fails the query that runs.
  client.on("error", () => {});
  await client.connect();
  await client.query("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'iso_8601'");
  return {
    check: async (sql) => void (await client.query(`SELECT * FROM (${sql}\n) AS source LIMIT 0`)),
    async discover() {
      const { rows } = await client.query<TableColumn>(columnsSql);
      const columns = rows.map((row) => ({
        ...{ schema: row.table_schema, table: row.table_name, column: row.column_name },
        ...{ isKey: row.is_key === "true", isTime: row.data_type.startsWith("timestamp") },
      }));
      return proposals(columns, pg.escapeIdentifier);
    },
    read: (sql, order) => readByCursor(client, sql, order),
    close: () => client.end(),
  };
}

async function* readByCursor(
  client: pg.Client,
  sql: string,
  order: RowOrder | undefined,
): AsyncGenerator<SourceTableRow[]> {
  await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
  await client.query(
    `DECLARE source_rows NO SCROLL CURSOR FOR SELECT * FROM (${sql}\n) AS source${orderSql(order)}`,
  );
  for (;;) {
    const { rows, fields } = await client.query<(string | null)[]>({
      text: `FETCH ${rowsPerRead} FROM source_rows`,
      rowMode: "array",
    });
    if (rows.length === 0) return;
    yield tableRows(rows, fields);
  }
}

function orderSql(order: RowOrder | undefined): string {
  if (!order) return "";
  const column = pg.escapeIdentifier(order.column);
  // With a condition there are none, and this is the order of an index.
  if (order.from === undefined) return ` ORDER BY ${column} NULLS FIRST`;
  return ` WHERE ${column} >= ${pg.escapeLiteral(order.from)} ORDER BY ${column}`;
}

/** The value of each column by its name, with the text that PostgreSQL sent. */
function tableRows(rows: readonly (string | null)[][], fields: readonly pg.FieldDef[]): SourceTableRow[] {
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
