// Suggestions over REST: computed by tag matching, reviewed with the rights on both sides, and remembered.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Item, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());
beforeEach(async () => {
  for (const list of ["timeseries", "files", "assets"])
    for (let ids = [0]; ids.length > 0; ) {
      ids = idsOf(await server.ask.v06(`GET /${list}?limit=1000`));
      if (ids.length > 0) await server.ask(`POST /${list}/delete`, { items: ids });
    }
  assert.deepEqual((await ask("GET /suggestions")).items, []);
});

const ask: TestServer["ask"]["v06"] = (...request) => server.ask.v06(...request);
const made = async (list: string, ...items: object[]) => idsOf(await ask(`POST /${list}`, { items }));
const listed = async (query = "") => (await ask(`GET /suggestions?${query}`)).items;
const compute = async (body: object = {}) =>
  (await ask("POST /suggestions/timeseries", body)).json as { data: Item & { nextCursor?: string } };
const stateOf = (items: readonly Item[]) => items.map(({ state }) => state);
const assetOf = async (id: number) => (await ask(`GET /timeseries/${id}`)).items[0]!["assetId"];

/** A key of a new account with these capabilities. */
async function keyWith(...capabilities: readonly object[]): Promise<Readonly<Record<string, string>>> {
  accounts += 1;
  const name = `account ${accounts}`;
  const [group] = await made("groups", { name, capabilities });
  const [userId] = await made("users", { uniqueName: name, groups: [group] });
  const { items } = await ask("POST /apikeys", { items: [{ userId }] });
  return { "api-key": items[0]!["value"] as string };
}
let accounts = 0;

const right = (acl: string, actions: readonly string[], assetIds?: readonly number[]) => ({
  [acl]: { actions, scope: assetIds ? { assetIdScope: { subtreeIds: assetIds.map(String) } } : { all: {} } },
});
const reviewer = right("suggestionsAcl", ["READ", "WRITE"]);

const box = { x: 0.25, y: 0.5, width: 0.25, height: 0.5 };

async function uploaded(fileName: string, assetIds: readonly number[] = []): Promise<number> {
  const { json } = await server.ask("POST /files/initupload", { fileName, assetIds });
  return (json as { data: { fileId: number } }).data.fileId;
}

test("series without an asset get the nearest assets, by the name or a tag in it", async () => {
  const [pump, other, third] = await made(
    "assets",
    { name: "21-PT-1019" },
    { name: "21-PT-1018" },
    { name: "boiler" },
  );
  const [whole, inside, linked, unlike] = await made(
    "timeseries",
    { name: "21PT1019" },
    { name: "plant/21_pt_01019.PV" },
    { name: "21-PT-1018", assetId: third },
    { name: "nothing like it 7" },
  );
  assert.deepEqual((await compute()).data, { examined: 3, proposed: 4 });
  const found = (await listed()).map(({ seriesId, assetId, tag, score, state }) => ({
    ...{ seriesId, assetId, tag, score, state },
  }));
  const open = { state: "OPEN" };
  assert.deepEqual(found, [
    { seriesId: whole, assetId: pump, tag: "21PT1019", score: 0, ...open },
    { seriesId: whole, assetId: other, tag: "21PT1019", score: 1, ...open },
    { seriesId: inside, assetId: pump, tag: "21_pt_01019", score: 0, ...open },
    { seriesId: inside, assetId: other, tag: "21_pt_01019", score: 1, ...open },
  ]);
  assert.equal((await listed(`seriesId=${linked}`)).length + (await listed(`seriesId=${unlike}`)).length, 0);
  assert.equal((await listed("scoreMax=0")).length, 2);
  assert.equal((await listed(`assetId=${other}&kind=TIMESERIES`)).length, 2);
  assert.equal((await listed("kind=FILE")).length, 0);
  assert.deepEqual((await compute()).data, { examined: 3, proposed: 0 });
  assert.deepEqual(
    (await listed()).map(({ id }) => id),
    (await listed("state=OPEN")).map(({ id }) => id),
  );
});

