// Raw data over OData: contained databases, tables and rows, open data of any JSON, and inserts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskOData, allItems, odataOf } from "../../../test/support/odata.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
let ask: AskOData;

before(async () => {
  server = await startTestServer();
  ask = odataOf(server);
  await server.ask("POST /raw/create", { items: [{ dbName: "plant" }, { dbName: "it's/odd" }] });
  await server.ask("POST /raw/plant/create", { items: [{ tableName: "pumps" }, { tableName: "empty" }] });
  await server.ask("POST /raw/it's%2Fodd/create", { items: [{ tableName: "pumps" }] });
  const rows = Array.from({ length: 25 }, (_, at) => ({
    key: `p-${String(at).padStart(2, "0")}`,
    columns: { rpm: at * 10, site: at % 2 ? "north" : "south" },
  }));
  await server.ask("POST /raw/plant/pumps/create", { items: rows });
  const odd =
    '{"items":[{"key":"x","columns":{"a.b":1,"n":null,"big":1e400,"on":true,"tags":["a","b"],' +
    '"mixed":[1,"a"],"sizes":[1,2.5],"size":{"height":2.5},"list":[{"q":1}],"none":[]}}]}';
  await server.ask("POST /raw/it's%2Fodd/pumps/create", odd, { "content-type": "application/json" });
});
after(() => server.close());

const found = async (path: string, name: string) => {
  const { status, items, text } = await ask(path);
  assert.equal(status, 200, text);
  return items.map((item) => item[name]);
};

async function refused(path: string, status: number, reason: string, options = {}): Promise<void> {
  const response = await ask(path, options);
  assert.equal(`${response.status} ${response.reason}`, `${status} ${reason}`, `${path} ${response.text}`);
}

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  method: "POST",
  body,
  headers: { "content-type": "application/json", ...headers },
});

test("databases, their tables and rows by path; the context names it", async () => {
  assert.deepEqual(await found("Raw?$filter=Database eq 'plant'", "Database"), ["plant"]);
  assert.deepEqual(await found("Raw?$filter=startswith(Database,'it')", "Database"), ["it's/odd"]);
  assert.deepEqual(await found("Raw('plant')/Tables", "Table"), ["empty", "pumps"]);
  assert.deepEqual(await found("Raw('it''s%2Fodd')/Tables", "Table"), ["pumps"]);
  const rows = await ask("Raw('plant')/Tables('pumps')/Rows?$top=1");
  const root = `${server.baseUrl}/odata/v1/projects/demo`;
  assert.equal(rows.json?.["@odata.context"], `${root}/$metadata#Raw('plant')/Tables('pumps')/Rows`);
  const one = await ask("Raw('plant')/Tables('pumps')/Rows('p-03')");
  assert.equal(one.json?.["@odata.context"], `${root}/$metadata#Raw('plant')/Tables('pumps')/Rows/$entity`);
  assert.deepEqual(one.json?.["RawData"], { rpm: 30, site: "north" });
  assert.equal((await ask("Raw('plant')/Tables('pumps')/Rows('p-03')/RawData/rpm")).json?.["value"], 30);
  assert.equal((await ask("Raw('plant')/Tables('pumps')/Rows/$count")).text, "25");
  await refused("Raw('plant')/Tables('none')/Rows", 404, "ResourceNotFound");
  await refused("Raw", 400, "FilterRequired");
});

test("tables and rows as sets of their own know where they are", async () => {
  assert.deepEqual(await found("Tables?$filter=Database eq 'plant'", "Table"), ["empty", "pumps"]);
  assert.deepEqual(await found("Tables?$filter=Table eq 'pumps'", "Database"), ["it's/odd", "plant"]);
  const filter = "Database eq 'plant' and Table eq 'pumps'";
  assert.equal((await ask(`Rows/$count?$filter=${filter}`)).text, "25");
  assert.deepEqual(await found(`Rows?$filter=${filter} and Key ge 'p-23'`, "Key"), ["p-23", "p-24"]);
  const [odd] = (await ask("Rows?$filter=Key eq 'x'")).items;
  assert.deepEqual([odd?.["Database"], odd?.["Table"]], ["it's/odd", "pumps"]);
});

