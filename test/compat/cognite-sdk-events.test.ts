// The Events methods of a published client, @cognite/sdk 1.7.7 from npm, unmodified.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sdk from "@cognite/sdk";
import { recordReturns } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const { Assets } = sdk;
const calls = recordReturns({ Events: sdk.Events });
const { Events } = calls.recorded;
const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;

let server: TestServer;
let pump: number;
let seal: number;

before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
  const assets = await Assets.create([
    { name: "pump", refId: "p" },
    { name: "seal", parentRefId: "p" },
  ]);
  [pump, seal] = assets.map(({ id }) => id) as [number, number];
});
after(() => server.close());

it("create, retrieve and retrieveMultiple", async () => {
  const sent = { startTime: 5, endTime: 9, type: "alarm", subtype: "high", description: "leaks" };
  const linked = { assetIds: [pump], metadata: { k: "v" }, source: "sap", sourceId: "1" };
  const [one, two] = await Events.create([{ ...sent, ...linked }, {}]);
  const { id, createdTime, lastUpdatedTime, ...rest } = one!;
  assert.deepEqual(rest, { ...sent, ...linked });
  assert.ok(id > 0 && createdTime === lastUpdatedTime);
  assert.deepEqual(two!.assetIds, []);
  assert.deepEqual(await Events.retrieve(id), one);
  assert.deepEqual(await Events.retrieveMultiple([two!.id, id]), [two, one]);
  await assert.rejects(Events.create([{ source: "sap", sourceId: "1" }]), refused(409));
  await assert.rejects(Events.retrieve(1), refused(404));
});

it("update overwrites what was retrieved and changed", async () => {
  const [event] = await Events.create([{ startTime: 1, type: "a", assetIds: [pump] }]);
  await Events.update([{ ...event!, type: "b", assetIds: [seal], endTime: 3 }]);
  const { lastUpdatedTime, ...after } = await Events.retrieve(event!.id);
  const { lastUpdatedTime: created, ...before } = event!;
  assert.deepEqual(after, { ...before, type: "b", assetIds: [seal], endTime: 3 });
  assert.ok(lastUpdatedTime >= created);
});

it("list with every parameter, and pages by cursor", async () => {
  const source = "listing";
  const made = await Events.create(
    [3, 1, 2].map((startTime) => ({ startTime, type: "t", subtype: "s", source, assetIds: [seal] })),
  );
  const [c, a, b] = made.map(({ id }) => id);
  const ids = async (params: object) => (await Events.list(params)).items.map(({ id }) => id);
  assert.deepEqual(await ids({ source }), [a, b, c]);
  assert.deepEqual(await ids({ source, sort: "DESC", limit: 2 }), [c, b]);
  assert.deepEqual(await ids({ type: "t", subtype: "s", minStartTime: 2, maxStartTime: 2 }), [b]);
  assert.deepEqual(await ids({ source, hasDescription: true }), []);
  assert.ok((await ids({ assetId: seal })).includes(a!));
  await assert.rejects(Events.list({ assetId: seal, source }), /disabled/);
  const first = await Events.list({ source, limit: 2 });
  const second = await Events.list({ source, limit: 2, cursor: first.nextCursor! });
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    [a, b, c],
  );
  assert.equal(second.nextCursor ?? null, null);
  assert.deepEqual(
    (await Events.list({ source, limit: 2, cursor: second.previousCursor! })).items,
    first.items,
  );
});

it("search with every parameter, as annotations of a chart ask for it", async () => {
  const [one, two] = await Events.create([
    {
      startTime: 100,
      endTime: 200,
      type: "work",
      subtype: "x",
      description: "Replace the bearing",
      assetIds: [seal],
    },
    { startTime: 150, endTime: 400, type: "work", metadata: { order: "7" }, assetIds: [pump] },
  ]);
  const ids = async (params: object) => (await Events.search(params)).items.map(({ id }) => id);
  const range = { maxStartTime: 300, minEndTime: 150, minStartTime: 100, maxEndTime: 400 };
  const now = { maxCreatedTime: Date.now() + 60_000, minCreatedTime: 0, minLastUpdatedTime: 0 };
  const all = { ...range, ...now, maxLastUpdatedTime: Date.now() + 60_000, type: "work", limit: 1000 };
  assert.deepEqual(await ids({ ...all, assetIds: [pump, seal] }), [one!.id, two!.id]);
  assert.deepEqual(await ids({ ...all, assetSubtrees: [pump], sort: "endTime", dir: "desc" }), [
    two!.id,
    one!.id,
  ]);
  assert.deepEqual(await ids({ ...all, sort: "startTime", dir: "asc", offset: 1 }), [two!.id]);
  assert.deepEqual(await ids({ ...all, description: "bearing", subtype: "x" }), [one!.id]);
  assert.deepEqual(await ids({ ...all, metadata: { order: "7" } }), [two!.id]);
});

it("delete", async () => {
  const [event] = await Events.create([{ type: "gone" }]);
  await Events.delete([event!.id]);
  await assert.rejects(Events.retrieve(event!.id), refused(404));
  await assert.rejects(Events.delete([event!.id]), refused(400));
});

it("every method has returned", () => calls.assertAllReturned());
