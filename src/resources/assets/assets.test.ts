// The asset tree: references inside a request, and correct paths after moves and deletes.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { newContext, openCatalogs, scenariosIn } from "../../../test/support/context.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { underAsset } from "../../access/asset-subtree.ts";
import { administrator } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { compareText } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { equals, everything, type Filter } from "../../query/filter.ts";
import type { PageQuery } from "../../query/page.ts";
import type { Stored, Table } from "../../storage/catalog.ts";
import {
  type Asset,
  type AssetsQuery,
  createAssets,
  deleteAssets,
  divideAssets,
  getAsset,
  getAssets,
  limitToVisibleSubtrees,
  listAssets,
  listSubtree,
  updateAsset,
  updateAssets,
} from "./assets.ts";
import { unknownAssets } from "./links.ts";
import { writeRows } from "./rows.ts";
import { type AssetRow, assetTable } from "./schema.ts";
import { resolveParents, treePositions } from "./tree.ts";

interface Tag extends Stored {
  readonly assetId?: number;
}

const tagTable: Table<Tag> = {
  name: "tags",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    assetId: { type: "integer", optional: true },
  },
  ...{
    indexes: [],
    unique: [],
    wordsOf: [],
    links: [{ column: "assetId", to: "assets", onDelete: "clear" }],
  },
};

const catalogs = await openCatalogs([assetTable, tagTable]);
const scenario = scenariosIn(catalogs);

async function all(ctx: RequestContext, query: Partial<AssetsQuery> = {}): Promise<Asset[]> {
  const found: Asset[] = [];
  for (let page: PageQuery | undefined = { limit: 3 }; page; ) {
    const { items, next } = await listAssets(ctx, { filter: everything, ...query, page });
    found.push(...items);
    page = next && { limit: 3, after: next };
  }
  return found;
}

const idsOf = (assets: readonly Asset[]) => assets.map(({ id }) => id);
const namesOf = (assets: readonly Asset[]) => assets.map(({ name }) => name);

/** `plant > pump > motor` and `plant > boiler`, by name. */
async function plant(ctx: RequestContext): Promise<Record<"plant" | "pump" | "motor" | "boiler", Asset>> {
  const [motor, boiler, pump, root] = await createAssets(ctx, [
    { name: "motor", parentRefId: "p" },
    { name: "boiler", parentName: "plant" },
    { name: "pump", refId: "p", parentRefId: "root" },
    { name: "plant", refId: "root" },
  ]);
  return { plant: root!, pump: pump!, motor: motor!, boiler: boiler! };
}

scenario("parents may follow later in the request; the response keeps its order", async (ctx) => {
  const made = await plant(ctx);
  assert.deepEqual(made.motor.path, [made.plant.id, made.pump.id, made.motor.id]);
  assert.deepEqual(
    [made.plant, made.pump, made.motor, made.boiler].map(({ depth, parentId }) => [depth, parentId]),
    [
      [0, undefined],
      [1, made.plant.id],
      [2, made.pump.id],
      [1, made.plant.id],
    ],
  );
});

test("of references to a parent, parentRefId counts first, then parentName, then parentId", async () => {
  const items = [
    { name: "a", refId: "A" },
    { name: "b", refId: "B" },
    { name: "c", parentRefId: "A", parentName: "b", parentId: 5 },
    { name: "d", parentName: "b", parentId: 5 },
    { name: "e", parentId: 5 },
    { name: "f", parentName: "f" },
  ];
  assert.deepEqual(resolveParents(items), [
    undefined,
    undefined,
    { item: 0 },
    { item: 1 },
    { id: 5 },
    { name: "f" },
  ]);
});

scenario("a parent named outside of the request is the one existing asset of that name", async (ctx) => {
  const { pump } = await plant(ctx);
  const [seal] = await createAssets(ctx, [{ name: "seal", parentName: "pump" }]);
  assert.deepEqual(seal!.path, [...pump.path, seal!.id]);
  await createAssets(ctx, [{ name: "pump" }]);
  await assert.rejects(createAssets(ctx, [{ name: "valve", parentName: "pump" }]), refusal("field-invalid"));
  await assert.rejects(createAssets(ctx, [{ name: "valve", parentName: "none" }]), refusal("field-invalid"));
  assert.deepEqual(namesOf(await all(ctx)), ["plant", "pump", "boiler", "pump", "motor", "seal"]);
});