test("rows page by page, over all tables too, each once; filtered by their data", async () => {
  const small = { headers: { prefer: "odata.maxpagesize=7" } };
  const path = "Raw('plant')/Tables('pumps')/Rows";
  assert.equal((await allItems(ask, path, small)).length, 25);
  const all = await allItems(ask, "Rows?$filter=Key ne ''&$select=Key", small);
  assert.equal(new Set(all.map(({ Key }) => Key)).size, 26);
  assert.equal(all.length, 26);
  assert.deepEqual(await found(`${path}?$filter=RawData/rpm ge 220 and RawData/site eq 'north'`, "Key"), [
    "p-23",
  ]);
  assert.deepEqual(await found(`${path}?$filter=RawData/none eq null&$top=1`, "Key"), ["p-00"]);
  assert.equal((await ask(`${path}/$count?$filter=RawData/site eq 'south'`)).text, "13");
  assert.equal((await allItems(ask, `${path}?$filter=RawData/site eq 'south'`, small)).length, 13);
  assert.deepEqual(await found("Rows?$filter=RawData/a_x002E_b eq 1", "Key"), ["x"]);
});

test("the next link works after the table of the last row, or its database, is deleted", async () => {
  const rows = { items: ["k0", "k1", "k2"].map((key) => ({ key })) };
  const small = { headers: { prefer: "odata.maxpagesize=2" } };
  for (const [path, body] of [
    ["gone/delete", { items: [{ tableName: "a" }] }],
    ["delete?recursive=true", { items: [{ dbName: "gone" }] }],
  ] as const) {
    for (const table of ["gone/a", "gone/b", "gone2/a"])
      await server.ask(`POST /raw/${table}/create?ensureParent=true`, rows);
    const first = await ask("Rows?$filter=startswith(Database,'gone')&$select=Database,Table,Key", small);
    assert.equal((await server.ask(`POST /raw/${path}`, body)).status, 200);
    const left = await allItems(ask, first.next!, small);
    const places = [...new Set(left.map(({ Database, Table }) => `${Database}/${Table}`))];
    const expected = path.startsWith("gone") ? ["gone/b", "gone2/a"] : ["gone2/a"];
    assert.deepEqual([first.items.length, left.length, places], [2, 3 * expected.length, expected]);
  }
  await server.ask("POST /raw/delete?recursive=true", { items: [{ dbName: "gone2" }] });
});

test("in and eq agree on numbers that are not finite", async () => {
  const path = "Raw('it''s%2Fodd')/Tables('pumps')/Rows";
  for (const value of ["INF", "-INF", "NaN"]) {
    assert.deepEqual(await found(`${path}?$filter=RawData/big eq ${value}`, "Key"), []);
    assert.deepEqual(await found(`${path}?$filter=RawData/big in (${value})`, "Key"), []);
    assert.deepEqual(await found(`${path}?$filter=not (RawData/big in (1,${value}))`, "Key"), ["x"]);
  }
  assert.deepEqual(await found(`${path}?$filter=RawData/a_x002E_b in (NaN,1)`, "Key"), ["x"]);
  assert.deepEqual(await found(`${path}?$filter=RawData/n in (INF,null)`, "Key"), ["x"]);
});

test("data of any JSON is written so that its types can be told", async () => {
  const { json } = await ask("Raw('it''s%2Fodd')/Tables('pumps')/Rows('x')");
  assert.deepEqual(json?.["RawData"], {
    a_x002E_b: 1,
    n: null,
    "big@odata.type": "#Double",
    big: "INF",
    on: true,
    "tags@odata.type": "#Collection(String)",
    tags: ["a", "b"],
    mixed: '[1,"a"]',
    "sizes@odata.type": "#Collection(Double)",
    sizes: [1, 2.5],
    size: { "@odata.type": "#DataPlatform.V1.RawData", height: 2.5 },
    "list@odata.type": "#Collection(DataPlatform.V1.RawData)",
    list: [{ "@odata.type": "#DataPlatform.V1.RawData", q: 1 }],
    "none@odata.type": "#Collection(String)",
    none: [],
  });
});

