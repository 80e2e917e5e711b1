// Bytes that are not UTF-8 are refused by every route and reader, and nothing of the request is stored.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { routes } from "../resources.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ ...withFront, hostsModels: true });
  await server.ask("POST /raw/create", { items: [{ dbName: "db" }] });
  await server.ask("POST /raw/db/create", { items: [{ tableName: "t" }] });
  await server.ask("POST /timeseries", { items: [{ name: "words", isString: true }, { name: "numbers" }] });
});
after(() => server.close());

const latin = (text: string) => Buffer.from(text, "latin1");
const notUtf8 = (at: number) => `The body is not UTF-8 at byte ${at}; send it as UTF-8`;

test("every route with a body refuses one that is not UTF-8, and one of another charset", async () => {
  const bytes = latin('{"items":[{"name":"\xff"}]}');
  const routesWithBody = routes.filter(({ body }) => body);
  assert.ok(routesWithBody.length > 100, `${routesWithBody.length}`);
  for (const { method, path, versions } of routesWithBody) {
    const [version] = versions;
    const filled = path.replace("{resource}", "assets").replaceAll(/\{\w+\}/g, "1");
    const address = `/api/${version}/projects/demo${filled}`;
    const sent = { method, body: bytes, headers: { "api-key": server.key } };
    const response = await fetch(`${server.baseUrl}${address}`, sent);
    const text = await response.text();
    assert.equal(response.status, 400, `${method} ${address}: ${text}`);
    assert.ok(text.includes(notUtf8(19)), `${method} ${address}: ${text}`);
    const headers = { ...sent.headers, "content-type": "text/plain; charset=gbk" };
    const other = await fetch(`${server.baseUrl}${address}`, { ...sent, body: "{}", headers });
    assert.equal(other.status, 415, `${method} ${address}: ${await other.text()}`);
  }
});

test("raw rows whose keys differ in such a byte do not become one", async () => {
  const rows = latin('{"items":[{"key":"a\xe4","columns":{}},{"key":"a\xf6","columns":{}}]}');
  const sent = await server.ask("POST /raw/db/t/create", rows);
  assert.deepEqual([sent.status, sent.error?.message], [400, notUtf8(19)]);
  const cells = latin('{"items":[{"key":"a","columns":{"c":"\xe4"}}]}');
  assert.equal((await server.ask("POST /raw/db/t/create", cells)).error?.message, notUtf8(37));
  const csv = await server.ask("POST /raw/db/t/csv", latin("key,c\na\xe4,1\na\xf6,2\n"), {
    "content-type": "text/csv",
  });
  assert.deepEqual([csv.status, csv.error?.message], [400, notUtf8(7)]);
  const restored = await server.ask.v06("POST /restore/raw/db/t", rows);
  assert.equal(restored.error?.message, notUtf8(19));
  assert.deepEqual((await server.ask("GET /raw/db/t")).items, []);
});

test("a gzip body is refused at the byte of what it inflates to", async () => {
  const body = gzipSync(latin(`{"items":[{"name":"${"x".repeat(20_000)}\xff"}]}`));
  const { status, error } = await server.ask("POST /assets", body, { "content-encoding": "gzip" });
  assert.deepEqual([status, error?.message], [400, notUtf8(20_019)]);
});

test("inserts of datapoints refuse names and values that are not UTF-8", async () => {
  const one = latin('{"items":[{"timestamp":1,"value":"\xe4"}]}');
  assert.equal((await server.ask("POST /timeseries/data/words", one)).error?.message, notUtf8(34));
  const many = latin('{"items":[{"name":"w\xe4","datapoints":[{"timestamp":1,"value":1}]}]}');
  assert.equal((await server.ask("POST /timeseries/data", many)).error?.message, notUtf8(20));
  const { items } = await server.ask("GET /timeseries/data/words?start=0&end=10");
  assert.deepEqual(items[0]?.["datapoints"], []);
});

