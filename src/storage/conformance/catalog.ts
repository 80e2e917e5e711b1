// The conformance suite of the catalog port: every backend must pass it, compared with the naive one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { limits } from "../../limits.ts";
import {
  and,
  containsIgnoringCase,
  equals,
  everything,
  type Filter,
  inSubtree,
  oneOf,
  startsWith,
  words,
} from "../../query/filter.ts";
import { LengthBound } from "../../query/length-bound.ts";
import { byId, type OrderBy, type PageQuery, type Position } from "../../query/page.ts";
import {
  type Catalog,
  type CatalogReader,
  type CatalogWriter,
  type Stored,
  type Table,
  UniqueViolation,
} from "../catalog.ts";
import { readPage } from "../read-page.ts";
import { openNaiveCatalog } from "./naive-catalog.ts";
import {
  type Gauge,
  gauges,
  hostileTexts,
  lines,
  marks,
  type Note,
  notes,
  type Place,
  type PlaceLine,
  places,
  secrets,
  someFilter,
  someGauges,
  someLines,
  someLinkFilter,
  someListFilter,
  someNotes,
  someOrder,
  somePlaces,
  someRank,
  someRankedSearch,
  someSearchOrder,
  tables,
} from "./samples.ts";

/** Opens an empty catalog of `tables`; `drop` closes it and takes its files away. */
export type OpenCatalog = () => Promise<{ catalog: Catalog; drop: () => Promise<void> }>;

type Scenario = (catalog: Catalog) => Promise<void>;

const allBy = (order: readonly OrderBy[]) => ({ filter: everything, order, page: { limit: 10_000 } });
const byKey: readonly OrderBy[] = [
  { field: "placeId", direction: "ascending" },
  { field: "name", direction: "ascending" },
];
const idsOf = (rows: readonly Stored[]): number[] => rows.map(({ id }) => id);
const place = (id: number, more: Partial<Place> = {}): Place => ({
  id,
  name: `place ${id}`,
  path: `/${id}/`,
  depth: 0,
  ...more,
});

const all = <Row extends Stored>(
  catalog: Catalog,
  table: Table<Row>,
  tenant: number | "system" = 1,
): Promise<Row[]> => catalog.read(tenant, (tx) => tx.find(table, allBy(byId)));

/** Runs the suite, or a part of it, on one backend, each scenario on an empty catalog of its own. */
export function catalogConformance(
  backend: string,
  open: OpenCatalog,
  scenarios: Readonly<Record<string, Scenario>> = { ...contract, ...comparisons },
): void {
  for (const [name, scenario] of Object.entries(scenarios)) {
    test(`${backend}: ${name}`, async () => {
      const { catalog, drop } = await open();
      try {
        await scenario(catalog);
      } finally {
        await drop();
      }
    });
  }
}

