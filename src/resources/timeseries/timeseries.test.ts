// The time series module: stored fields, valid results of the cache, and deletes that a crash interrupts.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { newContext, openCatalogs, scenariosIn } from "../../../test/support/context.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { underAsset } from "../../access/asset-subtree.ts";
import { administrator } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { compareText } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { and, everything, startsWith } from "../../query/filter.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import type { Catalog, CatalogWriter, ProjectCatalog } from "../../storage/catalog.ts";
import { openNaiveCatalog } from "../../storage/conformance/naive-catalog.ts";
import { NaivePointsStore } from "../../storage/conformance/naive-points.ts";
import type { PointsStore } from "../../storage/points.ts";
import { createAssets, deleteAssets, updateAsset } from "../assets/assets.ts";
import { assetTable } from "../assets/schema.ts";
import { securityCategoryTable } from "../groups/schema.ts";
import { type Project, projectTable } from "../projects/schema.ts";
import { finishDeletions } from "./pending-deletions.ts";
import { pendingDeletionTable, timeSeriesTable } from "./schema.ts";
import {
  createTimeSeries,
  deleteTimeSeries,
  getTimeSeries,
  listTimeSeries,
  type NewTimeSeries,
  requireSeries,
  resolveSeries,
  searchTimeSeries,
  type TimeSeries,
  updateTimeSeries,
} from "./timeseries.ts";

const tables = [projectTable, assetTable, timeSeriesTable, pendingDeletionTable, securityCategoryTable];
const freshCatalog = () => openNaiveCatalog(tables);
const contextOf = (catalog: ProjectCatalog, points: PointsStore = new NaivePointsStore()) =>
  newContext(catalog, { points });

const plain = (name: string): NewTimeSeries => ({ name, isString: false, isStep: false, metadata: {} });

const create = async (ctx: RequestContext, ...names: string[]) =>
  (await createTimeSeries(ctx, names.map(plain))) as [TimeSeries, ...TimeSeries[]];

const idOf = async (ctx: RequestContext, name: string) => (await resolveSeries(ctx, [name], "READ"))[0]?.id;

const rename = (ctx: RequestContext, id: number, name: string) =>
  updateTimeSeries(ctx, { keys: { ids: [id] }, changes: [{ name }], status: 400 });

/** Every page from the first on, then back again by the previous cursors: both must show the same. */
async function walk(ask: (page: PageQuery) => Promise<Page<TimeSeries>>, limit: number) {
  const pages = [await ask({ limit })];
  for (let next = pages[0]!.next; next; next = pages.at(-1)!.next)
    pages.push(await ask({ limit, after: next }));
  assert.equal(pages[0]!.previous, undefined);
  let at = pages.length - 1;
  for (let { previous } = pages[at]!; previous; at--) {
    const page = await ask({ limit, before: previous });
    assert.deepEqual(page.items, pages[at - 1]!.items);
    previous = page.previous;
  }
  assert.equal(at, 0);
  return pages.flatMap((page) => page.items.map((item) => item.name));
}