test("strings of a protobuf insert are UTF-8, and its numbers are any bytes", async () => {
  const headers = { "content-type": "application/protobuf" };
  const field = (tag: number, bytes: Buffer) => Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  const point = (value: Buffer) => field(10, Buffer.concat([Buffer.from([8, 1]), value]));
  const words = (value: Buffer) => field(10, point(field(18, value)));
  const broken = await server.ask("POST /timeseries/data/words", words(Buffer.from([0x61, 0xe4])), headers);
  const problem = "The body is not a valid protobuf message: a string is not UTF-8 at byte 9";
  assert.deepEqual([broken.status, broken.error?.message], [400, problem]);
  const own = await server.ask("POST /timeseries/data/words", words(Buffer.from("\ufffdä")), headers);
  assert.equal(own.status, 200, own.text);
  const double = Buffer.alloc(9, 17);
  double.writeDoubleLE(-1.5e-300, 1);
  const numbers = field(18, point(double));
  assert.equal((await server.ask("POST /timeseries/data/numbers", numbers, headers)).status, 200);
  const { items } = await server.ask("GET /timeseries/data/words?start=0&end=10");
  assert.deepEqual(items[0]?.["datapoints"], [{ timestamp: 1, value: "\ufffdä" }]);
});

test("OData refuses entities that are not UTF-8", async () => {
  const root = "/odata/v1/projects/demo";
  const entity = latin('{"Key":"a\xe4","Columns":{}}');
  const headers = { "content-type": "application/json", "api-key": server.key };
  const sent = await fetch(`${server.baseUrl}${root}/Raw`, { method: "POST", body: entity, headers });
  const text = await sent.text();
  assert.equal(sent.status, 400, text);
  assert.ok(text.includes(notUtf8(9)), text);
});

test("addresses that do not decode to UTF-8 are refused in path and query, over REST and OData", async () => {
  const problem = (piece: string, at: number) =>
    `its address has ${piece} at character ${at}, which is not UTF-8`;
  const cases: [path: string, problem: string][] = [
    ["/api/0.5/projects/demo/raw/db/t/a%FFb", problem("%FF", 33)],
    ["/api/0.5/projects/demo/assets?name=a%ffb", problem("%ff", 36)],
    ["/api/0.5/projects/demo/assets?name=%C3%A4%C3", problem("%C3", 41)],
    ["/api/0.5/projects/demo/assets?name=%ED%A0%80", problem("%ED", 35)],
    ["/api/0.5/projects/demo/assets?n%E4me=x", problem("%E4", 31)],
    ["/odata/v1/projects/demo/Assets?$filter=Name%20eq%20'%E4'", problem("%E4", 54)],
    ["/odata/v1/projects/demo/Assets('%E4')", problem("%E4", 32)],
    ["/login/status?x=%E4", problem("%E4", 16)],
    [
      "/api/0.5/projects/demo/assets?name=100%",
      'its address has a "%" without two hexadecimal digits at character 38; send "%25"',
    ],
  ];
  for (const [path, expected] of cases) {
    const response = await fetch(server.baseUrl + path, { headers: { "api-key": server.key } });
    const text = await response.text();
    assert.equal(response.status, 400, `${path}: ${text}`);
    assert.ok(text.includes(JSON.stringify(expected).slice(1, -1)), text);
  }
  const encoded = await server.ask("GET /assets?name=%C3%A4+%F0%9F%98%80%25");
  assert.equal(encoded.status, 200, encoded.text);
});

test("UTF-8 and US-ASCII pass in every spelling that clients send", async () => {
  const spellings = ["utf-8", "UTF-8", "utf8", '"UTF-8"', "utf_8", "US-ASCII", "us-ascii", "ascii"];
  for (const [at, charset] of spellings.entries()) {
    const headers = { "content-type": `application/json; Charset=${charset}` };
    const sent = await server.ask("POST /assets", { items: [{ name: `ä${at}` }] }, headers);
    assert.equal(sent.status, 200, `${charset}: ${sent.text}`);
    assert.equal(sent.items[0]?.["name"], `ä${at}`);
  }
  for (const charset of ["latin1", "iso-8859-1", "gbk", "utf-16", "windows-1252", "utf-80"]) {
    const headers = { "content-type": `application/json;charset=${charset}` };
    const { status, error } = await server.ask("POST /assets", { items: [{ name: "x" }] }, headers);
    const message = `The charset ${charset} is not supported; send UTF-8`;
    assert.deepEqual([status, error?.message], [415, message]);
  }
  assert.deepEqual((await server.ask("GET /assets?name=x")).items, []);
});