const contract: Readonly<Record<string, Scenario>> = {
  async "a record comes back as it was put, and missing values are absent members"(catalog) {
    const rows = hostileTexts.map((text, at) =>
      place(at + 1, {
        name: `${text} ${at}`.toWellFormed(),
        description: text.toWellFormed(),
        closed: at % 2 === 0,
        weight: at / 3,
        metadata: { [text.toWellFormed()]: text.toWellFormed(), other: "" },
      }),
    );
    rows.push(place(2 ** 53 - 1, { weight: 1.7976931348623157e308 }));
    await catalog.write(1, (tx) => tx.insert(places, rows));
    assert.deepEqual(await all(catalog, places), rows);
    const back = await catalog.read(1, (tx) => tx.get(places, [3, 1, 99_999, 3]));
    assert.deepEqual(back, [rows[2], rows[0], rows[2]]);
    assert.deepEqual(await catalog.read(1, (tx) => tx.get(places, [])), []);
  },

  async "what is handed in or out is a copy"(catalog) {
    const metadata = { a: "b" };
    await catalog.write(1, (tx) => tx.insert(places, [place(1, { metadata })]));
    metadata.a = "changed";
    const [row] = await all(catalog, places);
    Object.assign(row!, { name: "changed" });
    assert.deepEqual(await all(catalog, places), [place(1, { metadata: { a: "b" } })]);
  },

  async "a write that throws changes nothing, and the next one runs"(catalog) {
    await catalog.write(1, (tx) => tx.insert(places, [place(1)]));
    const refused = catalog.write(1, async (tx) => {
      await tx.insert(places, [place(2)]);
      await tx.replace(places, [place(1, { name: "new" })]);
      await tx.remove(places, equals("id", 1));
      throw new Error("on purpose");
    });
    await assert.rejects(refused, /on purpose/);
    assert.deepEqual(await all(catalog, places), [place(1)]);
    await catalog.write(1, (tx) => tx.insert(places, [place(3)]));
    assert.deepEqual(idsOf(await all(catalog, places)), [1, 3]);
  },

  async "a write of a project and the system tables is both or none"(catalog) {
    const secret = { id: 7, name: "s" };
    const both = (fails: boolean) =>
      catalog.writeBoth(1, async (tx, system) => {
        await tx.insert(places, [place(1)]);
        await system.insert(secrets, [secret]);
        assert.deepEqual(idsOf(await tx.find(places, allBy(byId))), [1]);
        assert.ok(idsOf(await system.find(secrets, allBy(byId))).includes(7));
        if (fails) throw new Error("on purpose");
      });
    await assert.rejects(both(true), /on purpose/);
    assert.deepEqual([await all(catalog, places), await all(catalog, secrets, "system")], [[], []]);
    const other = catalog.write("system", (tx) => tx.insert(secrets, [{ id: 8, name: "t" }]));
    await Promise.all([both(false), other]);
    assert.deepEqual(idsOf(await all(catalog, places)), [1]);
    assert.deepEqual(idsOf(await all(catalog, secrets, "system")), [7, 8]);
    assert.deepEqual(await all(catalog, places, 2), []);
    assert.equal(await catalog.lastId(), 8);
  },

  async "a taken combination is a UniqueViolation that names it, and changes nothing"(catalog) {
    await catalog.write(1, (tx) => tx.insert(places, [place(1), place(2, { parentId: 1, name: "x" })]));
    const same = place(3, { parentId: 1, name: "x" });
    const attempts: [(tx: CatalogWriter) => Promise<void>, readonly string[]][] = [
      [(tx) => tx.insert(places, [place(9), same]), ["parentId", "name"]],
      [(tx) => tx.insert(places, [place(9), place(1, { name: "other" })]), ["id"]],
      [(tx) => tx.insert(places, [place(9), place(9)]), ["id"]],
      [(tx) => tx.replace(places, [place(1, { parentId: 1, name: "x" })]), ["parentId", "name"]],
      [(tx) => tx.insert(gauges, [gauge(1), { ...gauge(2), name: "g1" }]), ["name"]],
    ];
    for (const [attempt, columns] of attempts) {
      const swallowed = async (tx: CatalogWriter) => void (await attempt(tx).catch(() => undefined));
      for (const work of [attempt, swallowed]) {
        await assert.rejects(catalog.write(1, work), (error) => {
          assert.ok(error instanceof UniqueViolation);
          assert.deepEqual(error.columns, columns);
          return true;
        });
      }
    }
    assert.deepEqual(idsOf(await all(catalog, places)), [1, 2]);
    assert.deepEqual(await all(catalog, gauges), []);
  },

  async "combinations with a missing value, and those of other projects, are not taken"(catalog) {
    await catalog.write(1, (tx) => tx.insert(places, [place(1, { name: "x" }), place(2, { name: "x" })]));
    await catalog.write(1, (tx) => tx.insert(places, [place(3, { name: "x", parentId: 1 })]));
    await catalog.write(2, (tx) => tx.insert(places, [place(4, { name: "x", parentId: 1 })]));
    await catalog.write(1, (tx) => tx.insert(gauges, [gauge(1), gauge(2)]));
    await catalog.write(1, (tx) => tx.replace(gauges, [gauge(1, 2), gauge(2, 1)]));
    assert.deepEqual(await all(catalog, gauges), [gauge(1, 2), gauge(2, 1)]);
  },

  async "only records that exist in the project are replaced"(catalog) {
    await catalog.write(1, (tx) => tx.insert(places, [place(1)]));
    await assert.rejects(catalog.write(1, (tx) => tx.replace(places, [place(1, { name: "new" }), place(2)])));
    await assert.rejects(catalog.write(2, (tx) => tx.replace(places, [place(1, { name: "new" })])));
    assert.deepEqual(await all(catalog, places), [place(1)]);
  },

  async "columns can be written alone, of records that exist in the project"(catalog) {
    const one = place(1, { parentId: 1, name: "same", description: "old" });
    await catalog.write(1, (tx) => tx.insert(places, [one, place(2), place(3, { name: "same" })]));
    await catalog.write(1, (tx) =>
      tx.setColumns(
        places,
        ["path"],
        [
          { id: 2, path: "/1/2/" },
          { id: 1, path: "/9/1/" },
        ],
      ),
    );
    assert.deepEqual(await all(catalog, places), [
      { ...one, path: "/9/1/" },
      place(2, { path: "/1/2/" }),
      place(3, { name: "same" }),
    ]);
    assert.equal(await catalog.read(1, (tx) => tx.count(places, words(["name"], "same"))), 2);
    const refused: ((tx: CatalogWriter) => Promise<void>)[] = [
      (tx) =>
        tx.setColumns(
          places,
          ["path"],
          [
            { id: 1, path: "/" },
            { id: 7, path: "/" },
          ],
        ),
      (tx) => tx.setColumns(places, ["name"], [{ id: 1, name: "new" }]),
    ];
    for (const work of refused) await assert.rejects(catalog.write(1, work));
    await assert.rejects(catalog.write(2, (tx) => tx.setColumns(places, ["path"], [{ id: 1, path: "/" }])));
    assert.equal((await all(catalog, places))[0]!.path, "/9/1/");
  },

  async "rows with a key are put by it: new ones inserted, others replaced, the last of several stays"(
    catalog,
  ) {
    const line = (name: string, text?: string, placeId = 1): PlaceLine => ({
      ...{ placeId, name },
      ...(text !== undefined && { text }),
    });
    const held = (project: number) => catalog.read(project, (tx) => tx.find(lines, allBy(byKey)));
    await catalog.write(1, (tx) => tx.put(lines, [line("b", "old"), line("a", "a"), line("b", "b", 2)]));
    await catalog.write(2, (tx) => tx.put(lines, [line("b", "of 2")]));
    await catalog.write(1, async (tx) => {
      await tx.put(lines, [line("c", "first"), line("b"), line("c", "last")]);
      await tx.put(lines, []);
    });
    assert.deepEqual(await held(1), [line("a", "a"), line("b"), line("c", "last"), line("b", "b", 2)]);
    assert.deepEqual(await held(2), [line("b", "of 2")]);
    assert.equal(await catalog.lastId(), 0);
    const failed = catalog.write(1, async (tx) => {
      await tx.put(lines, [line("a", "changed"), line("z")]);
      throw new Error("on purpose");
    });
    await assert.rejects(failed, /on purpose/);
    assert.equal(await catalog.write(1, (tx) => tx.remove(lines, equals("placeId", 1))), 3);
    assert.deepEqual(await held(1), [line("b", "b", 2)]);
    await assert.rejects(
      catalog.write(1, (tx) => tx.put(gauges, [gauge(1)])),
      /has a key/,
    );
  },

  async "a project neither sees nor changes another's records"(catalog) {
    const one = [place(1, { metadata: { a: "b" } }), place(2, { path: "/1/2/", parentId: 1 })];
    await catalog.write(1, (tx) => tx.insert(places, one));
    await catalog.write(1, (tx) => tx.insert(gauges, [{ id: 1, name: "g", placeId: 1 }]));
    await catalog.write(2, async (tx) => {
      await tx.insert(gauges, [{ id: 2, name: "g", placeId: 1 }]);
      assert.equal(await tx.remove(places, everything), 0);
      assert.deepEqual(await tx.get(places, [1, 2]), []);
      assert.equal(await tx.count(places, everything), 0);
      assert.equal(await tx.count(gauges, inSubtree("places", [1])), 0);
      assert.equal(await tx.count(places, words(["name"], "place")), 0);
      assert.deepEqual(
        await tx.search(places, { filter: everything, rank: [], order: byId, limit: 9, offset: 0 }),
        [],
      );
      assert.deepEqual(await tx.divide(places, { filter: everything, order: byId, parts: 2 }), []);
    });
    assert.deepEqual(await all(catalog, places), one);
    assert.deepEqual(await all(catalog, gauges), [{ id: 1, name: "g", placeId: 1 }]);
    assert.deepEqual(await all(catalog, gauges, 2), [{ id: 2, name: "g", placeId: 1 }]);
  },

  async "system tables are apart from projects"(catalog) {
    await catalog.write("system", (tx) => tx.insert(secrets, [{ id: 5, name: "s" }]));
    assert.deepEqual(await all(catalog, secrets, "system"), [{ id: 5, name: "s" }]);
    await assert.rejects(all(catalog, secrets, 1), /tenant/);
    await assert.rejects(all(catalog, places, "system"), /tenant/);
  },

  async "a write sees its own changes; readers see them when it has ended"(catalog) {
    await catalog.write(1, async (tx) => {
      await tx.insert(places, [place(1), place(2, { name: "Pümpe" })]);
      assert.equal(await tx.count(places, words(["name"], "PÜM")), 1);
      await tx.replace(places, [place(2, { name: "other" })]);
      assert.equal(await tx.count(places, words(["name"], "PÜM")), 0);
      assert.equal(await tx.remove(places, words(["name"], "other")), 1);
      assert.deepEqual(idsOf(await tx.find(places, allBy(byId))), [1]);
      assert.deepEqual(await all(catalog, places), []);
    });
    assert.deepEqual(idsOf(await all(catalog, places)), [1]);
  },

  async "a read sees one state during writes"(catalog) {
    await catalog.write(1, (tx) => tx.insert(places, [place(1)]));
    await catalog.read(1, async (tx) => {
      assert.equal(await tx.count(places, everything), 1);
      await catalog.write(1, (writer) => writer.insert(places, [place(2)]));
      assert.equal(await catalog.read(1, (other) => other.count(places, everything)), 2);
      assert.equal(await tx.count(places, everything), 1);
    });
  },

  async "writes run one after another, and no statement strays out of its transaction"(catalog) {
    const adding = Array.from({ length: 20 }, () =>
      catalog.write(1, async (tx) => {
        const count = await tx.count(places, everything);
        await tx.insert(places, [place(count + 1)]);
      }),
    );
    await Promise.all(adding);
    assert.equal((await all(catalog, places)).length, 20);
    let leaked: CatalogWriter | undefined;
    const stray = catalog.write(1, async (tx) => {
      leaked = tx;
      const late = [100, 101].map((id) => tx.insert(places, [place(id)]));
      late.push(Promise.reject(new Error("!")));
      for (const one of late) one.catch(() => undefined);
      await Promise.all(late);
    });
    const next = catalog.write(1, async (tx) => void (await tx.count(places, everything)));
    await assert.rejects(stray);
    await next;
    await assert.rejects(async () => leaked!.insert(places, [place(102)]), /ended/);
    assert.equal((await all(catalog, places)).length, 20);
  },

  async "a change that pauses ends with its transaction, wherever it is"(catalog) {
    const many = Array.from({ length: limits.itemsWithoutPause + 1 }, (_, at) => place(at));
    for (let turns = 0; turns < 8; turns++) {
      let change: Promise<unknown> | undefined;
      const given = catalog.write(1, async (tx) => {
        change = Promise.allSettled([tx.insert(places, many)]);
        for (let passed = 0; passed < turns; passed++) await turn();
        throw new Error("given up");
      });
      await assert.rejects(given, /given up/);
      await change;
      assert.deepEqual(await all(catalog, places), [], `given up after ${turns} turns`);
    }
  },

  async "the highest id stays known after its record has gone, not after a write that failed"(catalog) {
    assert.equal(await catalog.lastId(), 0);
    await catalog.write(1, (tx) => tx.insert(places, [place(70), place(30)]));
    await catalog.write(2, (tx) => tx.insert(gauges, [gauge(50)]));
    await catalog.write(1, (tx) => tx.remove(places, everything));
    await assert.rejects(
      catalog.write(1, async (tx) => {
        await tx.insert(places, [place(90)]);
        throw new Error("on purpose");
      }),
    );
    assert.equal(await catalog.lastId(), 70);
  },

  async "links to removed records are cleared in every table, and no other links"(catalog) {
    const linked = [gauge(1), { ...gauge(2), placeId: 7 }, { ...gauge(3), placeId: 8 }];
    const listed = [note(1), note(2, [9, 7, 8]), note(3, [7]), note(4, [9, 100])];
    for (const project of [1, 2])
      await catalog.write(project, async (tx) => {
        const at = project * 1_000;
        const own = <Row extends { readonly id: number }>(row: Row): Row => ({ ...row, id: row.id + at });
        await tx.insert(gauges, linked.map(own));
        await tx.insert(notes, listed.map(own));
      });
    await catalog.write(1, (tx) =>
      tx.insert(
        places,
        [7, 8, 9].map((id) => place(id)),
      ),
    );
    const held = (project: number) =>
      catalog.read(project, async (tx) => [
        (await tx.find(gauges, allBy(byId))).map(({ placeId }) => placeId),
        (await tx.find(notes, allBy(byId))).map(({ placeIds }) => placeIds),
      ]);
    const before = await held(2);
    await catalog.write(1, (tx) => tx.replace(places, [place(7, { name: "renamed" })]));
    assert.deepEqual(await held(1), before);
    await catalog.write(1, (tx) => tx.remove(places, oneOf("id", [7, 8, 100])));
    assert.deepEqual(await held(1), [
      [undefined, undefined, undefined],
      [undefined, [9], [], [9, 100]],
    ]);
    assert.deepEqual(await held(2), before);
  },

  async "records whose link says so are removed with the record they name, and no others"(catalog) {
    const held = (project: number) => all(catalog, marks, project);
    const ofProject = (project: number) =>
      [
        { id: 1, placeId: 7 },
        { id: 2, placeId: 8, gaugeId: 1 },
        { id: 3, placeId: 8, gaugeId: 2 },
        { id: 4, placeId: 9, gaugeId: 2 },
      ].map((mark) => ({ ...mark, id: mark.id + project * 1_000 }));
    for (const project of [1, 2]) await catalog.write(project, (tx) => tx.insert(marks, ofProject(project)));
    await catalog.write(1, async (tx) => {
      await tx.insert(
        places,
        [7, 8, 9].map((id) => place(id)),
      );
      await tx.insert(gauges, [gauge(1), gauge(2)]);
    });
    const [, second, third, fourth] = ofProject(1);
    assert.equal(await catalog.write(1, (tx) => tx.remove(places, oneOf("id", [7, 100]))), 1);
    assert.deepEqual(await held(1), [second, third, fourth]);
    await catalog.write(1, (tx) => tx.remove(gauges, oneOf("id", [2])));
    assert.deepEqual(await held(1), [second]);
    await assert.rejects(
      catalog.write(1, async (tx) => {
        await tx.remove(places, everything);
        throw new Error("on purpose");
      }),
    );
    assert.deepEqual(await held(1), [second]);
    assert.deepEqual(await held(2), ofProject(2));
  },

  async "long lists and deep trees of conditions are evaluated"(catalog) {
    const rows = Array.from({ length: 50 }, (_, at) => place(at + 1, { name: `p${at + 1}` }));
    await catalog.write(1, (tx) => tx.insert(places, rows));
    const ids = Array.from({ length: 10_000 }, (_, at) => at * 2);
    const names = ids.map((id) => `p${id}`);
    await catalog.read(1, async (tx) => {
      assert.equal(await tx.count(places, and(oneOf("id", ids), oneOf("name", [...names, "p1"]))), 25);
      const parts = Array.from({ length: 2_000 }, (_, at) => equals("name", `p${at * 2}`));
      assert.equal(await tx.count(places, { kind: "or", parts }), 25);
      assert.equal(await tx.count(places, words(["name"], "p4 ".repeat(300))), 11);
      assert.equal((await tx.get(places, ids)).length, 25);
    });
  },

  async "of few records that list an asset and of many the same are found"(catalog) {
    const many = 5_010;
    const rows = Array.from({ length: many }, (_, at) => ({
      id: at + 1,
      text: `note ${at % 7}`,
      placeIds: at % 1_000 === 0 ? [20, 10] : [10],
    }));
    const tree = [place(10), place(20, { path: "/10/20/", parentId: 10 })];
    await catalog.write(1, async (tx) => {
      await tx.insert(places, tree);
      await tx.insert(notes, rows);
    });
    const few = rows.filter(({ placeIds }) => placeIds.length > 1);
    const page = { limit: 20, after: [3] };
    await catalog.read(1, async (tx) => {
      const ask = (filter: Filter) => tx.find(notes, { filter, order: byId, page });
      for (const kind of ["hasOneOf", "inSubtree"] as const) {
        const on = (id: number): Filter =>
          kind === "inSubtree" ? inSubtree("places", [id]) : { kind, field: "placeIds", values: [id] };
        assert.deepEqual(await ask(on(20)), few.slice(1));
        assert.deepEqual(await ask(on(10)), rows.slice(3, 23));
        assert.deepEqual(await ask(and(on(10), on(20))), few.slice(1));
        assert.deepEqual(await ask({ kind: "not", part: on(10) }), []);
        assert.equal(await tx.count(notes, on(10)), many);
      }
    });
    await catalog.write(1, (tx) => tx.remove(places, equals("id", 20)));
    await catalog.read(1, async (tx) => {
      assert.equal(await tx.count(notes, { kind: "hasOneOf", field: "placeIds", values: [20] }), 0);
      assert.equal(await tx.count(notes, { kind: "hasOneOf", field: "placeIds", values: [10] }), many);
    });
  },

  async "words are found in their own project alone"(catalog) {
    const projects = [1, 2, 1_022, 2_043, 2 ** 53 - 1];
    for (const [at, project] of projects.entries()) {
      const rows = [at + 1, 2 ** 53 - 1 - at].map((id) => place(id, { name: `Pümpe of ${project}` }));
      await catalog.write(project, (tx) => tx.insert(places, rows));
    }
    const found = (project: number) =>
      catalog.read(project, async (tx) => {
        const filter = words(["name"], "püm");
        const rank = [{ field: "name", text: "PÜMPE" }];
        const ranked = await tx.search(places, { filter, rank, order: byId, limit: 9, offset: 0 });
        assert.deepEqual(await tx.find(places, { ...allBy(byId), filter }), ranked);
        return idsOf(ranked);
      });
    for (const [at, project] of projects.entries())
      assert.deepEqual(await found(project), [at + 1, 2 ** 53 - 1 - at]);
    await catalog.write(1, (tx) => tx.remove(places, everything));
    assert.deepEqual(await found(1), []);
    assert.deepEqual(await found(1_022), [3, 2 ** 53 - 3]);
  },

  async "case is ignored beyond ASCII, and no letter of a pattern is special"(catalog) {
    const names = ["ÄRGER 50%", "ärger 500", "a_b", "aXb", "100*"];
    await catalog.write(1, (tx) =>
      tx.insert(
        places,
        names.map((name, at) => place(at + 1, { name })),
      ),
    );
    await catalog.read(1, async (tx) => {
      const found = async (filter: Parameters<CatalogReader["count"]>[1]) =>
        (await tx.find(places, { ...allBy(byId), filter })).map(({ name }) => name);
      assert.deepEqual(await found(containsIgnoringCase("name", "äRG")), ["ÄRGER 50%", "ärger 500"]);
      assert.deepEqual(await found(containsIgnoringCase("name", "50%")), ["ÄRGER 50%"]);
      assert.deepEqual(await found(startsWith("name", "a_")), ["a_b"]);
      assert.deepEqual(await found(startsWith("name", "100*")), ["100*"]);
      assert.deepEqual(await found({ kind: "endsWith", field: "name", text: "*", ignoreCase: false }), [
        "100*",
      ]);
    });
  },

  async "closing finishes what was accepted and refuses what comes later"(catalog) {
    const writes = [1, 2, 3].map((id) => catalog.write(1, (tx) => tx.insert(places, [place(id)])));
    const read = catalog.read(1, (tx) => tx.count(places, everything));
    await catalog.close();
    await Promise.all([...writes, read]);
    await assert.rejects(async () => catalog.read(1, (tx) => tx.count(places, everything)));
    await assert.rejects(async () => catalog.write(1, (tx) => tx.insert(places, [place(4)])));
  },
};