test("a chain longer than the limit is refused, one of exactly the limit is not", () => {
  const chain = (levels: number) =>
    Array.from({ length: levels + 1 }, (_, id) => ({
      id,
      name: `${id}`,
      ...(id > 0 && { parentId: id - 1 }),
    }));
  const deepest = treePositions(chain(limits.assetDepthMax).reverse(), new Map()).get(limits.assetDepthMax);
  assert.equal(deepest?.depth, limits.assetDepthMax);
  assert.throws(() => treePositions(chain(limits.assetDepthMax + 1), new Map()), refusal("asset-too-deep"));
});

scenario("two updates in one request may swap the places and the names of assets", async (ctx) => {
  const { plant: root, pump, motor, boiler } = await plant(ctx);
  await updateAssets(ctx, [
    { id: pump.id, name: "boiler" },
    { id: boiler.id, name: "pump" },
  ]);
  assert.deepEqual(namesOf((await Array.fromAsync(getAssets(ctx, [pump.id, boiler.id]))).flat()), [
    "boiler",
    "pump",
  ]);
  await updateAssets(ctx, [
    { id: motor.id, parentId: root.id },
    { id: pump.id, parentId: motor.id },
  ]);
  assert.deepEqual((await getAsset(ctx, pump.id)).path, [root.id, motor.id, pump.id]);
  assert.deepEqual((await getAsset(ctx, motor.id)).path, [root.id, motor.id]);
});

scenario(
  "a change that changes nothing leaves the asset as it was, its time of update included",
  async (ctx) => {
    const [asset] = await createAssets(ctx, [{ name: "a", metadata: { x: "1", y: "2" }, description: "d" }]);
    const same = { id: asset!.id, name: "a", metadata: { y: "2", x: "1" }, source: null, parentId: null };
    assert.deepEqual(await updateAsset(ctx, same), asset);
    const other = await updateAsset(ctx, { ...same, description: null });
    assert.ok(other.lastUpdatedTime > asset!.lastUpdatedTime);
    assert.ok(!("description" in other));
    assert.equal(other.createdTime, asset!.createdTime);
  },
);

scenario("what moves along with its parent gets a new path but counts as not updated", async (ctx) => {
  const { pump, motor, boiler } = await plant(ctx);
  const moved = await updateAsset(ctx, { id: pump.id, parentId: boiler.id });
  assert.ok(moved.lastUpdatedTime > pump.lastUpdatedTime);
  const along = await getAsset(ctx, motor.id);
  assert.deepEqual(along, { ...motor, depth: 3, path: [...moved.path, motor.id] });
});

scenario("a delete takes what is below along and clears the links of other resources", async (ctx) => {
  const { plant: root, pump, motor, boiler } = await plant(ctx);
  const linked = [pump.id, motor.id, boiler.id, undefined];
  const tags: Tag[] = linked.map((assetId, id) => ({
    id: id + 1,
    ...(assetId !== undefined && { assetId }),
  }));
  await ctx.catalog.write(ctx.projectId, (tx) => tx.insert(tagTable, tags));
  await deleteAssets(ctx, [pump.id]);
  assert.deepEqual(idsOf(await all(ctx)), [root.id, boiler.id]);
  const left = await ctx.catalog.read(ctx.projectId, (tx) => tx.get(tagTable, [1, 2, 3, 4]));
  assert.deepEqual(
    left.map(({ assetId }) => assetId),
    [undefined, undefined, boiler.id, undefined],
  );
  const unknown = (ids: number[]) =>
    ctx.catalog.read(ctx.projectId, (tx) => unknownAssets(ctx, tx, "eventsAcl", ids));
  assert.deepEqual(await unknown([motor.id, boiler.id, motor.id, 7]), [motor.id, 7]);
});

scenario("another project sees nothing of all this, and may use the same names and sources", async (ctx) => {
  const other = newContext(ctx.catalog);
  const [mine] = await createAssets(ctx, [{ name: "a", source: "s", sourceId: "1" }]);
  await assert.rejects(getAsset(other, mine!.id), refusal("ids-unknown"));
  await assert.rejects(createAssets(other, [{ name: "b", parentId: mine!.id }]), refusal("ids-unknown"));
  await assert.rejects(deleteAssets(other, [mine!.id]), refusal("ids-unknown"));
  await createAssets(other, [{ name: "a", source: "s", sourceId: "1" }]);
  assert.deepEqual(await all(ctx, { filter: equals("name", "a") }), [mine]);
});

