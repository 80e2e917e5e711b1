// The SQL catalog on SQLite: the port's conformance suite, and tests that need a file and processes.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { longestTurnDuring } from "../../../test/support/turns.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { equals, everything, type Filter, hasOneOf, inSubtree, words } from "../../query/filter.ts";
import { LengthBound } from "../../query/length-bound.ts";
import { byId } from "../../query/page.ts";
import type { AnyTable, Catalog, Stored, Table } from "../catalog.ts";
import { catalogConformance, comparisons } from "../conformance/catalog.ts";
import {
  type Gauge,
  gauges,
  lines,
  type Note,
  notes,
  type Place,
  places,
  tables,
} from "../conformance/samples.ts";
import type { ScanLimits } from "./compile-filter.ts";
import { openSqlCatalog } from "./sql-catalog.ts";

const opening = (scanLimits?: ScanLimits) => async () => {
  const file = join(temporaryFolder(), "catalog.db");
  const catalog = await openSqlCatalog({
    file,
    tables,
    system: realSystem,
    ...(scanLimits && { scanLimits }),
  });
  return { catalog, drop: () => catalog.close() };
};

catalogConformance("sqlite", opening());
const few = { rejectedFirstMax: 0, lookupFirstMax: 1, rejectedMax: 10, lookupMax: 2, rankedMax: 2 };
catalogConformance("sqlite, three records being many", opening(few), comparisons);

/** A folder, and catalogs on files in it, closed by then. */
function workplace(t: TestContext) {
  const folder = temporaryFolder();
  const opened: Catalog[] = [];
  t.after(async () => {
    for (const catalog of opened) await catalog.close();
  });
  const open = async (name: string, declared: readonly AnyTable[] = tables): Promise<Catalog> => {
    const catalog = await openSqlCatalog({ file: join(folder, name), tables: declared, system: realSystem });
    opened.push(catalog);
    return catalog;
  };
  return { folder, open };
}

const place = (id: number, more: Partial<Place> = {}): Place => ({
  id,
  name: `place ${id}`,
  path: `/${id}/`,
  depth: 0,
  ...more,
});

const countPlaces = (catalog: Catalog): Promise<number> =>
  catalog.read(1, (tx) => tx.count(places, everything));

test("a page by links that are rare is bounded in length each time it is read", async (t) => {
  const { open } = workplace(t);
  const catalog = await open("catalog.db");
  const each = 4 * limits.recordsRejectedFirst;
  const text = "n".repeat(1000);
  // Of 200 records in a row the first one is linked to place 1, the last one to place 3, the others to place
  // 2.
  const links = Array.from({ length: 10 * each }, (_, at) => [1, 3][[0, each - 1].indexOf(at % each)] ?? 2);
  await catalog.write(1, async (tx) => {
    const all = links.map((placeId, at) => ({ id: 1_000 + at, placeId }));
    const roots = [1, 2, 3].map((id) => place(id, { description: text }));
    const below = all.map(({ id, placeId }) => place(id, { path: `/${placeId}/${id}/`, description: text }));
    await tx.insert(places, [...roots, ...below]);
    const ofGauges = all.map(({ id, placeId }) => ({ id, name: `${text}${id}`, placeId }));
    await tx.insert(gauges, ofGauges);
    const ofNotes = all.map(({ id, placeId }) => ({ id, text, placeIds: [placeId] }));
    await tx.insert(notes, ofNotes);
  });
  const read = async (table: AnyTable, filter: Filter, limit: number) => {
    const bound = new LengthBound(2_500);
    const question = { filter, order: byId, page: { limit, bound } };
    const found = await catalog.read(1, (tx) => tx.find(table as Table<Stored>, question));
    assert.ok(bound.used > 3_000 && bound.used < 4_000, `${bound.used}`);
    assert.equal(bound.cuts, 1);
    return found.map(({ id }) => id);
  };
  for (const [placeId, first] of [
    [1, 1_000],
    [3, 999 + each],
  ] as const)
    for (const limit of [100, 100, 1_000, 1_000]) {
      const ids = [first, first + each, first + 2 * each];
      assert.deepEqual(await read(gauges, inSubtree("places", [placeId]), limit), ids);
      assert.deepEqual(await read(notes, hasOneOf("placeIds", [placeId]), limit), ids);
      assert.deepEqual(await read(places, inSubtree("places", [placeId]), limit), [
        placeId,
        ...ids.slice(0, 2),
      ]);
    }
});