test("a request is bounded, and the next one continues at its cursor", async () => {
  await made("assets", { name: "A-1" });
  await made("timeseries", ...["A1", "a 1", "A_1"].map((name) => ({ name })));
  const first = (await compute({ limit: 2, scoreMax: 0 })).data;
  assert.deepEqual([first["examined"], first["proposed"]], [2, 2]);
  const second = (await compute({ limit: 2, scoreMax: 0, cursor: first.nextCursor })).data;
  assert.deepEqual(second, { examined: 1, proposed: 1 });
  assert.equal((await listed()).length, 3);
});

test("an accepted suggestion links the series, and a rejected one is not made again", async () => {
  const [one, two] = await made("assets", { name: "A-1" }, { name: "A-2" });
  const [series] = await made("timeseries", { name: "A1" });
  await compute();
  const [good, bad] = await listed();
  const rejected = await ask("POST /suggestions/reject", { items: [bad!["id"]] });
  assert.deepEqual(stateOf(rejected.items), ["REJECTED"]);
  assert.deepEqual((await compute()).data, { examined: 1, proposed: 0 });
  assert.deepEqual(stateOf(await listed()), ["OPEN", "REJECTED"]);
  const accepted = await ask("POST /suggestions/accept", { items: [good!["id"]] });
  assert.deepEqual(stateOf(accepted.items), ["ACCEPTED"]);
  assert.equal(await assetOf(series!), one);
  // One may think again, in both directions.
  await ask("POST /suggestions/reject", { items: [good!["id"]] });
  assert.equal(await assetOf(series!), undefined);
  await ask("POST /suggestions/accept", { items: [bad!["id"]] });
  assert.equal(await assetOf(series!), two);
  const refused = await ask("POST /suggestions/accept", { items: [good!["id"]] });
  assert.deepEqual(
    [refused.status, refused.error!.message],
    [409, `The series A1 is linked to the asset ${two}; clear its assetId first`],
  );
  assert.deepEqual(stateOf(await listed()), ["REJECTED", "ACCEPTED"]);
  await server.restart();
  assert.deepEqual(stateOf(await listed()), ["REJECTED", "ACCEPTED"]);
});

test("accepting one of several removes the other open ones, and so does a link made elsewhere", async () => {
  const [one] = await made("assets", { name: "A-1" }, { name: "A-2" }, { name: "A-3" });
  const [first, second] = await made("timeseries", { name: "A1" }, { name: "A-01" });
  await compute();
  const ofFirst = await listed(`seriesId=${first}`);
  assert.equal(ofFirst.length, 3);
  await ask("POST /suggestions/accept", { items: [ofFirst[0]!["id"]] });
  assert.deepEqual(stateOf(await listed(`seriesId=${first}`)), ["ACCEPTED"]);
  await ask("POST /timeseries/update", { items: [{ id: second, assetId: { set: one } }] });
  assert.equal((await listed(`seriesId=${second}`)).length, 3);
  await compute();
  assert.equal((await listed(`seriesId=${second}`)).length, 0);
});

test("all of a review is done, or nothing", async () => {
  const [one, two] = await made("assets", { name: "A-1" }, { name: "A-2" });
  const [series, other] = await made("timeseries", { name: "A1" }, { name: "B1" });
  const [good, same, also] = await made(
    "suggestions",
    { seriesId: series, assetId: one, tag: "A1", score: 0 },
    { seriesId: series, assetId: two, tag: "A1", score: 1 },
    { seriesId: other, assetId: one, tag: "B1", score: 1 },
  );
  const table: [path: string, items: readonly unknown[], status: number, message: string][] = [
    ["accept", [good, same], 400, `items has more than one suggestion for the series A1; accept one`],
    ["accept", [also, 5], 400, "No such ids: 5"],
    ["reject", [also, also], 400, `items names the same id more than once: ${also}`],
    ["delete", [also, 5], 400, "No such ids: 5"],
  ];
  for (const [path, items, status, message] of table) {
    const refused = await ask(`POST /suggestions/${path}`, { items });
    assert.deepEqual([refused.status, refused.error!.message], [status, message]);
  }
  assert.deepEqual([await assetOf(series!), await assetOf(other!)], [undefined, undefined]);
  assert.deepEqual(stateOf(await listed()), ["OPEN", "OPEN", "OPEN"]);
  assert.equal((await ask("POST /suggestions/delete", { items: [good, same] })).status, 200);
  assert.equal((await listed()).length, 1);
  assert.deepEqual((await compute({ scoreMax: 0 })).data, { examined: 2, proposed: 1 });
});

