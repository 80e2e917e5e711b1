// A MySQL or MariaDB database, whose rows are streamed.

import mysql, { type Connection, type FieldPacket } from "mysql2";
import { parseJson } from "../../lib/json.ts";
import type { SourceTableRow } from "../row-records.ts";
import {
  connectMsMax,
  type DatabaseOptions,
  exactNumber,
  keepAliveMs,
  type PlantDatabase,
  proposals,
  type RowOrder,
  rowsPerRead,
} from "./database.ts";

/** The number of the character set of bytes. */
const binary = 63;
/** How long the server waits while the buffer of the connector is full. */
const writeSecondsMax = 3_600;

const columnsSql = `
  SELECT table_schema AS s, table_name AS t, column_name AS c, data_type AS d, column_key AS k
  FROM information_schema.columns WHERE table_schema = DATABASE()
  ORDER BY table_schema, table_name, ordinal_position`;

export async function openMysql({ url, timeoutMs }: DatabaseOptions): Promise<PlantDatabase> {
  const connection = mysql.createConnection({
    ...{ uri: url, connectTimeout: connectMsMax, charset: "utf8mb4_bin" },
    ...{ timezone: "Z", rowsAsArray: true, typeCast: (field: { buffer(): unknown }) => field.buffer() },
    ...{ enableKeepAlive: true, keepAliveInitialDelay: keepAliveMs },
  });
  const lost = new AbortController();
  connection.on("error", (problem) => lost.abort(problem));
  const open: OpenConnection = { connection, lost: lost.signal };
  const run = (sql: string) => queryAll(open, sql);
  try {
    const [[version]] = (await run("SELECT VERSION()")) as [[string]];
    const timeout = version.includes("MariaDB")
      ? `max_statement_time = ${timeoutMs / 1_000}`
      : `max_execution_time = ${timeoutMs}`;
    await run(`SET SESSION time_zone = '+00:00', net_write_timeout = ${writeSecondsMax}, ${timeout}`);
  } catch (problem) {
    connection.destroy();
    throw problem;
  }
  return {
    check: async (sql) => void (await run(`SELECT * FROM (${sql}\n) AS source LIMIT 0`)),
    async discover() {
      const rows = (await run(columnsSql)) as string[][];
      const columns = rows.map(([schema, table, column, type, key]) => ({
        ...{ schema: schema!, table: table!, column: column! },
        ...{ isKey: key === "PRI", isTime: type === "timestamp" || type === "datetime" },
      }));
      return proposals(columns, (name) => mysql.escapeId(name, true));
    },
    read: (sql, order) => readRows(open, sql, order),
    // `end` would wait for a stream that was not read to its end.
    async close() {
      lost.abort(new Error("The connection was closed"));
      connection.destroy();
    },
  };
}

interface OpenConnection {
  readonly connection: Connection;
  /**
   * Aborted, with the reason, when the connection is lost or closed: mysql2 does not tell this to a stream.
   */
  readonly lost: AbortSignal;
}

function onLost(lost: AbortSignal, end: (reason: Error) => void): void {
  if (lost.aborted) end(lost.reason as Error);
  else lost.addEventListener("abort", () => end(lost.reason as Error));
}

/** All rows, as strings. */
function queryAll({ connection, lost }: OpenConnection, sql: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    onLost(lost, reject);
    connection.query(sql, (problem, rows) => {
      if (problem) reject(problem);
      else resolve(Array.isArray(rows) ? rows.map((row) => (row as Buffer[]).map(String)) : rows);
    });
  });
}

async function* readRows(
  open: OpenConnection,
  sql: string,
  order: RowOrder | undefined,
): AsyncGenerator<SourceTableRow[]> {
  await queryAll(open, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  await queryAll(open, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
  let columns: readonly Column[] = [];
  const stream = open.connection
    .query(`SELECT * FROM (${sql}\n) AS source${orderSql(order)}`)
    .stream({ highWaterMark: rowsPerRead })
    .on("fields", (fields: readonly FieldPacket[]) => {
      columns = fields.map(columnOf);
    });
  onLost(open.lost, (reason) => stream.destroy(reason));
  let rows: SourceTableRow[] = [];
  for await (const cells of stream) {
    rows.push(tableRow(cells as (Buffer | null)[], columns));
    if (rows.length < rowsPerRead) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function orderSql(order: RowOrder | undefined): string {
  if (!order) return "";
  const column = mysql.escapeId(order.column, true);
  const where = order.from === undefined ? "" : ` WHERE ${column} >= ${mysql.escape(order.from)}`;
  return `${where} ORDER BY ${column}`;
}

interface Column {
  readonly name: string;
  readonly text: (bytes: Buffer) => string;
  /** From the bytes that the server sent, and their text. */
  readonly read: (text: string, bytes: Buffer) => unknown;
}

function columnOf({ name, columnType, characterSet }: FieldPacket): Column {
  const read = readers[columnType!];
  if (columnType === mysql.Types.BIT) return { name, text: bitsOf, read: exactNumber };
  // Numbers and times have the character set of bytes as well.
  if (read) return { name, text: String, read };
  if (characterSet === binary || columnType === mysql.Types.GEOMETRY)
    return { name, text: (bytes) => bytes.toString("hex"), read: (_, bytes) => bytes.toString("base64") };
  return { name, text: String, read: (text) => text };
}

function tableRow(cells: readonly (Buffer | null)[], columns: readonly Column[]): SourceTableRow {
  const texts: Record<string, string | null> = {};
  const values: Record<string, unknown> = {};
  for (const [i, { name, text: textOf, read }] of columns.entries()) {
    const bytes = cells[i] ?? null;
    const text = bytes && textOf(bytes);
    texts[name] = text;
    values[name] = bytes === null ? null : read(text!, bytes);
  }
  return { texts, values };
}

const bitsOf = (bytes: Buffer): string => BigInt(`0x${bytes.toString("hex")}`).toString();

/** The types whose values are not strings of characters. The session is in UTC. */
const readers: Readonly<Record<number, (text: string) => unknown>> = {
  ...Object.fromEntries(
    [
      ...[
        mysql.Types.TINY,
        mysql.Types.SHORT,
        mysql.Types.INT24,
        mysql.Types.LONG,
        mysql.Types.LONGLONG,
        mysql.Types.YEAR,
      ],
      ...[mysql.Types.FLOAT, mysql.Types.DOUBLE, mysql.Types.DECIMAL, mysql.Types.NEWDECIMAL],
    ].map((type) => [type, exactNumber]),
  ),
  [mysql.Types.JSON]: parseJson,
  [mysql.Types.DATE]: String,
  [mysql.Types.TIME]: String,
  [mysql.Types.DATETIME]: (text) => text.replace(" ", "T"),
  [mysql.Types.TIMESTAMP]: (text) => `${text.replace(" ", "T")}Z`,
};