test("two processes write the same file at the same time, and each sees the other's records", async (t) => {
  const { folder, open } = workplace(t);
  const catalog = await open("catalog.db");
  const modules = ["./sql-catalog.ts", "../conformance/samples.ts", "../../lib/system.ts"];
  const [opening, samples, system] = modules.map((path) =>
    JSON.stringify(new URL(path, import.meta.url).href),
  );
  const other = `
    const [{ openSqlCatalog }, { tables, places }, { realSystem }] =
      await Promise.all([import(${opening}), import(${samples}), import(${system})]);
    const file = ${JSON.stringify(join(folder, "catalog.db"))};
    const catalog = await openSqlCatalog({ file, tables, system: realSystem });
    for (let id = 1001; id <= 1010; id++) {
      const place = { id, name: "theirs", path: "/" + id + "/", depth: 0 };
      await catalog.write(1, (tx) => tx.insert(places, [place]));
    }
    const ours = { kind: "equals", field: "name", value: "ours" };
    console.log(await catalog.read(1, (tx) => tx.count(places, ours)));
    await catalog.close();
  `;
  const version = await catalog.foreignVersion!();
  await catalog.write(1, (tx) => tx.insert(places, [place(1, { name: "ours" })]));
  assert.equal(await catalog.foreignVersion!(), version, "its own writes do not count");
  await writeFile(join(folder, "other.mjs"), other);
  const theirs = promisify(execFile)(process.execPath, [join(folder, "other.mjs")]);
  for (let id = 2; id <= 10; id++) {
    await catalog.write(1, async (tx) => {
      const before = await tx.count(places, everything);
      await tx.insert(places, [place(id, { name: "ours" })]);
      assert.equal(await tx.count(places, everything), before + 1);
    });
  }
  assert.ok(Number((await theirs).stdout) >= 1);
  assert.notEqual(await catalog.foreignVersion!(), version);
  assert.equal(await countPlaces(catalog), 20);
  assert.equal(await catalog.lastId(), 1010);
});