const onAssets = administrator.find(({ acl }) => acl === "assetsAcl")!;

scenario("a caller without the capability is refused in every function", async (ctx) => {
  const { pump } = await plant(ctx);
  const only = (action: "READ" | "WRITE" | "none") => ({
    ...ctx,
    caller: {
      ...ctx.caller,
      capabilities: action === "none" ? [] : [{ ...onAssets, actions: [action] }],
    },
  });
  const page = { limit: 1 };
  for (const call of [
    () => listAssets(only("WRITE"), { filter: everything, page }),
    () => listSubtree(only("WRITE"), { filter: everything, under: pump.id, page }),
    () => getAsset(only("WRITE"), pump.id),
    async () => getAssets(only("none"), [pump.id]),
    () => divideAssets(only("WRITE"), 2),
    () => createAssets(only("READ"), [{ name: "x" }]),
    () => updateAsset(only("READ"), { id: pump.id, name: "x" }),
    () => deleteAssets(only("READ"), [pump.id]),
  ])
    await assert.rejects(call, refusal("forbidden"));
  assert.equal((await all(ctx)).length, 4);
});

scenario(
  "what a change leaves outside of the caller's scope is refused, with nothing changed",
  async (ctx) => {
    const { pump, motor, boiler } = await plant(ctx);
    const before = await all(ctx);
    const [stored] = await ctx.catalog.read(ctx.projectId, (tx) => tx.get(assetTable, [motor.id]));
    const write = (row: AssetRow) =>
      writeRows(ctx, underAsset([pump.id]), "replace", async () => ({ rows: [row] }));
    const outside = { ...stored!, parentId: boiler.id, path: `/${[...boiler.path, motor.id].join("/")}/` };
    await assert.rejects(write(outside), refusal("outside-scope"));
    assert.deepEqual(await all(ctx), before);
    await write({ ...stored!, name: "drive" });
    assert.equal((await getAsset(ctx, motor.id)).name, "drive");
  },
);

scenario("subtrees of hidden assets match nothing, at any depth of a query", async (ctx) => {
  const { pump, motor, boiler } = await plant(ctx);
  const scope = { kind: "subtrees", assetIds: [pump.id] } as const;
  const capabilities = [{ acl: "eventsAcl", actions: ["READ"], scope }] as const;
  const reader = { ...ctx, caller: { ...ctx.caller, capabilities } };
  const filter = underAsset([boiler.id, motor.id, 7]);
  const nest = (part: Filter): Filter => ({
    kind: "and",
    parts: [
      part,
      { kind: "or", parts: [equals("type", "x"), { kind: "not", part }] },
      { kind: "related", field: "parentId", table: "assets", part },
    ],
  });
  const within = (who: RequestContext) =>
    ctx.catalog.read(ctx.projectId, (tx) => limitToVisibleSubtrees(who, tx, "eventsAcl", nest(filter)));
  assert.deepEqual(await within(reader), nest(underAsset([motor.id])));
  assert.deepEqual(await within(ctx), nest(filter));
});

/** A forest as plainly as can be: names and parents, places found by climbing. */
class PlainForest {
  nodes = new Map<number, { name: string; parentId: number | undefined }>();

  path(id: number): number[] {
    const path: number[] = [];
    for (let at: number | undefined = id; at !== undefined; at = this.nodes.get(at)!.parentId) {
      if (path.includes(at)) throw new Error("asset-circle");
      path.unshift(at);
    }
    return path;
  }

  under = (root: number) => [...this.nodes.keys()].filter((id) => this.path(id).includes(root));

  /** Why this state cannot be, if so. */
  get fault(): string | undefined {
    const siblings = [...this.nodes.values()].filter(({ parentId }) => parentId !== undefined);
    const isCircular = [...this.nodes.keys()].some((id) => {
      try {
        return this.path(id).length === 0;
      } catch {
        return true;
      }
    });
    if (isCircular) return "asset-circle";
    const distinct = new Set(siblings.map(({ name, parentId }) => `${parentId} ${name}`));
    return distinct.size < siblings.length ? "asset-name-taken" : undefined;
  }

  /** As the service lists all: by depth, then by id. */
  list(ids: Iterable<number> = this.nodes.keys()) {
    return [...ids]
      .map((id) => {
        const path = this.path(id);
        return { id, ...this.nodes.get(id)!, path, depth: path.length - 1 };
      })
      .sort((a, b) => a.depth - b.depth || a.id - b.id);
  }
}

