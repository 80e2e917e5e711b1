// The SQL statements of a shard's table of blocks.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { runRowsMax } from "./recent-rows.ts";
import { readStateSql, writeStateSql } from "./stored-shard-state.ts";

const columns = "data_id AS id, first_ms AS firstMs, last_ms AS lastMs, count, header";
const ofKey = "series = ? AND kind = ?";
/** Rows that the read of a range finds with its first statement. */
export const firstRows = 8;

/**
 * From the last block that starts before the range, which may end before it. The limit is no parameter:
 * SQLite would compile the statement again for each new value of one.
 */
const firstOverlappingSql = `
  SELECT ${columns} FROM block
  WHERE series = ?1 AND kind = ?2 AND first_ms >= coalesce(
    (SELECT max(first_ms) FROM block WHERE series = ?1 AND kind = ?2 AND first_ms < ?3), ?3)
  ORDER BY first_ms LIMIT ${firstRows}`;

function withArrays(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  return statement;
}

export function prepareStatements(
  database: DatabaseSync,
): Record<
  | "before"
  | "from"
  | "firstOverlapping"
  | "firstOfKey"
  | "between"
  | "whole"
  | "bounds"
  | "data"
  | "insert"
  | "insertData"
  | "remove"
  | "removeData"
  | "damaged"
  | "insertDamaged"
  | "removeDamaged"
  | "state"
  | "writeState",
  StatementSync
> {
  const sql = (text: string) => database.prepare(text);
  const arrays = (text: string) => withArrays(sql(text));
  const descending = "ORDER BY first_ms DESC LIMIT 1";
  return {
    before: sql(`SELECT ${columns} FROM block WHERE ${ofKey} AND first_ms < ? ${descending}`),
    from: sql(`SELECT ${columns} FROM block WHERE ${ofKey} AND first_ms >= ? ORDER BY first_ms LIMIT 1`),
    firstOverlapping: arrays(firstOverlappingSql),
    firstOfKey: arrays(`
      SELECT ${columns} FROM block WHERE ${ofKey} ORDER BY first_ms LIMIT ${runRowsMax + 1}`),
    between: arrays(`
      SELECT ${columns} FROM block
      WHERE ${ofKey} AND first_ms >= ? AND first_ms < ? ORDER BY first_ms`),
    // In the order of the key, so that SQLite stops at the limit.
    whole: sql(`
      SELECT count(*) AS blocks, sum(count) AS points, min(first_ms) AS firstMs, max(last_ms) AS lastMs
      FROM (
        SELECT first_ms, last_ms, count FROM block
        WHERE ${ofKey} AND first_ms >= ? AND first_ms < ? AND last_ms < ? ORDER BY first_ms LIMIT ?)`),
    bounds: sql(`
      SELECT data_id AS id, first_ms AS firstMs, last_ms AS lastMs, count FROM block
      WHERE ${ofKey} AND first_ms >= ? ORDER BY first_ms LIMIT 1`),
    data: sql("SELECT bytes FROM data WHERE id = ?"),
    insert: sql("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?)"),
    insertData: sql("INSERT INTO data (bytes) VALUES (?)"),
    remove: sql(`DELETE FROM block WHERE ${ofKey} AND first_ms = ?`),
    removeData: sql("DELETE FROM data WHERE id = ?"),
    damaged: sql(`
      SELECT data_id AS id, series, kind, first_ms AS firstMs, last_ms AS lastMs, expected, found
      FROM damaged`),
    insertDamaged: sql("INSERT INTO damaged VALUES (?, ?, ?, ?, ?, ?, ?)"),
    removeDamaged: sql(`DELETE FROM damaged WHERE ${ofKey} AND first_ms >= ? AND last_ms < ?`),
    state: sql(readStateSql),
    writeState: sql(writeStateSql),
  };
}
