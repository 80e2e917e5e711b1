// The metadata of files, in every version: lists, searches, changes, deletes, links to assets, and
// refusals.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
/** `plant > pump`, and the files by name. */
let assets: { readonly plant: number; readonly pump: number };
const files: Record<string, number> = {};
let unchanged: string;

const state = async () => (await server.ask("GET /files")).text + (await server.ask.v04("GET /storage")).text;

before(async () => {
  server = await startTestServer();
  const { items } = await server.ask("POST /assets", {
    items: [
      { name: "plant", refId: "p" },
      { name: "pump", parentRefId: "p" },
    ],
  });
  assets = { plant: idsOf({ items } as never)[0]!, pump: idsOf({ items } as never)[1]! };
  const { ask } = server;
  await start({ fileName: "pump_manual.pdf", directory: "docs", fileType: "pdf", assetIds: [assets.pump] });
  await start({ fileName: "site plan.dwg", source: "cad", sourceId: "1", assetIds: [assets.plant] });
  await start({ fileName: "log.txt", fileType: "txt", metadata: { shift: "night" } });
  const tagged = await ask.v04("POST /storage/metadata?resumable=False", {
    ...{ fileName: "trend.csv", directory: "docs", source: null, tagIds: ["21PT1019", "21PT1019"] },
  });
  files["trend.csv"] = (tagged.json as { data: { fileId: number } }).data.fileId;
  await fetch((tagged.json as { data: { uploadURL: string } }).data.uploadURL, {
    method: "PUT",
    body: "1,2",
  });
  unchanged = await state();
});
after(() => server.close());

async function start(file: { readonly fileName: string } & Record<string, unknown>): Promise<void> {
  const response = await server.ask("POST /files/initupload", file);
  assert.equal(response.status, 200, response.text);
  files[file.fileName] = (response.json as { data: { fileId: number } }).data.fileId;
}

const names = async (question: string, ask = server.ask.v05) => {
  const response = await ask(question);
  assert.equal(response.status, 200, response.text);
  return response.items.map((item) => item["fileName"]);
};
const all = ["pump_manual.pdf", "site plan.dwg", "log.txt", "trend.csv"];

describe("lists and searches", () => {
  it("list by every filter, in both orders", async () => {
    assert.deepEqual(await names("GET /files"), all);
    assert.deepEqual(await names("GET /files?sort=desc"), all.toReversed());
    const by = (query: string) => names(`GET /files?${query}`);
    assert.deepEqual(await by("dir=docs"), ["pump_manual.pdf", "trend.csv"]);
    assert.deepEqual(await by("name=log.txt"), ["log.txt"]);
    assert.deepEqual(await by("type=pdf"), ["pump_manual.pdf"]);
    assert.deepEqual(await by("fileType=txt"), ["log.txt"]);
    assert.deepEqual(await by("source=cad"), ["site plan.dwg"]);
    assert.deepEqual(await by("isUploaded=True"), ["trend.csv"]);
    assert.deepEqual(await by("isUploaded=false"), all.slice(0, 3));
    assert.deepEqual(await by(`assetId=${assets.plant}`), ["site plan.dwg"]);
    assert.deepEqual(await by(`path=[${assets.plant}]`), ["pump_manual.pdf", "site plan.dwg"]);
    assert.deepEqual(await by("dir=docs&type=txt"), []);
    assert.deepEqual(await names("GET /storage?tagId=21PT1019", server.ask.v04), ["trend.csv"]);
  });

  it("list the directories of all files, from any one on", async () => {
    const directories = async (query: string) =>
      (await server.ask.v06(`GET /files/directories?${query}`)).items;
    assert.deepEqual(await directories(""), ["docs"]);
    assert.deepEqual(await directories("after=doc"), ["docs"]);
    assert.deepEqual(await directories("after=docs"), []);
  });

  it("pages by cursor, forth and back, also newest first", async () => {
    for (const order of ["", "&sort=DESC"]) {
      const first = await server.ask(`GET /files?limit=3${order}`);
      assert.equal(first.previousCursor, undefined);
      const second = await server.ask(`GET /files?limit=3${order}&cursor=${first.nextCursor}`);
      assert.equal(second.nextCursor, undefined);
      assert.deepEqual([...idsOf(first), ...idsOf(second)].length, 4);
      const back = await server.ask(`GET /files?limit=3${order}&cursor=${second.previousCursor}`);
      assert.deepEqual(idsOf(back), idsOf(first));
    }
    const { nextCursor } = await server.ask("GET /files?limit=1");
    assert.equal((await server.ask(`GET /files?limit=1&dir=docs&cursor=${nextCursor}`)).status, 400);
  });

  it("search by words and by every filter", async () => {
    const by = (query: string) => names(`GET /files/search?${query}`);
    assert.deepEqual(await by("name=Man"), ["pump_manual.pdf"]);
    assert.deepEqual(await by("name=plan site"), ["site plan.dwg"]);
    assert.deepEqual(await by("directory=docs&uploaded=true"), ["trend.csv"]);
    assert.deepEqual(await by('metadata={"shift":"night"}'), ["log.txt"]);
    assert.deepEqual(await by(`assetSubtrees=[${assets.plant}]`), ["pump_manual.pdf", "site plan.dwg"]);
    assert.deepEqual(await by(`assetIds=[${assets.pump}]`), ["pump_manual.pdf"]);
    assert.deepEqual(await by("minUploadedAt=1"), ["trend.csv"]);
    assert.deepEqual(await by("maxCreatedTime=1"), []);
    assert.deepEqual(await by("sort=createdTime&dir=asc&limit=2&offset=1"), all.slice(1, 3));
  });
});