/** As the service lists a subtree: branch by branch. */
const byPath = (a: { readonly path: readonly number[] }, b: { readonly path: readonly number[] }) =>
  compareText(`${a.path.join("/")}/`, `${b.path.join("/")}/`);

const pick = fc.nat({ max: 1000 });
const letter = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "i", "j");
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ create: fc.array(fc.tuple(letter, pick, pick), { minLength: 1, maxLength: 6 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ move: fc.array(fc.tuple(pick, pick), { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ remove: fc.array(pick, { minLength: 1, maxLength: 2 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Does a step in both; the service must refuse exactly the steps that make an impossible forest, and change
 * nothing.
 */
async function perform(ctx: RequestContext, forest: PlainForest, one: Step): Promise<PlainForest> {
  const known = [...forest.nodes.keys()];
  const at = (number: number) => known[number % known.length];
  const next = new PlainForest();
  next.nodes = new Map([...forest.nodes].map(([id, node]) => [id, { ...node }]));
  if ("create" in one) {
    const count = one.create.length;
    const items = one.create.map(([name, how, which], index) => {
      const parentId = how % 3 === 1 ? at(which) : undefined;
      const parentRefId = how % 3 === 2 && which % count !== index ? `r${which % count}` : undefined;
      return { name, refId: `r${index}`, ...(parentId && { parentId }), ...(parentRefId && { parentRefId }) };
    });
    // Stand-in ids, below all real ones; the real ids are known when the service has made them.
    const parents = items.map(({ parentId, parentRefId }) =>
      parentRefId ? Number(parentRefId.slice(1)) : parentId,
    );
    for (const [index, { name }] of items.entries())
      next.nodes.set(index, { name, parentId: parents[index] });
    const { fault } = next;
    const made = createAssets(ctx, items);
    if (fault) return assert.rejects(made, refusal(fault)).then(() => forest);
    const ids = idsOf(await made);
    for (const index of items.keys()) next.nodes.delete(index);
    for (const [index, { name, parentRefId, parentId }] of items.entries())
      next.nodes.set(ids[index]!, { name, parentId: parentRefId ? ids[parents[index]!] : parentId });
    return next;
  }
  if (known.length === 0) return forest;
  if ("move" in one) {
    const moves = new Map(one.move.map(([what, where]) => [at(what)!, where % 4 === 0 ? null : at(where)!]));
    for (const [id, parentId] of moves) next.nodes.get(id)!.parentId = parentId ?? undefined;
    const { fault } = next;
    const moved = updateAssets(
      ctx,
      [...moves].map(([id, parentId]) => ({ id, parentId })),
    );
    if (fault) return assert.rejects(moved, refusal(fault)).then(() => forest);
    assert.deepEqual(idsOf(await moved), [...moves.keys()]);
    return next;
  }
  const ids = [...new Set(one.remove.map((which) => at(which)!))];
  await deleteAssets(ctx, ids);
  for (const id of ids.flatMap(forest.under)) next.nodes.delete(id);
  return next;
}

const placesOf = (assets: readonly Asset[]) =>
  assets.map(({ id, name, parentId, path, depth }) => ({ id, name, parentId, path, depth }));

scenario("whatever is created, moved and deleted, the tree is a plain forest's", async ({ catalog }) => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 25 }),
    pick,
    async (steps, which) => {
      const ctx = newContext(catalog);
      let forest = new PlainForest();
      for (const one of steps) {
        forest = await perform(ctx, forest, one);
        assert.deepEqual(placesOf(await all(ctx)), forest.list());
        const depth = which % 4;
        assert.deepEqual(
          placesOf(await all(ctx, { depth })),
          forest.list().filter((node) => node.depth <= depth),
        );
        const under = [...forest.nodes.keys()][which % (forest.nodes.size || 1)];
        if (under === undefined) continue;
        const subtree = forest.list(forest.under(under)).sort(byPath);
        assert.deepEqual(placesOf(await all(ctx, { under })), subtree);
        const near = subtree.filter((node) => node.depth <= subtree[0]!.depth + 1);
        assert.deepEqual(placesOf(await all(ctx, { under, depth: 1 })), near);
      }
    },
  );
  await fc.assert(property, { numRuns: catalog === catalogs.naive ? 100 : 10 });
});
