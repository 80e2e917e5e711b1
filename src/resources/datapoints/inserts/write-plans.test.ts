// Write plans: which inserts use a cached one, and which changes invalidate it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newContext } from "../../../../test/support/context.ts";
import { insertContext } from "../../../../test/support/insert-context.ts";
import { refusal } from "../../../../test/support/refusal.ts";
import type { RequestContext } from "../../../context.ts";
import { limits } from "../../../limits.ts";
import { openNaiveCatalog } from "../../../storage/conformance/naive-catalog.ts";
import { NaivePointsStore } from "../../../storage/conformance/naive-points.ts";
import { createAssets, updateAsset } from "../../assets/assets.ts";
import { assetTable } from "../../assets/schema.ts";
import { securityCategoryTable } from "../../groups/schema.ts";
import { projectTable } from "../../projects/schema.ts";
import { pendingDeletionTable, timeSeriesTable } from "../../timeseries/schema.ts";
import {
  createTimeSeries,
  deleteTimeSeries,
  requireSeries,
  updateTimeSeries,
} from "../../timeseries/timeseries.ts";
import { insertPoints } from "../datapoints.ts";
import { decodeInsert } from "./insert-json.rest.ts";

const tables = [projectTable, assetTable, timeSeriesTable, pendingDeletionTable, securityCategoryTable];
const names = Array.from({ length: 10 }, (_, i) => `s${i}`);

/** Ten series on an asset, and an insert of a number into each of these. */
async function setting() {
  const points = new NaivePointsStore();
  const { insertBuffers } = insertContext();
  const ctx = newContext(openNaiveCatalog(tables), { points, insertBuffers });
  const [plant, yard] = await createAssets(ctx, [{ name: "plant" }, { name: "yard" }]);
  const on = (assetId: number) => (name: string) => ({
    ...{ name, isString: false, isStep: false, metadata: {}, assetId },
  });
  const series = await createTimeSeries(ctx, names.map(on(plant!.id)));
  const insert = async (value: number, by: RequestContext = ctx, of: readonly string[] = names) => {
    const items = of.map((name) => ({ name, datapoints: [{ timestamp: value, value }] }));
    await insertPoints(by, await decodeInsert(by, Buffer.from(JSON.stringify({ items }))));
  };
  const valuesOf = async (id: number) =>
    [
      ...(await points.scan({ series: id, isString: false, startMs: 0, endMs: 1e6, limit: 1e3 })).values,
    ] as number[];
  return {
    ctx,
    plant: plant!,
    yard: yard!,
    series,
    insert,
    valuesOf,
    counts: () => ctx.seriesCache.planCounts,
  };
}

type Setting = Awaited<ReturnType<typeof setting>>;

const isUnknown = (...notFound: string[]) => refusal("series-unknown", { notFound });

/** A caller who may only write to series below the plant. */
function bounded({ ctx, plant }: Setting): RequestContext {
  const scope = { kind: "subtrees", assetIds: [plant.id] } as const;
  const capabilities = [{ acl: "timeSeriesAcl", actions: ["READ", "WRITE"], scope }] as const;
  return { ...ctx, caller: { ...ctx.caller, capabilities } };
}

