// Commit numbers of raw rows: a reader that remembers the last one it saw misses no later row.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newContext } from "../../../test/support/context.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { needs } from "../../../test/support/needs.ts";
import { newDatabase } from "../../../test/support/postgres.ts";
import type { RequestContext } from "../../context.ts";
import { realSystem } from "../../lib/system.ts";
import { everything } from "../../query/filter.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import type { AnyTable, Catalog } from "../../storage/catalog.ts";
import { openNaiveCatalog } from "../../storage/conformance/naive-catalog.ts";
import { openPostgresCatalog } from "../../storage/sql/postgres-catalog.ts";
import { openSqlCatalog } from "../../storage/sql/sql-catalog.ts";
import { assetTable } from "../assets/schema.ts";
import { createDatabases, createTables, deleteTables } from "./raw.ts";
import { deleteRows, lastRawCommit, listChangedRows, listRows, putRows, type RawRow } from "./rows.ts";
import { rawCommitTable, rawDatabaseTable, rawDeletionTable, rawRowTable, rawTableTable } from "./schema.ts";

const tables: readonly AnyTable[] = [
  assetTable,
  rawDatabaseTable,
  rawTableTable,
  rawRowTable,
  rawCommitTable,
  rawDeletionTable,
];
const name = { database: "plant", table: "pumps" };
const rowDeletions = { start: () => {} } as unknown as RequestContext["rowDeletions"];

/** Two catalogs of one database, as two servers have them. */
type Opening = () => Promise<readonly [Catalog, Catalog]>;

const sqlite: Opening = async () => {
  const file = `${temporaryFolder()}/catalog.db`;
  const open = () => openSqlCatalog({ file, tables, system: realSystem });
  return closing(await open(), await open());
};

const postgres: Opening = async () => {
  const { url, drop } = await newDatabase();
  const open = () => openPostgresCatalog({ url, tables, system: realSystem });
  const catalogs = [await open(), await open()] as const;
  after(async () => {
    for (const catalog of catalogs) await catalog.close();
    await drop();
  });
  return catalogs;
};

const naive: Opening = async () => {
  const catalog = openNaiveCatalog(tables);
  return [catalog, catalog];
};

function closing(one: Catalog, other: Catalog): readonly [Catalog, Catalog] {
  after(async () => {
    await one.close();
    await other.close();
  });
  return [one, other];
}

async function opened(open: Opening) {
  const [one, other] = await open();
  const first = newContext(one, { rowDeletions });
  const second: RequestContext = { ...first, catalog: other };
  await createDatabases(first, ["plant"]);
  await createTables(first, "plant", { tables: [{ name: "pumps" }], ensureParent: false });
  return [first, second] as const;
}

const put = (ctx: RequestContext, ...keys: readonly string[]) =>
  putRows(ctx, name, { rows: keys.map((key) => ({ key, columns: "{}" })), ensureParent: false });

async function changedAfter(ctx: RequestContext, afterCommit: number, limit = 7): Promise<RawRow[]> {
  const found: RawRow[] = [];
  for (let page: PageQuery | undefined = { limit }; page; ) {
    const next: Page<RawRow> = await listChangedRows(ctx, name, { afterCommit, page });
    found.push(...next.items);
    page = next.next && { limit, after: next.next };
  }
  return found;
}

const keysOf = (rows: readonly RawRow[]) => rows.map(({ key }) => key);

const openings = { naive, sqlite, ...(needs("postgresql").skip ? {} : { postgres }) };

for (const [kind, open] of Object.entries(openings)) {
  test(`${kind}: a write raises the commit number of its rows, in every table`, async () => {
    const [ctx] = await opened(open);
    assert.equal(await lastRawCommit(ctx), 0);
    await put(ctx, "b", "a");
    const mark = await lastRawCommit(ctx);
    await put(ctx, "c", "a");
    assert.deepEqual(keysOf(await changedAfter(ctx, mark)), ["a", "c"]);
    assert.deepEqual(keysOf(await changedAfter(ctx, 0)), ["b", "a", "c"]);
    assert.deepEqual(await changedAfter(ctx, await lastRawCommit(ctx)), []);
    await putRows(ctx, { ...name, table: "other" }, { rows: [], ensureParent: true });
    assert.equal(await lastRawCommit(ctx), mark + 1, "a write without rows raises nothing");
    await deleteRows(ctx, name, ["c"]);
    await put(ctx, "c");
    assert.deepEqual(keysOf(await changedAfter(ctx, mark + 1)), ["c"]);
    await deleteTables(ctx, "plant", ["pumps"]);
    const rows = [{ key: "a", columns: "{}" }];
    await putRows(ctx, name, { rows, ensureParent: true });
    assert.deepEqual(keysOf(await changedAfter(ctx, mark + 2)), ["a"], "a table of the same name is new");
  });

  test(`${kind}: a reader beside writers of two servers sees each row exactly once`, async () => {
    const contexts = await opened(open);
    const [first] = contexts;
    let isWriting = true;
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let at = 0; at < 25; at += 1)
        await put(contexts[writer % 2]!, `${writer}-${at}-x`, `${writer}-${at}-y`);
    });
    const seen: string[] = [];
    const reading = (async () => {
      let mark = 0;
      for (let last = false; ; ) {
        last = !isWriting;
        const next = await lastRawCommit(first);
        // Rows that are written between the two reads are in this result and in the next one.
        const found = (await changedAfter(first, mark, 50)).filter((row) => row.commitNumber! <= next);
        seen.push(...keysOf(found));
        mark = next;
        if (last) return;
      }
    })();
    await Promise.all(writers);
    isWriting = false;
    await reading;
    const all = await listRows(first, name, { filter: everything, page: { limit: 10_000 } });
    assert.equal(all.items.length, 300);
    assert.deepEqual(seen.toSorted(), keysOf(all.items).toSorted());
  });
}