test("an accepted tag of a drawing links the file, until the last one is rejected", async () => {
  const [one, two] = await made("assets", { name: "A-1" }, { name: "A-2" });
  const file = await uploaded("drawing.svg", [two!]);
  const at = (page: number) => ({ fileId: file, page, box, assetId: one, tag: "A1", score: 0 });
  const ids = await made("suggestions", at(1), at(2));
  const assetIds = async () => (await ask(`GET /files/${file}`)).items[0]!["assetIds"];
  await ask("POST /suggestions/accept", { items: ids });
  assert.deepEqual(await assetIds(), [two, one]);
  await ask("POST /suggestions/reject", { items: [ids[0]] });
  assert.deepEqual(await assetIds(), [two, one]);
  await ask("POST /suggestions/reject", { items: [ids[1]] });
  assert.deepEqual(await assetIds(), [two]);
});

test("a suggestion goes with its series, its file or its asset", async () => {
  const [one, two] = await made("assets", { name: "A-1" }, { name: "A-2" });
  const [series] = await made("timeseries", { name: "A1" });
  const file = await uploaded("drawing.svg");
  const create = () =>
    made(
      "suggestions",
      { seriesId: series, assetId: one, tag: "A1", score: 0 },
      { fileId: file, page: 1, box, assetId: one, tag: "A1", score: 0 },
      { fileId: file, page: 1, box, assetId: two, tag: "A1", score: 0 },
    );
  await create();
  await server.ask("POST /assets/delete", { items: [one] });
  assert.deepEqual(
    (await listed()).map(({ assetId }) => assetId),
    [two],
  );
  await server.ask("POST /files/delete", { items: [file] });
  assert.deepEqual(await listed(), []);
  await made("suggestions", { seriesId: series, assetId: two, tag: "A1", score: 0 });
  await server.ask("POST /timeseries/delete", { items: [series] });
  assert.deepEqual(await listed(), []);
});

test("one sees and reviews what one's rights cover on both sides", async () => {
  const [one, two] = await made("assets", { name: "A-1" }, { name: "B-1" });
  const [series, other] = await made("timeseries", { name: "A1" }, { name: "B1" });
  await compute({ scoreMax: 0 });
  const [ofOne, ofTwo] = idsOf(await ask("GET /suggestions"));
  const seen = async (key: Readonly<Record<string, string>>) =>
    idsOf(await ask("GET /suggestions", undefined, key));
  const everything = ["READ", "WRITE"];
  const within = await keyWith(
    reviewer,
    right("timeSeriesAcl", everything),
    right("assetsAcl", ["READ"], [one!]),
  );
  assert.deepEqual(await seen(within), [ofOne]);
  assert.deepEqual(await seen(await keyWith(reviewer, right("assetsAcl", ["READ"]))), []);
  assert.deepEqual(await seen(await keyWith(reviewer, right("timeSeriesAcl", ["READ"]))), []);
  const hidden = await ask("POST /suggestions/accept", { items: [ofTwo] }, within);
  assert.deepEqual([hidden.status, hidden.error!.message], [400, `No such ids: ${ofTwo}`]);
  assert.equal((await ask(`GET /suggestions/${ofTwo}`, undefined, within)).status, 404);
  const reader = await keyWith(reviewer, right("timeSeriesAcl", ["READ"]), right("assetsAcl", ["READ"]));
  const forbidden = await ask("POST /suggestions/accept", { items: [ofTwo] }, reader);
  assert.equal(forbidden.status, 403);
  assert.match(forbidden.error!.message, /timeSeriesAcl/);
  const outside = await keyWith(
    ...[reviewer, right("timeSeriesAcl", ["READ"]), right("assetsAcl", ["READ"])],
    right("timeSeriesAcl", everything, [one!]),
  );
  assert.equal((await ask("POST /suggestions/accept", { items: [ofTwo] }, outside)).status, 400);
  const none = await keyWith(right("timeSeriesAcl", everything), right("assetsAcl", everything));
  assert.equal((await ask("GET /suggestions", undefined, none)).status, 403);
  assert.equal((await ask("POST /suggestions/accept", { items: [ofOne] }, within)).status, 200);
  assert.deepEqual([await assetOf(series!), await assetOf(other!)], [one, undefined]);
  assert.ok(two);
  // A computation suggests no asset that its caller may not read.
  await ask("POST /suggestions/delete", { items: [ofTwo] });
  assert.deepEqual((await ask("POST /suggestions/timeseries", { scoreMax: 0 }, within)).json, {
    data: { examined: 1, proposed: 0 },
  });
});

