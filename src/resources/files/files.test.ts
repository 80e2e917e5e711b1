// Files below the API: scopes by subtree, conflicts without a leak, lists.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { newContext, openCatalogs, scenariosIn } from "../../../test/support/context.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { refusal } from "../../../test/support/refusal.ts";
import type { Capability } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { Failure } from "../../errors.ts";
import { KeyedTaskRunner } from "../../lib/keyed-task-runner.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import { openLocalBlobs } from "../../storage/local-blobs/local-blobs.ts";
import { createAssets } from "../assets/assets.ts";
import { assetTable } from "../assets/schema.ts";
import { changeFile } from "./changes.ts";
import { deleteFiles, getFile, listFiles, searchFiles, updateFile } from "./files.ts";
import { fileTable, type NewFile, removalTable, type StoredFile, uploadTable } from "./schema.ts";
import { startUpload } from "./uploads/uploads.ts";

const folder = temporaryFolder();
const blobs = await openLocalBlobs({ folder, secret: new Uint8Array(32) });
const catalogs = await openCatalogs([assetTable, fileTable, uploadTable, removalTable]);
const scenario = scenariosIn(catalogs, (catalog) =>
  newContext(catalog, { blobs, uploads: new KeyedTaskRunner() }),
);

/** One who may read and write files of this subtree alone. */
function within(ctx: RequestContext, assetId: number): RequestContext {
  const scope = { kind: "subtrees", assetIds: [assetId] } as const;
  const capability: Capability = { acl: "filesAcl", actions: ["READ", "WRITE"], scope };
  return { ...ctx, caller: { ...ctx.caller, capabilities: [capability] } };
}

const file = (name: string, more: Partial<NewFile> = {}): NewFile => ({
  ...{ name, directory: "", metadata: {} },
  ...more,
});

const start = async (ctx: RequestContext, file: NewFile, overwrite = false): Promise<number> => {
  const newUpload = { file, overwrite, resumable: false, contentType: undefined, baseUrl: "http://a" };
  return (await startUpload(ctx, newUpload)).fileId;
};

const listed = async (ctx: RequestContext) => {
  const page = { limit: 100 };
  return (await listFiles(ctx, { filter: everything, newestFirst: false, page })).items.map(({ id }) => id);
};

const twoAssets = async (ctx: RequestContext): Promise<[number, number]> => {
  const made = await createAssets(ctx, [{ name: "pump" }, { name: "boiler" }] as never);
  return made.map(({ id }) => id) as [number, number];
};

scenario("who may touch files of one subtree neither sees, changes nor deletes others", async (ctx) => {
  const [pump, boiler] = await twoAssets(ctx);
  const theirs = await start(ctx, file("boiler.pdf", { assetIds: [boiler] }));
  const free = await start(ctx, file("free.pdf"));
  const limited = within(ctx, pump);
  const own = await start(limited, file("pump.pdf", { assetIds: [pump] }));
  assert.deepEqual(await listed(limited), [own]);
  assert.deepEqual(await listed(ctx), [theirs, free, own]);
  const search = { name: "pdf", filter: everything, limit: 10, offset: 0, order: [] } as never;
  assert.deepEqual(
    (await searchFiles(limited, search)).map(({ id }) => id),
    [own],
  );
  for (const id of [theirs, free]) await assert.rejects(getFile(limited, id), /No such ids/);
  assert.deepEqual(await deleteFiles(limited, [theirs, own, own]), { deleted: [own], failed: [theirs] });
  assert.deepEqual(await listed(ctx), [theirs, free]);
});

scenario("a file cannot be made or moved out of one's own reach", async (ctx) => {
  const [pump, boiler] = await twoAssets(ctx);
  const limited = within(ctx, pump);
  const own = await start(limited, file("own", { assetIds: [pump] }));
  await assert.rejects(start(limited, file("nowhere")), (problem) => problem instanceof Failure);
  const moved = updateFile(limited, own, { assetIds: { set: [boiler] } });
  await assert.rejects(moved, (problem) => problem instanceof Failure);
  const freed = updateFile(limited, own, { assetIds: { remove: [pump] } });
  await assert.rejects(freed, (problem) => problem instanceof Failure);
  assert.deepEqual((await getFile(ctx, own)).assetIds, [pump]);
  assert.deepEqual(await listed(ctx), [own]);
});

scenario("a name or a source that an unseen file has is taken, and its id is not told", async (ctx) => {
  const [pump, boiler] = await twoAssets(ctx);
  const hidden = { source: "erp", sourceId: "1" };
  const id = await start(ctx, file("plan", { assetIds: [boiler], ...hidden }));
  const limited = within(ctx, pump);
  const same = { assetIds: [pump], ...hidden };
  await assert.rejects(start(limited, file("plan", { assetIds: [pump] }), true), /plan/);
  await assert.rejects(
    start(limited, file("other", same)),
    refusal("file-duplicates", { duplicates: [hidden] }),
  );
  const told = refusal("file-duplicates", { duplicates: [{ id, ...hidden }] });
  await assert.rejects(start(ctx, file("other", same)), told);
  assert.deepEqual(await listed(ctx), [id]);
});

const stored: StoredFile = {
  ...{ id: 1, name: "a", directory: "/d", metadata: { a: "b" }, createdTime: 1, lastUpdatedTime: 1 },
  assetIds: [1, 2, 3],
  source: "erp",
};

test("a change that brings nothing new is no change", () => {
  const same = [{}, { name: "a" }, { assetIds: { add: [2], remove: [9] } }, { sourceId: null }];
  for (const change of same) assert.equal(changeFile(stored, change, 9), stored);
  const cleared = changeFile(stored, { source: null, directory: null, metadata: null }, 9);
  const { source: _, ...rest } = stored;
  assert.deepEqual(cleared, { ...rest, directory: "", metadata: {}, lastUpdatedTime: 9 });
});

test("a list is set, then added to, then taken from, without repeats and within its bound", () => {
  const items = fc.option(fc.array(fc.integer({ min: 1, max: 9 })), { nil: undefined });
  fc.assert(
    fc.property(items, items, items, (set, add, remove) => {
      const { assetIds = [] } = changeFile(stored, { assetIds: { set, add, remove } }, 9);
      const expected = new Set([...(set ?? stored.assetIds!), ...(add ?? [])]);
      for (const one of remove ?? []) expected.delete(one);
      assert.deepEqual(assetIds, [...expected]);
    }),
  );
  const many = Array.from({ length: limits.fileLinksMax }, (_, at) => at + 10);
  const tooMany = refusal("too-many");
  assert.equal(changeFile(stored, { assetIds: { set: many } }, 9).assetIds!.length, many.length);
  assert.throws(() => changeFile(stored, { assetIds: { set: [1, ...many] } }, 9), tooMany);
});
