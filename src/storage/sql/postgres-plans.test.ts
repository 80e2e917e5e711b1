// Every list of the catalog in PostgreSQL reads an index in its order: no plan sorts or reads a whole table.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { needs } from "../../../test/support/needs.ts";
import { newDatabase } from "../../../test/support/postgres.ts";
import { underAsset } from "../../access/asset-subtree.ts";
import { realSystem } from "../../lib/system.ts";
import { type AssetRow, assetTable } from "../../resources/assets/schema.ts";
import { tables } from "../../resources.ts";
import type { AnyTable } from "../catalog.ts";
import { openPostgresCatalog } from "./postgres-catalog.ts";

/** The orders that a table is listed in: by id, by its key, and by each index and unique combination. */
function ordersOf({ key, columns, indexes, unique }: AnyTable): (readonly string[])[] {
  const isRequired = (names: readonly string[]) => names.every((name) => !columns[name]!.optional);
  return [key ?? ["id"], ...indexes, ...unique.filter((names) => names.length > 1 || !key)].filter(
    isRequired,
  );
}

test("the plan of each list is a scan of an index in its order", needs("postgresql"), async () => {
  const { url, drop } = await newDatabase();
  const catalog = await openPostgresCatalog({ url, tables, system: realSystem });
  const client = new pg.Client(url);
  await client.connect();
  // Tables are empty: with these, a plan sorts or reads a whole table only if it cannot do otherwise.
  await client.query("set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off");
  let plans = 0;
  for (const table of tables)
    for (const order of ordersOf(table)) {
      const by = [...order, ...(table.key || order.includes("id") ? [] : ["id"])];
      const isUnique = table.unique.some((names) => names.join() === order.join());
      const list = (isUnique ? order : by).map((name) => `"${name}"`).join(", ");
      const inProject = table.belongsTo === "project" ? "where in_project = 1" : "";
      const { rows } = await client.query<{ "QUERY PLAN": string }>(
        `explain select * from "${table.name}" ${inProject} order by ${list} limit 101`,
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      assert.match(plan, /Index (Only )?Scan using/, `${table.name} by ${list}\n${plan}`);
      assert.doesNotMatch(plan, /Sort|Seq Scan/, `${table.name} by ${list}\n${plan}`);
      plans++;
    }
  assert.ok(plans > 40, `${plans} plans`);
  await client.end();
  await catalog.close();
  await drop();
});

/** A value of each type for required columns. */
const samples = { integer: "1", real: "1", boolean: "1", text: "'x'", json: "'[]'" };

function insertOf({ name, belongsTo, columns }: AnyTable): string {
  const required = Object.entries(columns).filter(([, { optional }]) => !optional);
  const values = Object.fromEntries(required.map(([column, { type }]) => [`"${column}"`, samples[type]]));
  const all = { ...values, ...(belongsTo === "project" && { in_project: "1" }) };
  return `insert into "${name}" (${Object.keys(all).join()}) values (${Object.values(all).join()})`;
}

// Plans without statistics of the tables can take a time that grows with the third power of their size.
test(
  "autovacuum, which searches no schema, collects statistics of each table",
  needs("postgresql"),
  async () => {
    const { url, drop } = await newDatabase();
    const catalog = await openPostgresCatalog({ url, tables, system: realSystem });
    const client = new pg.Client(url);
    await client.connect();
    for (const table of tables) await client.query(insertOf(table));
    await client.end();
    const autovacuum = new pg.Client({ connectionString: url, options: "-c search_path=pg_catalog" });
    await autovacuum.connect();
    for (const { name } of tables) await autovacuum.query(`analyze public."${name}"`);
    await autovacuum.end();
    await catalog.close();
    await drop();
  },
);

// A server deletes at any time, also before autovacuum has collected statistics.
test("without statistics, a subtree is deleted in linear work", needs("postgresql"), async () => {
  const { url, drop } = await newDatabase();
  const catalog = await openPostgresCatalog({ url, tables, system: realSystem });
  const client = new pg.Client(url);
  await client.connect();
  await client.query("alter table assets set (autovacuum_enabled = off)");
  const count = 170;
  const common = { depth: 1, metadata: {}, createdTime: 1, lastUpdatedTime: 1 };
  const ids = Array.from({ length: count }, (_, index) => index + 2);
  const children = ids.map((id) => ({ ...common, id, name: `pump ${id}`, parentId: 1, path: `/1/${id}/` }));
  const root = { ...common, id: 1, name: "plant", path: "/1/" };
  const other = { ...root, id: 1_000, path: "/1000/" };
  const assets: AssetRow[] = [root, ...children, other];
  await catalog.write(1, (tx) => tx.insert(assetTable, assets));
  assert.equal(await catalog.write(1, (tx) => tx.remove(assetTable, underAsset([1]))), count + 1);
  const left = await catalog.read(1, (tx) => tx.get(assetTable, [1, 2, 1_000]));
  assert.deepEqual(
    left.map((one) => one?.id),
    [1_000],
  );
  // Sessions report the numbers of reads when they end.
  await catalog.close();
  const { rows } = await client.query<{ read: string }>(
    `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables
     where relname = 'assets'`,
  );
  assert.ok(Number(rows[0]!.read) < 100 * count, `${rows[0]!.read} records were read`);
  await client.end();
  await drop();
});

test("a search finds few records that an inverted index has not sorted in", needs("postgresql"), async () => {
  const { url, drop } = await newDatabase();
  const catalog = await openPostgresCatalog({ url, tables, system: realSystem });
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ name: string; options: string }>(
    `select c.relname::text as name, array_to_string(c.reloptions, ' ') as options
     from pg_class c join pg_am m on m.oid = c.relam
     where m.amname = 'gin' and c.relnamespace = 'public'::regnamespace`,
  );
  assert.ok(rows.length > 5, `${rows.length} inverted indexes`);
  for (const { name, options } of rows) assert.equal(options, "gin_pending_list_limit=64", name);
  await client.end();
  await catalog.close();
  await drop();
});
