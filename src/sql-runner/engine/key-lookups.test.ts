// The equalities by which only some rows of a table are read, and queries that need all of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensOf } from "../tokens.ts";
import { keyLookups } from "./key-lookups.ts";

const assets = { schema: "millrace", table: "assets" };
const orders = { schema: "erp", table: "orders" };

const found = (sql: string) =>
  keyLookups(tokensOf(sql), assets, [orders]).map(({ column, from }) => `${column} = ${from.column}`);

test("an equality that every joined row fulfils finds rows", () => {
  const a = "a.externalId = o.location";
  for (const sql of [
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON o.location == a.externalId`,
    `SELECT * FROM erp.orders AS o INNER JOIN millrace.assets AS a ON o.x = 1 AND ${a}`,
    `SELECT * FROM erp.orders o LEFT JOIN millrace.assets a ON ${a} AND a.name <> 'x' WHERE o.y OR o.z`,
    `SELECT * FROM erp.orders o LEFT OUTER JOIN millrace.assets a ON ${a}`,
    `SELECT * FROM millrace.assets a JOIN erp.orders o ON ${a} ORDER BY 1`,
    `SELECT * FROM millrace.assets a LEFT JOIN erp.x x ON x.b = a.c JOIN erp.orders o ON ${a}`,
    `SELECT * FROM erp.orders o, millrace.assets a WHERE o.kind = 'stop' AND ${a} GROUP BY 1`,
    `SELECT * FROM millrace.assets a LEFT JOIN erp.orders o ON 1 WHERE ${a}`,
    `SELECT 1 UNION SELECT a.id FROM erp.orders o JOIN millrace.assets a ON ${a} WHERE is_new('orders')`,
    `WITH x AS (SELECT a.id FROM erp.orders o JOIN millrace.assets a ON ${a}) SELECT * FROM x`,
    `SELECT * FROM "erp"."orders" o JOIN millrace.\`assets\` a ON "a"."externalId" = o."location"`,
  ])
    assert.deepEqual(found(sql), ["externalId = location"], sql);
  assert.deepEqual(
    found("SELECT * FROM erp.orders JOIN millrace.assets ON assets.externalId = orders.location"),
    ["externalId = location"],
  );
});

test("all rows are read where a row without a partner may matter", () => {
  const a = "a.externalId = o.location";
  for (const sql of [
    `SELECT * FROM millrace.assets a LEFT JOIN erp.orders o ON ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a LEFT JOIN erp.x ON ${a}`,
    `SELECT * FROM erp.orders o RIGHT JOIN millrace.assets a ON ${a}`,
    `SELECT * FROM erp.orders o FULL JOIN millrace.assets a ON ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON ${a} OR o.x`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON ${a} AND NOT o.x OR o.y`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON NOT ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON ${a} COLLATE NOCASE`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON ${a} IS NULL`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON ${a} || 'x'`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON (${a})`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON 1 = ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON o.x BETWEEN 1 AND ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON a.externalId > o.location`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a ON a.externalId = lower(o.location)`,
    `SELECT *, (SELECT count(*) FROM millrace.assets) FROM erp.orders o JOIN millrace.assets a ON ${a}`,
    `SELECT (SELECT id FROM millrace.assets a WHERE ${a}) FROM erp.orders o`,
    `SELECT * FROM erp.orders o JOIN erp.x o JOIN millrace.assets a ON ${a}`,
    `SELECT * FROM erp.orders o JOIN millrace.assets a USING (externalId)`,
    `SELECT * FROM erp.orders o NATURAL JOIN millrace.assets a WHERE ${a}`,
    `SELECT * FROM millrace.assets a WHERE a.externalId = 'location'`,
  ])
    assert.deepEqual(found(sql), [], sql);
});