test("an asset that is deleted while names are compared is not suggested", async () => {
  const [asset] = await made("assets", { name: "A-1" });
  await made("timeseries", { name: "A1" });
  const { services } = server.app;
  const { catalog } = services;
  let isFirst = true;
  const deleting: typeof catalog = {
    read: (tenant, work) => catalog.read(tenant, work),
    async write(project, work) {
      if (isFirst) {
        isFirst = false;
        await server.ask("POST /assets/delete", { items: [asset] });
      }
      return catalog.write(project, work);
    },
    lastId: () => catalog.lastId(),
    close: () => catalog.close(),
  };
  Object.assign(services, { catalog: deleting });
  const { data } = await compute({ scoreMax: 0 });
  Object.assign(services, { catalog });
  assert.deepEqual(data, { examined: 1, proposed: 0 });
  assert.deepEqual(await listed(), []);
});

test("invalid suggestions are refused", async () => {
  const [asset] = await made("assets", { name: "A-1" });
  const [series] = await made("timeseries", { name: "A1" });
  const file = await uploaded("drawing.svg");
  const good = { seriesId: series, assetId: asset, tag: "A1", score: 0 };
  const drawn = { fileId: file, page: 1, box, assetId: asset, tag: "A1", score: 0 };
  const invalid = (field: string) => `Invalid field - items[0].${field} - expected`;
  const table: [item: object, message: string, status?: number][] = [
    [{ ...good, seriesId: 5 }, `${invalid("seriesId")} the id of a record that you may read but got 5`],
    [{ ...good, assetId: 5 }, `${invalid("assetId")} the id of a record that you may read but got 5`],
    [{ ...drawn, fileId: 5 }, `${invalid("fileId")} the id of a record that you may read but got 5`],
    [{ ...good, fileId: file }, `${invalid("seriesId")} either seriesId or fileId`],
    [{ ...good, page: 1 }, `${invalid("page")} none without fileId but got 1`],
    [{ ...drawn, page: null }, `${invalid("page")} a page of the file but got null`],
    [{ ...drawn, page: limits.drawingPagesMax + 1 }, invalid("page")],
    [{ ...drawn, box: { ...box, width: 0.8 } }, `${invalid("box.width")} at most 1 - x but got 0.8`],
    [{ ...drawn, box: { ...box, x: 1.5 } }, invalid("box.x")],
    [{ ...good, state: "DONE" }, invalid("state")],
  ];
  for (const [item, message] of table) {
    const refused = await ask("POST /suggestions", { items: [item] });
    assert.equal(refused.status, 400, refused.text);
    assert.ok(refused.error!.message.startsWith(message), `${refused.error!.message} | ${message}`);
  }
  const twice = await ask("POST /suggestions", { items: [good, good] });
  assert.equal(twice.status, 409);
  assert.deepEqual(await listed(), []);
  for (const body of [{ scoreMax: limits.tagEditsMax + 1 }, { candidatesMax: 0 }, { cursor: "x" }])
    assert.equal((await ask("POST /suggestions/timeseries", body)).status, 400);
});

test("OData has the suggestions that one may see", async () => {
  const [one] = await made("assets", { name: "A-1" }, { name: "B-1" });
  await made("timeseries", { name: "A1" }, { name: "B1" });
  await compute({ scoreMax: 0 });
  const odata = async (query: string) => {
    const { json } = await server.ask.root(`GET /odata/v1/projects/demo/Suggestions${query}`, undefined, {
      "api-key": server.key,
    });
    return (json as { value: Item[] }).value;
  };
  const found = await odata(`?$filter=AssetId%20eq%20'${one}'%20and%20Score%20eq%200`);
  assert.deepEqual(
    found.map(({ Tag, State, AssetId }) => [Tag, State, AssetId]),
    [["A1", "OPEN", String(one)]],
  );
});