function gauge(id: number, named = id): Gauge {
  return { id, name: `g${named}` };
}

function note(id: number, placeIds?: readonly number[]): Note {
  return { id, text: `n${id}`, ...(placeIds && { placeIds }) };
}

/** Replaces the records of a table in all catalogs. */
async function fill<Row extends Stored>(
  catalogs: readonly Catalog[],
  table: Table<Row>,
  rows: readonly Row[],
) {
  for (const catalog of catalogs) {
    await catalog.write(1, async (tx) => {
      await tx.remove(table, everything);
      await tx.insert(table, rows);
    });
  }
}

/** Runs a query on both catalogs and compares the results. */
async function same<Result>(
  [one, other]: readonly [Catalog, Catalog],
  ask: (tx: CatalogReader) => Promise<Result>,
) {
  const [answer, expected] = [await one.read(1, ask), await other.read(1, ask)];
  assert.deepEqual(answer, expected);
  return answer;
}

const runs = { numRuns: 30 };

/** Scenarios that compare the backend with the naive catalog. */
export const comparisons: Readonly<Record<string, Scenario>> = {
  async "rows with a key are put, paged and removed as by the naive catalog"(catalog) {
    const both = [catalog, openNaiveCatalog(tables)] as const;
    const limit = fc.integer({ min: 1, max: 7 });
    await fc.assert(
      fc.asyncProperty(someLines, someLines, limit, async (first, second, limit) => {
        const gone = oneOf(
          "name",
          second.slice(0, 3).map(({ name }) => name),
        );
        for (const one of both) {
          await one.write(1, async (tx) => {
            await tx.remove(lines, everything);
            await tx.put(lines, first);
            await tx.put(lines, second);
            await tx.remove(lines, gone);
          });
        }
        const whole = await same(both, (tx) => tx.find(lines, allBy(byKey)));
        const middle = whole[whole.length >> 1];
        if (!middle) return;
        const position = [middle.placeId, middle.name];
        await same(both, async (tx) => [
          await readPage(tx, lines, { filter: everything, order: byKey, page: { limit, after: position } }),
          await readPage(tx, lines, { filter: everything, order: byKey, page: { limit, before: position } }),
          await tx.search(lines, { filter: everything, rank: [], order: byKey, limit, offset: 2 }),
          await tx.divide(lines, { filter: everything, order: byKey, parts: limit }),
          await tx.count(lines, equals("placeId", middle.placeId)),
        ]);
      }),
      runs,
    );
  },

  async "random filters, orders and ranks give the results of the naive catalog"(catalog) {
    const both = [catalog, openNaiveCatalog(tables)] as const;
    const filters = fc.array(someFilter, { minLength: 3, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(somePlaces, filters, someOrder, someSearchOrder, someRank, async (...sample) => {
        const [rows, filters, order, searchOrder, rank] = sample;
        await fill(both, places, rows);
        for (const filter of filters) {
          await same(both, async (tx) => [
            await tx.find(places, { filter, order, page: { limit: 100 } }),
            await tx.search(places, { filter, rank, order, limit: 5, offset: 1 }),
            await tx.search(places, { filter, rank: [], order: searchOrder, limit: 5, offset: 1 }),
            await tx.count(places, filter),
            await tx.divide(places, { filter, order, parts: 4 }),
          ]);
        }
      }),
      runs,
    );
  },

  async "searches are ranked as by the naive catalog"(catalog) {
    const both = [catalog, openNaiveCatalog(tables)] as const;
    await fc.assert(
      fc.asyncProperty(somePlaces, someRankedSearch, async (rows, { filter, rank, limit, offset }) => {
        await fill(both, places, rows);
        for (const field of ["id", "name"]) {
          const order: OrderBy[] = [{ field, direction: "ascending" }, ...byId];
          await same(both, (tx) => tx.search(places, { filter, rank, order, limit, offset }));
        }
        for (const direction of ["ascending", "descending"] as const) {
          const order: OrderBy[] = [{ field: "depth", direction }, ...byId];
          await same(both, (tx) => tx.search(places, { filter, rank: [], order, limit, offset }));
        }
      }),
      { numRuns: 60 },
    );
  },

  async "records that are linked to assets are found by them"(catalog) {
    const both = [catalog, openNaiveCatalog(tables)] as const;
    await fc.assert(
      fc.asyncProperty(
        somePlaces,
        someGauges,
        someNotes,
        fc.tuple(someLinkFilter, someListFilter),
        async (tree, linked, listed, [filter, listFilter]) => {
          await fill(both, places, tree);
          await fill(both, gauges, linked);
          await fill(both, notes, listed);
          await same(both, async (tx) => [
            await tx.find(gauges, { ...allBy(byId), filter }),
            await tx.find(notes, { ...allBy(byId), filter: listFilter }),
            await tx.find(gauges, { filter, order: byId, page: { limit: 2, after: [1] } }),
            await tx.find(notes, { filter: listFilter, order: byId, page: { limit: 2, before: [5] } }),
          ]);
          for (const one of both) await one.write(1, (tx) => tx.remove(places, oneOf("id", [10, 40])));
          await same(both, async (tx) => [
            await tx.find(gauges, allBy(byId)),
            await tx.find(notes, allBy(byId)),
          ]);
        },
      ),
      runs,
    );
  },

  async "random removals leave the same records and words"(catalog) {
    const both = [catalog, openNaiveCatalog(tables)] as const;
    await fc.assert(
      fc.asyncProperty(somePlaces, someFilter, async (rows, filter) => {
        await fill(both, places, rows);
        const [removed, expected] = [
          await catalog.write(1, (tx) => tx.remove(places, filter)),
          await both[1].write(1, (tx) => tx.remove(places, filter)),
        ];
        assert.equal(removed, expected);
        await same(both, async (tx) => [
          await tx.find(places, allBy(byId)),
          await tx.count(places, words(["name", "description"], "p")),
        ]);
      }),
      runs,
    );
  },

  async "pages that end by length visit every record once, in order"(catalog) {
    const lengthMax = fc.integer({ min: 0, max: 600 });
    await fc.assert(
      fc.asyncProperty(somePlaces, someOrder, lengthMax, async (rows, order, lengthMax) => {
        await fill([catalog], places, rows);
        await catalog.read(1, async (tx) => {
          const whole = idsOf(await tx.find(places, allBy(order)));
          assert.deepEqual(await sineWave(tx, order, { limit: 5 }, lengthMax), whole);
          assert.deepEqual(await walkBack(tx, order, { limit: 5 }, lengthMax), whole.slice(0, -1));
        });
      }),
      runs,
    );
  },

  async "a page ends after the record with which it is too long, and tells so"(catalog) {
    const long = (id: number): Place => place(id, { description: "d".repeat(1000) });
    await fill([catalog], places, [long(1), long(2), long(3), long(4), long(5)]);
    const read = async (page: PageQuery) => {
      const found = await catalog.read(1, (tx) =>
        readPage(tx, places, { filter: everything, order: byId, page }),
      );
      return [idsOf(found.items), found.next, found.previous];
    };
    const bound = new LengthBound(1500);
    assert.deepEqual(await read({ limit: 4, bound }), [[1, 2], [2], undefined]);
    assert.ok(bound.used > 2000 && bound.used < 2500, `${bound.used}`);
    assert.equal(bound.cuts, 1);
    assert.deepEqual(await read({ limit: 4, after: [2], bound }), [[3], [3], [3]], "at least one");
    assert.deepEqual(await read({ limit: 4, before: [5], bound: new LengthBound(1500) }), [[3, 4], [4], [3]]);
    const large = new LengthBound(100_000);
    assert.deepEqual(await read({ limit: 9, bound: large }), [[1, 2, 3, 4, 5], undefined, undefined]);
    assert.equal(large.cuts, 0);
    const refusing = new LengthBound(1500, () => {
      throw new Error("too long");
    });
    await assert.rejects(read({ limit: 4, bound: refusing }), /too long/);
    assert.equal(refusing.cuts, 0, "refused, not cut");
    assert.deepEqual(await read({ limit: 1, bound: new LengthBound(1500, () => assert.fail()) }), [
      [1],
      [1],
      undefined,
    ]);
    const search = { filter: everything, rank: [], order: byId, limit: 4, offset: 1 };
    const ranked = await catalog.read(1, (tx) => tx.search(places, { ...search, bound }));
    assert.deepEqual(idsOf(ranked), [2]);
    assert.equal(bound.cuts, 3);
  },

  async "pages forward, back and in divisions visit every record once, in order"(catalog) {
    await fc.assert(
      fc.asyncProperty(somePlaces, someOrder, fc.integer({ min: 1, max: 5 }), async (rows, order, limit) => {
        await fill([catalog], places, rows);
        await catalog.read(1, async (tx) => {
          const whole = idsOf(await tx.find(places, allBy(order)));
          assert.deepEqual(whole.toSorted(), idsOf(rows).toSorted());
          assert.deepEqual(await sineWave(tx, order, { limit }), whole);
          assert.deepEqual(await walkBack(tx, order, { limit }), whole.slice(0, -1));
          const cuts = await tx.divide(places, { filter: everything, order, parts: limit });
          assert.ok(cuts.length < limit);
          const pieces: number[] = [];
          for (const [at, until] of [...cuts, undefined].entries()) {
            const after = cuts[at - 1];
            pieces.push(
              ...(await sineWave(tx, order, { limit: 2, ...(after && { after }), ...(until && { until }) })),
            );
          }
          assert.deepEqual(pieces, whole);
        });
      }),
      runs,
    );
  },
};

/** Each page has a bound of its own, if any. */
const bounded = (page: PageQuery, lengthMax: number | undefined): PageQuery =>
  lengthMax === undefined ? page : { ...page, bound: new LengthBound(lengthMax) };

async function sineWave(
  tx: CatalogReader,
  order: OrderBy[],
  asked: PageQuery,
  lengthMax?: number,
): Promise<number[]> {
  const page = bounded(asked, lengthMax);
  const { items, next } = await readPage(tx, places, { filter: everything, order, page });
  if (!next) return idsOf(items);
  return [...idsOf(items), ...(await sineWave(tx, order, { ...asked, after: next }, lengthMax))];
}

/** From before the last record back to the first. */
async function walkBack(
  tx: CatalogReader,
  order: OrderBy[],
  asked: PageQuery,
  lengthMax?: number,
): Promise<number[]> {
  const last = (await tx.find(places, allBy(order))).at(-1);
  const positionOf = (row: Place): Position => order.map(({ field }) => row[field as "name"]);
  let before = last && positionOf(last);
  const seen: number[] = [];
  while (before) {
    const page = bounded({ ...asked, before }, lengthMax);
    const { items, previous } = await readPage(tx, places, { filter: everything, order, page });
    seen.unshift(...idsOf(items));
    before = previous as Position | undefined;
  }
  return seen;
}