describe("write plans", () => {
  it("are made once for a list that is sent again", async () => {
    const { insert, series, valuesOf, counts } = await setting();
    for (const value of [1, 2, 3]) await insert(value);
    assert.deepEqual(counts(), { made: 1, used: 2 });
    for (const { id } of series) assert.deepEqual(await valuesOf(id), [1, 2, 3]);
  });

  it("use the series in memory, which have no metadata", async () => {
    const { ctx, insert } = await setting();
    await insert(1);
    const { series } = ctx.seriesCache.planStartingWith(ctx.projectId, "s0")!;
    const found = await requireSeries(ctx, names, "WRITE");
    for (const [at, one] of series.entries()) assert.equal(one, found[at]);
    assert.ok(!series.some((one) => "metadata" in one));
  });

  it("are for the whole list: a shorter or longer one, or another one, is resolved", async () => {
    const { ctx, insert, series, valuesOf, counts } = await setting();
    const [other] = await createTimeSeries(ctx, [
      { name: "other", isString: false, isStep: false, metadata: {} },
    ]);
    await insert(1);
    await insert(2, ctx, names.slice(0, 9));
    await insert(3, ctx, [...names, "other"]);
    await insert(4, ctx, [...names.slice(0, 5), "other", ...names.slice(6)]);
    assert.equal(counts().used, 0);
    assert.deepEqual(await valuesOf(series[5]!.id), [1, 2, 3]);
    assert.deepEqual(await valuesOf(series[9]!.id), [1, 3, 4]);
    assert.deepEqual(await valuesOf(other!.id), [3, 4]);
  });

  it("are out of date after a delete and after a rename", async () => {
    const { ctx, insert, series, valuesOf } = await setting();
    await insert(1);
    await deleteTimeSeries(ctx, { names: ["s3"] });
    await assert.rejects(insert(2), isUnknown("s3"));
    await createTimeSeries(ctx, [{ name: "s3", isString: false, isStep: false, metadata: {} }]);
    await insert(3);
    const rename = { keys: { ids: [series[4]!.id] }, changes: [{ name: "renamed" }], status: 404 } as const;
    await updateTimeSeries(ctx, rename);
    await assert.rejects(insert(4), isUnknown("s4"));
    assert.deepEqual(await valuesOf(series[3]!.id), []);
    assert.deepEqual(await valuesOf(series[4]!.id), [1, 3]);
    assert.deepEqual(await valuesOf(series[0]!.id), [1, 3]);
  });

  it("are of no use to callers with other rights", async () => {
    const all = await setting();
    const { insert, counts, ctx, yard, series, valuesOf } = all;
    const caller = bounded(all);
    await insert(1, caller);
    await insert(2, caller);
    assert.deepEqual(counts(), { made: 1, used: 1 });
    const change = { keys: { ids: [series[7]!.id] }, changes: [{ assetId: yard.id }], status: 404 } as const;
    await updateTimeSeries(ctx, change);
    await insert(3);
    await assert.rejects(insert(4, caller), isUnknown("s7"));
    assert.deepEqual(await valuesOf(series[7]!.id), [1, 2, 3]);
  });

  it("are out of date for a bounded caller after an asset has moved", async () => {
    const all = await setting();
    const { insert, ctx, plant, yard, series, valuesOf } = all;
    const [pump] = await createAssets(ctx, [{ name: "pump", parentId: plant.id }]);
    const change = { keys: { ids: [series[2]!.id] }, changes: [{ assetId: pump!.id }], status: 404 } as const;
    await updateTimeSeries(ctx, change);
    const caller = bounded(all);
    for (const value of [1, 2]) await insert(value, caller);
    await updateAsset(ctx, { id: pump!.id, parentId: yard.id });
    await assert.rejects(insert(3, caller), isUnknown("s2"));
    await insert(4);
    assert.deepEqual(await valuesOf(series[2]!.id), [1, 2, 4]);
  });

  it("are of no use to another scope after the series of the project have left memory", async () => {
    const all = await setting();
    const { ctx, yard, insert, series, valuesOf } = all;
    await insert(1, bounded(all));
    for (let i = 1; i <= 2 * limits.projectsCachedMax; i++) ctx.seriesCache.of(ctx.projectId + i);
    await assert.rejects(insert(2, bounded({ ...all, plant: yard })), isUnknown(...names));
    assert.deepEqual(await valuesOf(series[0]!.id), [1]);
  });

  it("belong to one project", async () => {
    const { ctx, insert, valuesOf, series } = await setting();
    await insert(1);
    const other = { ...ctx, projectId: ctx.projectId + 1 };
    await assert.rejects(insert(2, other), isUnknown(...names));
    assert.deepEqual(await valuesOf(series[0]!.id), [1]);
  });
});