test("contained collections are expanded within each other, and lead to their rest", async () => {
  const { json } = await ask(
    "Raw('plant')?$expand=Tables($filter=Table eq 'pumps';$expand=Rows($top=2;$select=Key))",
  );
  const tables = json?.["Tables"] as { Rows: unknown[] }[] | undefined;
  assert.deepEqual(tables?.[0]?.Rows, [{ Key: "p-00" }, { Key: "p-01" }]);
});

test("inserts: a database, a table and rows, returned with the entity or without", async () => {
  const database = await ask("Raw", post({ Database: "new", "@odata.type": "#DataPlatform.V1.Raw" }));
  assert.equal(database.status, 201, database.text);
  assert.equal(database.headers.get("location"), `${server.baseUrl}/odata/v1/projects/demo/Raw('new')`);
  assert.ok(String(database.json?.["@odata.context"]).endsWith("$metadata#Raw/$entity"));
  await refused("Raw", 409, "EntityExists", post({ Database: "new" }));
  assert.equal((await ask("Raw('new')/Tables", post({ Table: "t" }))).status, 201);
  assert.equal((await ask("Tables", post({ Table: "u", Database: "new" }))).status, 201);
  const path = "Raw('new')/Tables('t')/Rows";
  const minimal = await ask(path, post({ Key: "k" }, { prefer: "return=minimal" }));
  assert.equal(minimal.status, 204);
  assert.equal(minimal.headers.get("preference-applied"), "return=minimal");
  const address = `${server.baseUrl}/odata/v1/projects/demo/${path}('k')`;
  assert.deepEqual(
    [minimal.headers.get("location"), minimal.headers.get("odata-entityid")],
    [address, address],
  );
  const data = '{"Key":"n","RawData":{"long":12345678901234567890,"f":1.0},"Extra":1}';
  assert.equal((await ask(path, post(data, { prefer: "return=representation" }))).status, 201);
  const stored = await server.ask("GET /raw/new/t/n");
  assert.ok(stored.text.includes('"long":12345678901234567890,"f":1.0'), stored.text);
  const named = {
    Database: "new",
    Table: "t",
    Key: "e",
    RawData: { a_x002E_b: 1, "c@odata.type": "#Int64", c: 2 },
  };
  const top = await ask("Rows", post(named));
  assert.equal(top.status, 201, top.text);
  assert.equal(top.headers.get("location"), `${server.baseUrl}/odata/v1/projects/demo/${path}('e')`);
  assert.deepEqual(top.json?.["RawData"], { a_x002E_b: 1, c: 2 });
  assert.ok((await server.ask("GET /raw/new/t/e")).text.includes('{"a.b":1,"c":2}'));
});

test("an insert keeps values as sent beside annotations and encoded names", async () => {
  const data =
    '"mail":"a@b.c","long":12345678901234567890,"f":1.0,"big":1e400,"n@odata.type":"#Int64","n":1.50,' +
    '"list":[{"@odata.type":"#x","a_x002E_b":[1.0,"]"]}, 2.0],"7":1,"3":2,"7":3';
  const path = "Raw('plant')/Tables('empty')/Rows";
  assert.equal((await ask(path, post(`{"Key":"k","RawData":{${data}}}`))).status, 201);
  const { text } = await server.ask("GET /raw/plant/empty/k");
  const kept =
    '"mail":"a@b.c","long":12345678901234567890,"f":1.0,"big":1e400,"n":1.50,' +
    '"list":[{"a.b":[1.0,"]"]},2.0],"7":1,"3":2,"7":3';
  assert.ok(text.includes(`"columns":{${kept}}`), text);
});

test("marks of annotations in values leave the data as it was sent, however long it is", async () => {
  const text = `@_x0020_ "\\ ${"x".repeat(limits.odataEncodedLengthMax)}`;
  const data = { mail: 'a@b: "c@d"', text, n: [1.5] };
  const inserted = await ask("Raw('new')/Tables('t')/Rows", post({ Key: "long", RawData: data }));
  assert.equal(inserted.status, 201, inserted.text);
  const { items } = await server.ask("GET /raw/new/t/long");
  assert.deepEqual(items[0]!["columns"], data);
  const annotated = { "n@odata.type": "#Double", n: 1, text };
  const path = "Raw('new')/Tables('t')/Rows";
  await refused(path, 400, "KeyInvalid", post({ Key: "longer", RawData: annotated }));
});