test("what was acknowledged is in a copy of the files taken without closing", async (t) => {
  const { folder, open } = workplace(t);
  const catalog = await open("catalog.db");
  for (let id = 1; id <= 5; id++) await catalog.write(1, (tx) => tx.insert(places, [place(id)]));
  let arrived = () => {};
  const underWay = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let finish = () => {};
  const unfinished = catalog.write(1, async (tx) => {
    await tx.insert(places, [place(6)]);
    arrived();
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await underWay;
  for (const name of await readdir(folder)) {
    if (!name.endsWith("-shm")) await copyFile(join(folder, name), join(folder, `copy-of-${name}`));
  }
  finish();
  await unfinished;
  const copy = await open("copy-of-catalog.db");
  assert.equal(await countPlaces(copy), 5);
  assert.equal(await copy.read(1, (tx) => tx.count(places, words(["name"], "place"))), 5);
  assert.equal(await copy.lastId(), 5);
});

test("a while after the last change all of it is in the file, and the log is empty", async (t) => {
  const { folder, open } = workplace(t);
  const catalog = await open("idle.db");
  await catalog.write(1, (tx) => tx.insert(places, [place(1)]));
  const bytesOfLog = async () => (await stat(join(folder, "idle.db-wal"))).size;
  assert.ok((await bytesOfLog()) > 0);
  const untilMs = Date.now() + 60_000;
  while ((await bytesOfLog()) > 0 && Date.now() < untilMs) await pause(100);
  assert.equal(await bytesOfLog(), 0);
  await catalog.write(1, (tx) => tx.insert(places, [place(2)]));
  assert.equal(await countPlaces(catalog), 2);
});

test("a file of an older version gains new columns, tables, indexes, words and links", async (t) => {
  const { folder, open } = workplace(t);
  const { description: _, ...fewer } = places.columns;
  const older = {
    ...places,
    columns: fewer,
    indexes: [["depth", "name"]],
    wordsOf: ["name"],
  } as unknown as Table<Place>;
  const { links: __, ...unlinked } = notes;
  const before = await open("catalog.db", [older as AnyTable, unlinked as AnyTable]);
  await before.write(1, async (tx) => {
    await tx.insert(older, [place(1, { name: "Pump" }), place(2)]);
    await tx.insert<Note>(unlinked, [
      { id: 8, text: "n", placeIds: [1, 2] },
      { id: 9, text: "none" },
    ]);
  });
  await before.close();
  const after = await open("catalog.db");
  await after.write(1, async (tx) => {
    await tx.insert(places, [place(3, { description: "old pump" })]);
    await tx.insert(gauges, [{ id: 4, name: "g", placeId: 1 }]);
  });
  await after.read(1, async (tx) => {
    assert.equal(await tx.count(places, words(["name", "description"], "pump")), 2);
    assert.equal(await tx.count(places, equals("description", null)), 2);
    assert.equal(await tx.count(notes, hasOneOf("placeIds", [2, 3])), 1);
  });
  await after.close();
  const db = new DatabaseSync(join(folder, "catalog.db"));
  const index = db.prepare("select 1 from sqlite_schema where name = 'places__index__depth__name'");
  assert.equal(index.get(), undefined);
  db.close();
});

test("opening a large file of an older version reports the progress of the migration", async (t) => {
  const { folder, open } = workplace(t);
  const older: Table<Note> = { ...notes, wordsOf: [] };
  const before = await open("catalog.db", [places, older]);
  const count = limits.recordsIndexedAtOnce + 1;
  const rows: Note[] = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    text: at % 2 ? "odd" : "even",
  }));
  await before.write(1, (tx) => tx.insert(older, rows));
  await before.close();
  const told: string[] = [];
  const file = join(folder, "catalog.db");
  const openAgain = () =>
    openSqlCatalog({ file, tables: [places, notes], system: realSystem, tell: (text) => told.push(text) });
  const after = await openAgain();
  t.after(() => after.close());
  const ofWords = told.filter((text) => text.includes("notes__words"));
  assert.deepEqual(
    ofWords.map((text) => text.split(", ")[1]),
    [0, count - 1, count].map((done) => `${done} of ${count} records`),
  );
  assert.equal(await after.read(1, (tx) => tx.count(notes, words(["text"], "odd"))), (count - 1) / 2);
  const heard = told.length;
  await (await openAgain()).close();
  assert.equal(told.length, heard);
});

test("rows that an older version kept by id are found and replaced by their key", async (t) => {
  const { open } = workplace(t);
  const { key: _, ...unkeyed } = lines;
  const id = { type: "integer", optional: false } as const;
  const older = { ...unkeyed, columns: { id, ...lines.columns }, unique: [["placeId", "name"]] };
  const before = await open("catalog.db", [older as unknown as AnyTable]);
  const [one, two, three] = ["a", "b", "c"].map((name) => ({ placeId: 1, name, text: "old" }));
  await before.write(1, (tx) =>
    tx.insert(older as unknown as Table<Stored>, [
      { id: 2 ** 52, ...one },
      { id: 7, ...two },
    ]),
  );
  await before.close();
  const after = await open("catalog.db");
  await after.write(1, (tx) => tx.put(lines, [{ ...two!, text: "new" }, three!]));
  const order = [{ field: "name", direction: "ascending" } as const];
  const stored = await after.read(1, (tx) =>
    tx.find(lines, { filter: everything, order, page: { limit: 9 } }),
  );
  assert.deepEqual(stored, [one, { ...two, text: "new" }, three]);
});

test("opening an unchanged file again rebuilds nothing", async (t) => {
  const { folder, open } = workplace(t);
  const layout = () => {
    const db = new DatabaseSync(join(folder, "catalog.db"));
    const found = db.prepare("select name, sql, rootpage from sqlite_schema order by name").all();
    db.close();
    return found;
  };
  await (await open("catalog.db")).close();
  const first = layout();
  await (await open("catalog.db")).close();
  assert.deepEqual(layout(), first);
});

