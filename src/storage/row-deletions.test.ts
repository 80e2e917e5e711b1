// Rows of deleted records: deleted in slices between other writes, and resumed after a stop.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { realSystem } from "../lib/system.ts";
import { everything } from "../query/filter.ts";
import type { AnyTable, Catalog } from "./catalog.ts";
import { lines, type PlaceLine, places, tables } from "./conformance/samples.ts";
import { insertPendingDeletions, type OwnedRows, RowDeletions } from "./row-deletions.ts";
import { openSqlCatalog } from "./sql/sql-catalog.ts";

const pendingDeletions: OwnedRows["pendingDeletions"] = {
  name: "line_erasures",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false } },
  indexes: [],
  unique: [],
  wordsOf: [],
};
const owned: OwnedRows = { rows: lines, pendingDeletions };

/** A catalog in which lines of places 1 to 3 are noted to go, and those of place 4 stay. */
async function doomed(linesOfEach: number): Promise<Catalog> {
  const file = join(temporaryFolder(), "catalog.db");
  const catalog = await openSqlCatalog({
    file,
    tables: [...tables, pendingDeletions as AnyTable],
    system: realSystem,
  });
  const rows: PlaceLine[] = [1, 2, 3, 4].flatMap((placeId) =>
    Array.from({ length: linesOfEach }, (_, at) => ({ placeId, name: `line ${at}` })),
  );
  await catalog.write(1, async (tx) => {
    await tx.put(lines, rows);
    await insertPendingDeletions(tx, owned, [1, 2, 3]);
  });
  return catalog;
}

const counts = (catalog: Catalog) =>
  catalog.read(1, async (tx) => [
    await tx.count(lines, everything),
    await tx.count(pendingDeletions, everything),
  ]);

test("rows go while other writes have their turn, and those of records that stay do not", async () => {
  const catalog = await doomed(3_000);
  const deletions = new RowDeletions(catalog, [owned], assert.ifError);
  deletions.start(1);
  let isOver = false;
  const settled = deletions.settled().then(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) {
    const id = turns + 1;
    await catalog.write(1, (tx) => tx.insert(places, [{ id, name: "p", path: `/${id}/`, depth: 0 }]));
  }
  await settled;
  assert.ok(turns > 2, `${turns} other writes`);
  assert.deepEqual(await counts(catalog), [3_000, 0]);
  await catalog.close();
});

test("what is left when they are ended goes with the next", async () => {
  const catalog = await doomed(1_000);
  const first = new RowDeletions(catalog, [owned], assert.ifError);
  first.start(1);
  await first.stop();
  const [rowsLeft = 0, notesLeft] = await counts(catalog);
  assert.ok(rowsLeft > 1_000 && notesLeft === 3, `${rowsLeft} rows, ${notesLeft} notes`);
  first.start(1);
  await first.settled();
  assert.deepEqual(await counts(catalog), [rowsLeft, notesLeft]);
  const next = new RowDeletions(catalog, [owned], assert.ifError);
  next.start(2);
  next.start(1);
  await next.settled();
  assert.deepEqual(await counts(catalog), [1_000, 0]);
  await catalog.close();
});

test("a failure is reported, and the next start continues", async () => {
  const catalog = await doomed(10);
  const reported: unknown[] = [];
  let isBroken = true;
  const write: Catalog["write"] = (tenant, work) =>
    isBroken ? Promise.reject(new Error("disk")) : catalog.write(tenant, work);
  const deletions = new RowDeletions({ ...catalog, write }, [owned], (problem) => reported.push(problem));
  deletions.start(1);
  await deletions.settled();
  assert.match(`${reported}`, /disk/);
  isBroken = false;
  deletions.start(1);
  await deletions.settled();
  assert.deepEqual([reported.length, ...(await counts(catalog))], [1, 10, 0]);
  await catalog.close();
});