describe("the shapes of the versions", () => {
  it("0.5 and 0.6 show assetIds in items, 0.4 tagIds in one object", async () => {
    const id = files["pump_manual.pdf"]!;
    const [found] = (await server.ask(`GET /files/${id}`)).items;
    const { createdTime, lastUpdatedTime, ...rest } = found!;
    assert.equal(createdTime, lastUpdatedTime);
    assert.deepEqual(rest, {
      ...{ id, fileName: "pump_manual.pdf", directory: "docs", fileType: "pdf", metadata: {} },
      ...{ assetIds: [assets.pump], uploaded: false },
    });
    assert.deepEqual((await server.ask.v06(`GET /files/${id}`)).items, [found]);
    const info = await server.ask.v04(`GET /storage/${id}/info`);
    const { assetIds: _, ...others } = found!;
    assert.deepEqual((info.json as { data: object }).data, { ...others, tagIds: [] });
    const tagged = await server.ask.v04(`GET /storage/${files["trend.csv"]}/info`);
    assert.deepEqual((tagged.json as { data: { tagIds: string[] } }).data.tagIds, ["21PT1019"]);
    const link = (await server.ask.v04(`GET /storage/${files["trend.csv"]}`)).json as { data: string };
    assert.equal(await (await fetch(link.data)).text(), "1,2");
  });

  it("by ids in the requested order", async () => {
    const ids = [files["log.txt"]!, files["pump_manual.pdf"]!];
    assert.deepEqual(idsOf(await server.ask("POST /files/byids", { items: ids })), ids);
  });
});

describe("refusals, after which nothing has changed", () => {
  const missing = (field: string) => ({
    message: `Missing required field - ${field}`,
    missingFields: [field],
  });
  const refusals: readonly (readonly [string, unknown, number, object])[] = [
    ["POST /files/initupload", {}, 400, missing("fileName")],
    ["POST /files/initupload", { fileName: null }, 400, missing("fileName")],
    [
      "POST /files/initupload",
      { fileName: "x".repeat(257) },
      400,
      { message: "Invalid field - fileName - expected at most 256 characters but got 257" },
    ],
    [
      "POST /files/initupload",
      { fileName: "a", id: 5 },
      400,
      { message: "Invalid field - id - expected none, as the service assigns ids, but got 5" },
    ],
    [
      "POST /files/initupload",
      { fileName: "a", assetIds: [5] },
      400,
      { message: "Invalid field - assetIds - expected ids of existing assets but got 5" },
    ],
    [
      "POST /files/initupload?overwrite=true",
      { fileName: "a", source: "cad", sourceId: "1" },
      409,
      {
        message: "A file has this source and sourceId already: cad 1",
        duplicates: [{ id: "{site plan.dwg}", source: "cad", sourceId: "1" }],
      },
    ],
    [
      "POST /files/initupload",
      { fileName: "trend.csv", directory: "docs" },
      409,
      { message: "A file of this name exists in the directory already: trend.csv" },
    ],
    [
      "POST /files/initupload?resumable=maybe",
      { fileName: "a" },
      400,
      { message: "Invalid field - resumable - expected true or false but got maybe" },
    ],
    ["GET /files/5", undefined, 404, { message: "No such ids: 5", notFound: [5] }],
    ["GET /files/5/downloadlink", undefined, 404, { message: "No such ids: 5", notFound: [5] }],
    [
      "GET /files/{log.txt}/downloadlink",
      undefined,
      400,
      { message: "The bytes of the file log.txt have not been uploaded yet" },
    ],
    ["POST /files/byids", { items: [5] }, 400, { message: "No such ids: 5", notFound: [5] }],
    ["POST /files/byids", {}, 400, missing("items")],
    ["POST /files/5/update", {}, 404, { message: "No such ids: 5", notFound: [5] }],
    ["POST /files/update", { items: [{ id: 5 }] }, 400, { message: "No such ids: 5", notFound: [5] }],
    ["PUT /files", { items: [{ id: 5 }] }, 400, missing("items[0].fileName")],
    [
      "POST /files/{log.txt}/update",
      { fileName: { set: "trend.csv" }, directory: { set: "docs" } },
      409,
      { message: "A file of this name exists in the directory already: trend.csv" },
    ],
    [
      "POST /files/{log.txt}/update",
      { assetIds: { add: [5] } },
      400,
      { message: "Invalid field - assetIds - expected ids of existing assets but got 5" },
    ],
    [
      "GET /files?sort=up",
      undefined,
      400,
      { message: "Invalid field - sort - expected one of ASC, DESC but got up" },
    ],
    ["POST /files/delete", {}, 400, missing("items")],
  ];
  for (const [question, body, status, error] of refusals)
    it(`${question} ${JSON.stringify(body)?.slice(0, 60) ?? ""}`, async () => {
      const filled = (text: string) => text.replaceAll(/"?\{([^{}":]+)\}"?/g, (_, name) => `${files[name]}`);
      const response = await server.ask(filled(question), body);
      assert.equal(response.status, status, response.text);
      assert.deepEqual(response.error, { code: status, ...JSON.parse(filled(JSON.stringify(error))) });
      assert.equal(await state(), unchanged);
    });
});