test("of concurrent inserts with one key, one is done and the others are refused", async () => {
  const inserts: [path: string, body: (at: number) => object][] = [
    ["Raw", () => ({ Database: "race" })],
    ["Raw('race')/Tables", () => ({ Table: "t" })],
    ["Raw('race')/Tables('t')/Rows", (at) => ({ Key: "k", RawData: { at } })],
  ];
  for (const [path, body] of inserts) {
    const responses = await Promise.all(Array.from({ length: 10 }, (_, at) => ask(path, post(body(at)))));
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array(9).fill(409)], path);
  }
  await server.ask("POST /raw/delete?recursive=true", { items: [{ dbName: "race" }] });
});

test("inserts that cannot be are refused, and nothing is there afterwards", async () => {
  const path = "Raw('plant')/Tables('pumps')/Rows";
  await refused(path, 409, "EntityExists", post({ Key: "p-00", RawData: { rpm: -1 } }));
  assert.equal((await ask(`${path}('p-00')/RawData/rpm`)).json?.["value"], 0);
  await refused("Tables", 400, "KeyInvalid", post({ Table: "t" }));
  await refused("Rows", 400, "KeyInvalid", post({ Key: "k", Table: "t" }));
  await refused(path, 400, "KeyInvalid", post({ RawData: {} }));
  await refused(path, 400, "KeyInvalid", post({ Key: "k", RawData: 1 }));
  await refused("Tables", 404, "RawDatabasesUnknown", post({ Database: "none", Table: "t" }));
  await refused("Rows", 404, "RawTablesUnknown", post({ Database: "plant", Table: "none", Key: "k" }));
  await refused("Raw", 400, "BodyNotJson", post("{"));
  await refused("Raw", 400, "BodyNotJson", post([]));
  await refused("Raw", 415, "ContentTypeUnsupported", post("x", { "content-type": "text/plain" }));
  await refused("Raw", 501, "FeatureNotSupported", post({ Database: "deep", Tables: [] }));
  for (const method of ["PATCH", "PUT", "DELETE"]) {
    const { status, headers } = await ask("Raw('plant')", { method });
    assert.equal(`${status} ${headers.get("allow")}`, "405 GET, HEAD", method);
  }
  assert.equal((await ask("Raw", { method: "DELETE" })).headers.get("allow"), "GET, HEAD, POST");
  assert.equal((await ask(`${path}/$count`)).text, "25");
  for (const Database of [".", ".."]) await refused("Raw", 400, "FieldInvalid", post({ Database }));
  for (const [where, body] of [
    ["Raw('plant')/Tables", { Table: "t", Database: "other" }],
    ["Raw('plant')/Tables('pumps')/Rows", { Key: "k", Database: "other" }],
    ["Raw('plant')/Tables('pumps')/Rows", { Key: "k", Database: "plant", Table: 5 }],
  ] as const)
    await refused(where, 400, "KeyInvalid", post(body));
});

test("the assets of a table are shown and filtered", async () => {
  const { items } = await server.ask.v06("POST /assets", { items: [{ name: "linked" }] });
  const id = items[0]!["id"];
  await server.ask("POST /raw/plant/create", { items: [{ tableName: "empty", assetIds: [id] }] });
  const tables = await ask("Raw('plant')/Tables?$select=Table,AssetIds");
  assert.deepEqual(
    tables.items.map(({ Table, AssetIds }) => [Table, AssetIds]),
    [
      ["empty", [`${id}`]],
      ["pumps", []],
    ],
  );
  const found = await ask(`Tables?$filter=Database eq 'plant' and AssetIds/any(a: a eq '${id}')`);
  assert.deepEqual([found.status, found.items.map(({ Table }) => Table)], [200, ["empty"]]);
});