/** A catalog in which a test can delay commits or results, to simulate a slow one. */
function slowCatalog(inner: Catalog) {
  let gate: Promise<void> | undefined;
  let commits: Promise<void> | undefined;
  const delayed = async <TestResponse>(response: Promise<TestResponse>) => {
    const waiting = gate;
    const settled = await response;
    await waiting;
    return settled;
  };
  const catalog: Catalog = {
    read: (tenant, work) => delayed(inner.read(tenant, work)),
    write: (tenant, work) => {
      const waiting = commits;
      const beforeCommit = async (tx: CatalogWriter) => {
        const response = await work(tx);
        await waiting;
        return response;
      };
      return delayed(inner.write(tenant, beforeCommit));
    },
    writeBoth: (project, work) => inner.writeBoth(project, work),
    lastId: () => inner.lastId(),
    close: () => inner.close(),
  };
  /** Writes begun from now on commit only after the returned function was called. */
  const holdCommits = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    commits = promise;
    return resolve;
  };
  /** Calls before `noMore` return only after `release`. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return {
      noMore: () => {
        gate = undefined;
      },
      release: resolve,
    };
  };
  return { catalog, hold, holdCommits };
}

describe("series found by name and id", () => {
  it("come in the requested order, repeated ones repeatedly, with gaps for missing ones", async () => {
    const ctx = contextOf(freshCatalog());
    const [a, b] = (await create(ctx, "a", "b")) as [TimeSeries, TimeSeries];
    for (const _ of ["from the catalog", "from memory"]) {
      const byName = await resolveSeries(ctx, ["b", "x", "a", "b"], "WRITE");
      assert.deepEqual(
        byName.map((ref) => ref?.id),
        [b.id, undefined, a.id, b.id],
      );
      const byId = await resolveSeries(ctx, [7, b.id], "READ");
      assert.deepEqual(
        byId.map((ref) => ref?.name),
        [undefined, "b"],
      );
    }
    const unknown = requireSeries(ctx, ["a", "x", "y", "x"], "READ");
    await assert.rejects(unknown, refusal("series-unknown", { notFound: ["x", "y"] }));
    const unknownId = requireSeries(ctx, [7], "READ");
    await assert.rejects(unknownId, refusal("series-unknown", { notFound: [7] }));
  });

  it("come in the requested order when there are more than one query reads", async () => {
    const ctx = contextOf(freshCatalog());
    const made = await create(ctx, ...Array.from({ length: limits.idsPerQueryMax + 5 }, (_, at) => `s${at}`));
    const names = ["x", ...made.map(({ name }) => name).reverse(), "y", "s0"];
    const ids = [undefined, ...made.map(({ id }) => id).reverse(), undefined, made[0].id];
    for (const _ of ["from the catalog", "from memory"]) {
      const found = await resolveSeries(ctx, names, "READ");
      assert.deepEqual(
        found.map((ref) => ref?.id),
        ids,
      );
    }
  });

  it("a number is an id and never a name", async () => {
    const ctx = contextOf(freshCatalog());
    const [series] = await create(ctx, "7");
    assert.deepEqual(await resolveSeries(ctx, [7], "READ"), [undefined]);
    assert.deepEqual(await resolveSeries(ctx, [String(series.id)], "READ"), [undefined]);
  });

  it("are refused to callers without the right, in memory or not", async () => {
    const ctx = contextOf(freshCatalog());
    await create(ctx, "a");
    await idOf(ctx, "a");
    const capabilities = administrator.filter((one) => one.acl !== "timeSeriesAcl");
    const stranger = { ...ctx, caller: { ...ctx.caller, capabilities } };
    await assert.rejects(resolveSeries(stranger, ["a"], "READ"), refusal("forbidden"));
  });

  it("belong to one project", async () => {
    const ctx = contextOf(freshCatalog());
    await create(ctx, "a");
    const here = await idOf(ctx, "a");
    const other = { ...ctx, projectId: ctx.projectId + 1 };
    assert.equal(await idOf(other, "a"), undefined);
    const [there] = await create(other, "a");
    assert.notEqual(there.id, here);
    assert.deepEqual([await idOf(ctx, "a"), await idOf(other, "a")], [here, there.id]);
  });

  it("a deleted asset leaves its series, without the link", async () => {
    const ctx = contextOf(freshCatalog());
    const [asset] = await createAssets(ctx, [{ name: "pump" }]);
    await createTimeSeries(ctx, [{ ...plain("a"), assetId: asset!.id }]);
    const id = await idOf(ctx, "a");
    await deleteAssets(ctx, [asset!.id]);
    assert.equal(await idOf(ctx, "a"), id);
    assert.equal((await getTimeSeries(ctx, id!)).assetId, undefined);
    const { items } = await listTimeSeries(ctx, { filter: underAsset([asset!.id]), page: { limit: 1 } });
    assert.deepEqual(items, []);
  });
});

describe("memory of series against changes at the same time", () => {
  it("a slow read does not bring back a deleted series, nor the old one of two with one name", async () => {
    const { catalog, hold } = slowCatalog(freshCatalog());
    const ctx = contextOf(catalog);
    const [old] = await create(ctx, "a");
    const slow = hold();
    const reading = idOf(ctx, "a");
    slow.noMore();
    await deleteTimeSeries(ctx, { names: ["a"] });
    const [young] = await create(ctx, "a");
    slow.release();
    assert.equal(await reading, old.id, "a read that began before the delete may still see the series");
    assert.equal(await idOf(ctx, "a"), young.id);
    assert.deepEqual(await resolveSeries(ctx, [old.id], "READ"), [undefined]);
  });

  it("a slow read does not bring back the name before a rename", async () => {
    const { catalog, hold } = slowCatalog(freshCatalog());
    const ctx = contextOf(catalog);
    const [series] = await create(ctx, "a");
    const slow = hold();
    const reading = idOf(ctx, "a");
    slow.noMore();
    await rename(ctx, series.id, "b");
    slow.release();
    await reading;
    assert.deepEqual([await idOf(ctx, "a"), await idOf(ctx, "b")], [undefined, series.id]);
  });

  it("a read while a delete is not yet on disk sees the series, but memory does not learn it", async () => {
    const { catalog, holdCommits } = slowCatalog(freshCatalog());
    const ctx = contextOf(catalog);
    const [series] = await create(ctx, "a");
    const commit = holdCommits();
    const deleting = deleteTimeSeries(ctx, { names: ["a"] });
    assert.equal(await idOf(ctx, "a"), series.id);
    commit();
    await deleting;
    assert.equal(await idOf(ctx, "a"), undefined);
  });

  it("between commit and response of a delete the cache is not used, and caches nothing", async () => {
    const { catalog, hold } = slowCatalog(freshCatalog());
    const ctx = contextOf(catalog);
    await create(ctx, "a", "b");
    await resolveSeries(ctx, ["a", "b"], "READ");
    const slow = hold();
    const deleting = deleteTimeSeries(ctx, { names: ["a"] });
    slow.noMore();
    await ctx.catalog.write(ctx.projectId, async () => undefined);
    assert.equal(await idOf(ctx, "a"), undefined, "the delete is on disk");
    slow.release();
    await deleting;
    assert.equal(await idOf(ctx, "a"), undefined);
    assert.notEqual(await idOf(ctx, "b"), undefined);
  });

  it("a refused rename changes nothing in memory", async () => {
    const ctx = contextOf(freshCatalog());
    const [a, b] = (await create(ctx, "a", "b")) as [TimeSeries, TimeSeries];
    const swap = updateTimeSeries(ctx, {
      keys: { ids: [a.id, b.id] },
      changes: [{ name: "b" }, { name: "a" }],
      status: 400,
    });
    await assert.rejects(swap, /Some metrics already exist: b,a$/);
    assert.deepEqual([await idOf(ctx, "a"), await idOf(ctx, "b")], [a.id, b.id]);
  });
});

describe("deleting series", () => {
  const pointsOf = (store: PointsStore, series: number) =>
    store
      .scan({ series, isString: false, startMs: 0, endMs: 10, limit: 10 })
      .then((columns) => [...columns.times]);

  const append = (store: PointsStore, series: number) =>
    store.append({
      numbers: {
        series: Float64Array.of(series),
        ends: Uint32Array.of(1),
        times: Float64Array.of(5),
        values: Float64Array.of(1),
      },
    });

  it("takes their datapoints, and what a crash leaves goes at the next start", async () => {
    const points = new NaivePointsStore();
    const catalog = freshCatalog();
    const ctx = contextOf(catalog, points);
    const [a, b, c] = (await create(ctx, "a", "b", "c")) as [TimeSeries, TimeSeries, TimeSeries];
    for (const { id } of [a, b, c]) await append(points, id);
    await deleteTimeSeries(ctx, { ids: [a.id] });
    assert.deepEqual(await pointsOf(points, a.id), []);

    const dying = Object.create(points, {
      delete: { value: () => Promise.reject(new Error("power cut")) },
    }) as PointsStore;
    await assert.rejects(deleteTimeSeries({ ...ctx, points: dying }, { names: ["b"] }), /power cut/);
    assert.deepEqual([await idOf(ctx, "b"), await pointsOf(points, b.id)], [undefined, [5]]);
    const now = { createdTime: 0, lastUpdatedTime: 0 };
    const demo: Project = { id: ctx.projectId, name: "demo", urlName: "demo", ...now };
    await catalog.write("system", (tx) => tx.insert(projectTable, [demo]));
    await finishDeletions(ctx);
    assert.deepEqual([await pointsOf(points, b.id), await pointsOf(points, c.id)], [[], [5]]);
    const left = await ctx.catalog.read(ctx.projectId, (tx) => tx.count(pendingDeletionTable, everything));
    assert.equal(left, 0);
  });

  it("is all or nothing", async () => {
    const ctx = contextOf(freshCatalog());
    const [a] = await create(ctx, "a", "b");
    const unknown = deleteTimeSeries(ctx, { ids: [a.id, 5] });
    await assert.rejects(unknown, refusal("series-unknown", { notFound: [5] }));
    const repeated = deleteTimeSeries(ctx, { names: ["b", "a", "b"] });
    await assert.rejects(repeated, refusal("series-repeated", { notFound: ["b"] }));
    const { items } = await listTimeSeries(ctx, { filter: everything, page: { limit: 5 } });
    assert.deepEqual(
      items.map((item) => item.name),
      ["a", "b"],
    );
  });
});

describe("searching series", () => {
  it("with names boosted, every hit in a name comes first, across pages", async () => {
    const ctx = contextOf(freshCatalog());
    const described = (name: string, description: string) => ({ ...plain(name), description });
    await createTimeSeries(ctx, [
      described("x", "pump"),
      described("old pump 1", ""),
      described("y", "pump pressure"),
      described("pump", "pump"),
      plain("other"),
    ]);
    const search = async (page: { limit: number; offset: number }) =>
      (await searchTimeSeries(ctx, { filter: everything, query: "pump", boostName: true, ...page })).map(
        (item) => item.name,
      );
    const all = ["pump", "old pump 1", "x", "y"];
    assert.deepEqual(await search({ limit: 10, offset: 0 }), all);
    for (const limit of [1, 2, 3])
      for (const offset of [0, 1, 2, 3, 4])
        assert.deepEqual(await search({ limit, offset }), all.slice(offset, offset + limit));
  });
});

type Step =
  | { readonly kind: "create"; readonly names: readonly string[] }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "delete"; readonly name: string }
  | { readonly kind: "list"; readonly prefix: string; readonly limit: number };

const aName = fc.oneof(
  fc.constantFrom("a", "b", "ab", "a/b", "A", "%", "+", " ", "é", "e\u0301", "\uffff", "\u{10000}", "z"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
);

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), names: fc.array(aName, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("rename" as const), from: aName, to: aName }),
  fc.record({ kind: fc.constant("delete" as const), name: aName }),
  fc.record({
    kind: fc.constant("list" as const),
    prefix: fc.oneof(fc.constant(""), aName),
    limit: fc.integer({ min: 1, max: 4 }),
  }),
);

const catalogs = await openCatalogs(tables);

scenariosIn(catalogs)("names are a plain list's, whatever is made, renamed, deleted", async ({ catalog }) => {
  const steps = fc.array(aStep, { maxLength: 25 });
  const property = fc.asyncProperty(steps, (all) => applyAll(contextOf(catalog), all));
  await fc.assert(property, { numRuns: catalog === catalogs.naive ? 150 : 15 });
});

async function applyAll(ctx: RequestContext, steps: readonly Step[]): Promise<void> {
  const known = new Map<string, number>();
  const seen = new Map<number, string>();
  for (const step of steps) {
    await applyStep(ctx, known, step);
    for (const [name, id] of known) seen.set(id, name);
    const names = [...new Set(seen.values())];
    const byName = await resolveSeries(ctx, names, "READ");
    assert.deepEqual(
      byName.map((ref) => ref?.id),
      names.map((name) => known.get(name)),
    );
    const ids = [...seen.keys()];
    const byId = await resolveSeries(ctx, ids, "READ");
    assert.deepEqual(
      byId.map((ref) => ref?.name),
      ids.map((id) => (known.get(seen.get(id)!) === id ? seen.get(id) : undefined)),
    );
  }
}

async function applyStep(ctx: RequestContext, known: Map<string, number>, step: Step): Promise<void> {
  if (step.kind === "create") {
    const taken = new Set(step.names.filter((name, i) => known.has(name) || step.names.indexOf(name) < i));
    const creating = create(ctx, ...step.names);
    if (taken.size > 0) {
      const names = [...new Set(step.names)].filter((name) => taken.has(name));
      await assert.rejects(creating, { message: `Some metrics already exist: ${names.join(",")}` });
    } else for (const { id, name } of await creating) known.set(name, id);
  } else if (step.kind === "rename") {
    const id = known.get(step.from);
    if (id === undefined) return;
    const renaming = rename(ctx, id, step.to);
    if (step.to !== step.from && known.has(step.to)) {
      await assert.rejects(renaming, { message: `Some metrics already exist: ${step.to}` });
      return;
    }
    await renaming;
    known.delete(step.from);
    known.set(step.to, id);
  } else if (step.kind === "delete") {
    const deleting = deleteTimeSeries(ctx, { names: [step.name] });
    if (known.delete(step.name)) await deleting;
    else await assert.rejects(deleting, refusal("series-unknown", { notFound: [step.name] }));
  } else {
    const filter = and(startsWith("name", step.prefix));
    const found = await walk((page) => listTimeSeries(ctx, { filter, page }), step.limit);
    const expected = [...known.keys()].filter((name) => name.startsWith(step.prefix)).sort(compareText);
    assert.deepEqual(found, expected);
  }
}

describe("memory of what a bounded caller reaches", () => {
  /** A series on a pump in a plant, and a caller who may only see the plant. */
  async function setting() {
    const { catalog, hold, holdCommits } = slowCatalog(freshCatalog());
    const reads = { count: 0 };
    const counting: Catalog = {
      ...catalog,
      read: (tenant, work) => {
        reads.count += 1;
        return catalog.read(tenant, work);
      },
    };
    const ctx = contextOf(counting);
    await catalog.write(ctx.projectId, (tx) => tx.insert(securityCategoryTable, [{ id: 7, name: "secret" }]));
    const [plant, pump, yard] = await createAssets(ctx, [
      { name: "plant", refId: "p" },
      { name: "pump", parentRefId: "p" },
      { name: "yard" },
    ]);
    const [series] = await createTimeSeries(ctx, [{ ...plain("a"), assetId: pump!.id }]);
    const scope = { kind: "subtrees", assetIds: [plant!.id] } as const;
    const capabilities = [{ acl: "timeSeriesAcl", actions: ["READ"], scope }] as const;
    const bounded = { ...ctx, caller: { ...ctx.caller, capabilities } };
    const isReached = async () => (await idOf(bounded, "a")) !== undefined;
    return { ctx, pump: pump!, yard: yard!, series: series!, isReached, reads, hold, holdCommits };
  }

  it("returns without a query of the catalog, but not for callers with other rights", async () => {
    const { ctx, isReached, reads } = await setting();
    assert.equal(await isReached(), true);
    reads.count = 0;
    assert.equal(await isReached(), true);
    assert.equal(reads.count, 0);
    const scope = { kind: "subtrees", assetIds: [7] } as const;
    const capabilities = [{ acl: "timeSeriesAcl", actions: ["READ"], scope }] as const;
    assert.equal(await idOf({ ...ctx, caller: { ...ctx.caller, capabilities } }, "a"), undefined);
  });

  it("follows moves, deletes and new links at once", async () => {
    type Setting = Awaited<ReturnType<typeof setting>>;
    const change = ({ ctx, series }: Setting, one: Parameters<typeof updateTimeSeries>[1]["changes"][0]) =>
      updateTimeSeries(ctx, { keys: { ids: [series.id] }, changes: [one], status: 404 });
    const leaving: readonly ((plant: Setting) => Promise<unknown>)[] = [
      ({ ctx, pump, yard }) => updateAsset(ctx, { id: pump.id, parentId: yard.id }),
      ({ ctx, pump }) => deleteAssets(ctx, [pump.id]),
      (plant) => change(plant, { assetId: plant.yard.id }),
      (plant) => change(plant, { securityCategories: { add: [7] } }),
    ];
    for (const leave of leaving) {
      const plant = await setting();
      assert.equal(await plant.isReached(), true);
      await leave(plant);
      assert.equal(await plant.isReached(), false, `${leave}`);
    }
  });

  it("does not learn what a move has overtaken", async () => {
    const { ctx, pump, yard, isReached, hold } = await setting();
    const slow = hold();
    const reading = isReached();
    slow.noMore();
    await updateAsset(ctx, { id: pump.id, parentId: yard.id });
    slow.release();
    assert.equal(await reading, true, "a read that began before the move may still see the series");
    assert.equal(await isReached(), false);
  });

  it("does not learn while a move is not yet on disk", async () => {
    const { ctx, pump, yard, isReached, holdCommits } = await setting();
    const commit = holdCommits();
    const moving = updateAsset(ctx, { id: pump.id, parentId: yard.id });
    assert.equal(await isReached(), true);
    commit();
    await moving;
    assert.equal(await isReached(), false);
  });
});