test("a new column that is required, and a file of a newer layout, are refused", async (t) => {
  const { folder, open } = workplace(t);
  await (await open("catalog.db")).close();
  const size = { type: "integer", optional: false } as const;
  const wider: Table<Gauge & { size: number }> = { ...gauges, columns: { ...gauges.columns, size } };
  await assert.rejects(open("catalog.db", [places, wider]), /gauges\.size/);
  const db = new DatabaseSync(join(folder, "catalog.db"));
  db.exec("update catalog_meta set value = 99 where name = 'layout version'");
  db.close();
  await assert.rejects(open("catalog.db"), { nextStep: /newer version/ });
});

test("what an upgrade adds is announced, and an older version refuses the file afterwards", async (t) => {
  const { folder } = workplace(t);
  const told: string[] = [];
  const openAs = async (version: string, declared: readonly AnyTable[]) => {
    const file = join(folder, "catalog.db");
    const tell = (text: string) => told.push(text);
    await (await openSqlCatalog({ file, tables: declared, system: realSystem, version, tell })).close();
  };
  const older = tables.filter((table) => table.name !== "notes");
  await openAs("0.9.7", older);
  await openAs("0.10.0-rc.1", older);
  assert.deepEqual(told, []);
  const tooOld = { message: "catalog.db has tables of Millrace 0.9.7; this is 0.9.0" };
  await assert.rejects(openAs("0.9.0", older), tooOld);
  const colour = { type: "text", optional: true } as const;
  const wider: Table<Gauge & { colour?: string }> = { ...gauges, columns: { ...gauges.columns, colour } };
  const newer = [...tables.filter((table) => table.name !== "gauges"), wider as AnyTable];
  await openAs("0.10.0", newer);
  assert.match(told.shift()!, /^Upgrading the catalog to 0\.10\.0\. New.*: notes, gauges\.colour\.$/m);
  await openAs("0.10.0", newer);
  assert.deepEqual(told, []);
  const refused = {
    message: "catalog.db has tables of Millrace 0.10.0; this is 0.9.7",
    nextStep: /newer version/,
  };
  await assert.rejects(openAs("0.9.7", older), refused);
  assert.deepEqual(told, [], "it is refused before it begins");
  await openAs("1.0.0", newer);
  await openAs("0.10.1", newer);
});

test("names are looked up by their index even when another order is requested", async (t) => {
  const { folder, open } = workplace(t);
  await (await open("catalog.db")).close();
  const db = new DatabaseSync(join(folder, "catalog.db"));
  const plan = db
    .prepare("explain query plan select * from places where in_project = ? and name = ? order by depth, id")
    .all();
  db.close();
  assert.match(String(plan[0]!["detail"]), /places__index__name \(in_project=\? AND name=\?\)/);
});

test("an integer that could not be read again is not stored", async (t) => {
  const { open } = workplace(t);
  const catalog = await open("catalog.db");
  await catalog.write(1, (tx) => tx.insert(places, [place(1)]));
  for (const depth of [2 ** 53, -(2 ** 53), 1e300, 0.5]) {
    await assert.rejects(catalog.write(1, (tx) => tx.insert(places, [place(2, { depth })])));
    await assert.rejects(catalog.write(1, (tx) => tx.setColumns(places, ["depth"], [{ id: 1, depth }])));
  }
  const page = {
    filter: everything,
    order: [{ field: "id", direction: "ascending" }],
    page: { limit: 9 },
  } as const;
  assert.deepEqual(await catalog.read(1, (tx) => tx.find(places, page)), [place(1)]);
});

test("many long records are written and read in turns of the event loop that stay short", async (t) => {
  const { open } = workplace(t);
  const catalog = await open("catalog.db");
  const metadata = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`key ${i}`, `value ${i}`]));
  const rows = Array.from({ length: 6_000 }, (_, i) =>
    place(i + 1, { metadata: { ...metadata, i: `${i}` } }),
  );
  const question = { filter: everything, order: byId, page: { limit: rows.length } };
  const { result: found, longestMs } = await longestTurnDuring(async () => {
    await catalog.write(1, (tx) => tx.insert(places, rows));
    return catalog.read(1, (tx) => tx.find(places, question));
  });
  assert.deepEqual(found, rows);
  // In one turn each, the records took 75 ms to encode and 325 ms to read.
  assert.ok(longestMs < 75, `${longestMs} ms of processor time in one turn`);
});
