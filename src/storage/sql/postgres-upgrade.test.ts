// Two versions of a server on one PostgreSQL. The newer one adds a column, an index and a table. The older
// one continues to read, insert, replace and remove.
import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../../../test/support/needs.ts";
import { newDatabase } from "../../../test/support/postgres.ts";
import { realSystem } from "../../lib/system.ts";
import { everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { AnyTable, Table } from "../catalog.ts";
import { openPostgresCatalog } from "./postgres-catalog.ts";

interface Old {
  readonly id: number;
  readonly name: string;
}
interface New extends Old {
  readonly colour?: string;
}

const oldTable: Table<Old> = {
  name: "things",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false }, name: { type: "text", optional: false } },
  ...{ indexes: [], unique: [["name"]], wordsOf: ["name"] },
};
const newTable: Table<New> = {
  ...oldTable,
  columns: { ...oldTable.columns, colour: { type: "text", optional: true } },
  indexes: [["colour"]],
};
const added: Table<Old> = { ...oldTable, name: "more_things" };

test("an older server continues beside the schema of a newer one", needs("postgresql"), async (t) => {
  const { url, drop } = await newDatabase();
  const open = (...tables: readonly Table<never>[]) =>
    openPostgresCatalog({ url, tables: tables as unknown as readonly AnyTable[], system: realSystem });
  const older = await open(oldTable as never);
  await older.write(1, (tx) => tx.insert(oldTable, [{ id: 1, name: "one" }]));
  const newer = await open(newTable as never, added as never);
  // A restart of the older version, beside the newer one.
  const again = await open(oldTable as never);
  t.after(async () => {
    await Promise.all([older, newer, again].map((catalog) => catalog.close()));
    await drop();
  });
  await newer.write(1, (tx) => tx.replace(newTable, [{ id: 1, name: "one", colour: "red" }]));
  await newer.write(1, (tx) => tx.insert(added, [{ id: 5, name: "five" }]));
  await older.write(1, (tx) => tx.replace(oldTable, [{ id: 1, name: "uno" }]));
  await again.write(1, (tx) => tx.insert(oldTable, [{ id: 2, name: "two" }]));
  const query = { filter: everything, order: byId, page: { limit: 10 } };
  assert.deepEqual(await newer.read(1, (tx) => tx.find(newTable, query)), [
    // Replaced as a whole (docs/scale.md#upgrade).
    { id: 1, name: "uno" },
    { id: 2, name: "two" },
  ]);
  assert.equal((await newer.read(1, (tx) => tx.find(added, query))).length, 1);
  await older.write(1, (tx) => tx.remove(oldTable, everything));
  assert.deepEqual(await newer.read(1, (tx) => tx.find(newTable, query)), []);
});