describe("changes and deletes", () => {
  it("an unknown asset is refused with the index of its item", async () => {
    await start({ fileName: "linked" });
    const [unlinked, linked] = [{ id: files["log.txt"] }, { id: files["linked"], assetIds: { add: [5] } }];
    const { status, error } = await server.ask("POST /files/update", { items: [unlinked, linked] });
    const message = "Invalid field - items[1].assetIds - expected ids of existing assets but got 5";
    assert.deepEqual([status, error?.message], [400, message]);
    await server.ask("POST /files/delete", { items: [files["linked"]] });
  });

  it("one, many, and the whole of what is known", async () => {
    await start({ fileName: "draft", metadata: { a: "1" }, assetIds: [assets.pump], source: "s" });
    const id = files["draft"]!;
    const changed = await server.ask(`POST /files/${id}/update`, {
      ...{ fileName: { set: "final" }, source: { setNull: true }, metadata: { set: { b: "2" } } },
      ...{ assetIds: { add: [assets.plant], remove: [assets.pump] } },
    });
    const { fileName, source, metadata, assetIds } = changed.items[0]!;
    assert.deepEqual(
      [fileName, source, metadata, assetIds],
      ["final", undefined, { b: "2" }, [assets.plant]],
    );
    const patched = await server.ask(`PATCH /files/${id}`, { directory: { set: "out" } });
    assert.equal(patched.items[0]!["directory"], "out");
    const many = await server.ask.v06("POST /files/update", {
      items: [{ id, assetIds: { set: [assets.pump] }, tagIds: { add: ["t"] } }],
    });
    assert.deepEqual(many.json, {});
    for (const method of ["PUT", "POST"]) {
      const whole = { id, fileName: `whole ${method}`, fileType: "x", uploaded: true, createdTime: 1 };
      assert.deepEqual((await server.ask(`${method} /files`, { items: [whole] })).json, {});
      const [found] = (await server.ask(`GET /files/${id}`)).items;
      const { createdTime: _, lastUpdatedTime: __, ...rest } = found!;
      const expected = { ...whole, metadata: {}, assetIds: [], uploaded: false };
      assert.deepEqual({ ...rest, createdTime: 1 }, expected);
    }
  });

  it("an asset that goes takes the link with it, and the file stays", async () => {
    const { items } = await server.ask("POST /assets", { items: [{ name: "scrap" }] });
    const scrap = items[0]!["id"] as number;
    await start({ fileName: "about scrap", assetIds: [scrap, assets.pump] });
    await server.ask("POST /assets/delete", { items: [scrap] });
    const [found] = (await server.ask(`GET /files/${files["about scrap"]}`)).items;
    assert.deepEqual(found!["assetIds"], [assets.pump]);
  });

  it("delete says what went and what there was not", async () => {
    await start({ fileName: "gone" });
    const id = files["gone"]!;
    const response = await server.ask("POST /files/delete", { items: [5, id, id] });
    assert.deepEqual(response.json, { data: { deleted: [id], failed: [5] } });
    assert.equal((await server.ask(`GET /files/${id}`)).status, 404);
    const again = await server.ask.v04("POST /storage/delete", { items: [id] });
    assert.deepEqual(again.json, { data: { deleted: [], failed: [id] } });
  });
});
