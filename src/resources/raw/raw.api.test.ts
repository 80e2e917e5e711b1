// Raw data over the API, in every version: requests of clients, and exact responses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { contextWith } from "../../../test/support/context.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import type { Capability } from "../../access/capabilities.ts";
import { limits } from "../../limits.ts";
import { everything, oneOf } from "../../query/filter.ts";
import { projectIds } from "../projects/projects.ts";
import { createTables, listTables } from "./raw.ts";
import { rawDeletionTable, rawRowTable } from "./schema.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const versions = () => [server.ask.v04, server.ask.v05, server.ask.v06];
const hostile = [
  "a/b",
  "a+b c",
  "%2F",
  "%",
  "ål",
  "🏭",
  "q\"uo'te",
  "create",
  "delete",
  "csv",
  "raw",
  "?x=1&y#z",
  "a\\b",
  "line\nbreak",
  "__proto__",
  ";:@=,",
  "🏭".repeat(limits.nameLengthMax),
];
const segment = encodeURIComponent;

async function ok(
  methodAndPath: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<TestResponse> {
  const result = await server.ask(methodAndPath, body, headers);
  assert.equal(result.status, 200, `${methodAndPath}: ${result.text}`);
  return result;
}

/** Creates a table with these rows, as JSON text; returns its path. */
async function tableOf(...rows: string[]): Promise<string> {
  const path = `/raw/db/table${++tableCount}`;
  await ok(`POST ${path}/create?ensureParent=true`, `{"items":[${rows.join(",")}]}`);
  return path;
}
let tableCount = 0;

const keysOf = (result: TestResponse) => result.items.map((item) => item["key"]);
/** The rows of a response, without their times. */
const rowsText = ({ text }: TestResponse) => text.replaceAll(/,"lastUpdatedTime":\d+/g, "");

test("creation returns the requested names, in 0.6 with 201 and Location; existing ones stay", async () => {
  for (const [index, ask] of versions().entries()) {
    const status = index === 2 ? 201 : 200;
    const dbName = `created/${index}`;
    for (const _ of ["new", "existing"]) {
      const made = await ask("POST /raw/create", { items: [{ dbName }, { dbName: "twice" }, { dbName }] });
      assert.deepEqual([made.status, made.items], [status, [{ dbName }, { dbName: "twice" }, { dbName }]]);
      const at = `/api/0.6/projects/demo/raw/${segment(dbName)}`;
      assert.equal(made.headers.get("location"), status === 201 ? at : null);
      const table = await ask(`POST /raw/${segment(dbName)}/create`, { items: [{ tableName: "a b" }] });
      assert.deepEqual([table.status, table.items], [status, [{ tableName: "a b" }]]);
      assert.equal(table.headers.get("location"), status === 201 ? `${at}/a%20b` : null);
    }
    assert.deepEqual((await ask(`GET /raw/${segment(dbName)}`)).items, [{ tableName: "a b" }]);
  }
});

test("columns come back to the letter, numbers, order, blanks and repeated names included", async () => {
  const columns = [
    '{"n":1.0,"huge":1e400,"long":12345678901234567890123,"neg":-0.0,"exp":1E-7}',
    '{ "b" : [ 1.50 , {"deep":[null,true,{"x":2.00}]} ] ,\n "a":"\\u00e5\\/\\ud800" }',
    '{"z":1,"a":2,"z":3,"10":4,"2":5,"":6}',
    '{"__proto__":{"constructor":1},"\\\\":1,"\\n":2,"key":"k","columns":{"columns":[]}}',
    "{}",
    '{"text":"}],{\\"key\\":\\"x\\"}"}',
  ];
  const sent = columns.map(
    (text, index) => `{ "other":[{"columns":{}}], "columns": ${text} ,"key":"k${index}"}`,
  );
  const path = await tableOf(...sent);
  const expected = columns.map((text, index) => `{"key":"k${index}","columns":${text}}`);
  for (const ask of versions()) {
    assert.equal(rowsText(await ask(`GET ${path}`)), `{"data":{"items":[${expected.join(",")}]}}`);
    const one = await ask(`GET ${path}/k1`);
    assert.equal(rowsText(one), `{"data":{"items":[${expected[1]}]}}`);
    assert.ok(Math.abs((one.items[0]!["lastUpdatedTime"] as number) - Date.now()) < 60_000);
  }
  await server.restart();
  assert.equal(rowsText(await ok(`GET ${path}`)), `{"data":{"items":[${expected.join(",")}]}}`);
});

test("no columns are none, and the last of repeated members and of repeated keys counts", async () => {
  const path = await tableOf(
    '{"key":"a"}',
    '{"key":"b","columns":null}',
    '{"columns":{"x":1},"key":"no","columns":{"x":2},"\\u006bey":"c"}',
    '{"key":"d","columns":{"old":1}}',
    '{"key":"d","columns":{"new":1}}',
    '{"key":"e","columns":{"x":1},"columns":null}',
  );
  const { items } = await ok(`GET ${path}`);
  const columns = Object.fromEntries(items.map((item) => [item["key"], item["columns"]]));
  assert.deepEqual(columns, { a: {}, b: {}, c: { x: 2 }, d: { new: 1 }, e: {} });
  await ok(`POST ${path}/create`, '{"items":[{"key":"x"}],"items":[{"key":"c","columns":{"y":3}}]}');
  const after = (await ok(`GET ${path}`)).items;
  assert.deepEqual(
    after.map((item) => item["key"]),
    ["a", "b", "c", "d", "e"],
  );
  assert.deepEqual(after[2]!["columns"], { y: 3 });
});

test("selected columns are returned as sent, and a comma alone selects keys", async () => {
  const path = await tableOf('{"key":"k","columns":{"a" : 1.0,"b":[1.00],"\\u0063":3e0,"a":2.0}}');
  const columnsFor = async (query: string) =>
    /"columns":(.*),"last/.exec((await ok(`GET ${path}${query}`)).text)![1];
  assert.equal(await columnsFor("?columns=,"), "{}");
  assert.equal(await columnsFor("?columns=a"), '{"a" : 1.0,"a":2.0}');
  assert.equal(await columnsFor("?columns=c,b,none"), '{"b":[1.00],"\\u0063":3e0}');
  assert.equal(await columnsFor("?columns=b&columns=c"), '{"b":[1.00],"\\u0063":3e0}');
  assert.equal(await columnsFor("/k?columns=b"), '{"b":[1.00]}');
  assert.equal(await columnsFor("?columns="), '{"a" : 1.0,"b":[1.00],"\\u0063":3e0,"a":2.0}');
});

/** Names of operations; no record is read by them (docs/reference/common.md#names-of-operations). */
const operations = { tables: ["create", "delete"], rows: ["create", "delete", "csv"] };

test("names and keys may hold any letters, reserved words too", async () => {
  for (const name of hostile) {
    const path = `/raw/${segment(name)}/${segment(name)}`;
    await ok(`POST ${path}/create?ensureParent=True`, {
      items: hostile.map((key) => ({ key, columns: { key } })),
    });
    for (const key of hostile) {
      const response = await server.ask(`GET ${path}/${segment(key)}`);
      assert.equal(response.status, operations.rows.includes(key) ? 405 : 200, key);
      if (response.status === 405) continue;
      const [row] = (response.json as { data: { items: Record<string, unknown>[] } }).data.items;
      assert.deepEqual([row!["key"], row!["columns"]], [key, { key }]);
    }
    await ok(`POST ${path}/delete`, { items: hostile.slice(1).map((key) => ({ key, columns: null })) });
    if (operations.tables.includes(name)) {
      assert.equal((await server.ask(`GET /raw/${name}`)).status, 405);
      assert.equal((await server.ask(`GET ${path}`)).status, 405);
      continue;
    }
    assert.deepEqual((await ok(`GET /raw/${segment(name)}`)).items, [{ tableName: name }]);
    assert.deepEqual(keysOf(await ok(`GET ${path}`)), [hostile[0]]);
  }
  const { items } = await ok("GET /raw?limit=1000");
  for (const name of hostile)
    assert.ok(
      items.some((item) => item["dbName"] === name),
      name,
    );
});

test("the longest key of the widest letters is read by its path", async () => {
  const key = "🏭".repeat(1024);
  const path = await tableOf(JSON.stringify({ key, columns: { a: 1 } }));
  assert.deepEqual(keysOf(await ok(`GET ${path}/${segment(key)}`)), [key]);
});

test("pages run by key in the order of code points, forwards and back", async () => {
  const keys = ["", "￿", "🏭", "Z", "a", "z", "10", "9", "é", "~"].filter((key) => key !== "");
  const path = await tableOf(...keys.map((key) => JSON.stringify({ key })));
  const inOrder = ["10", "9", "Z", "a", "z", "~", "é", "￿", "🏭"];
  const first = await ok(`GET ${path}?limit=4`);
  const second = await ok(`GET ${path}?limit=4&columns=a&cursor=${first.nextCursor}`);
  const third = await ok(`GET ${path}?limit=4&cursor=${second.nextCursor}`);
  assert.deepEqual([first, second, third].flatMap(keysOf), inOrder);
  assert.deepEqual([first.previousCursor, third.nextCursor], [undefined, undefined]);
  assert.deepEqual(
    keysOf(await ok(`GET ${path}?limit=4&cursor=${third.previousCursor}`)),
    inOrder.slice(4, 8),
  );
  const foreign = await server.ask(`GET ${path}x?limit=4&cursor=${first.nextCursor}`);
  assert.equal(foreign.status, 400);
  assert.deepEqual((await ok(`GET ${path}?limit=0`)).items, []);
});

test("databases and tables come in pages of 25, by name", async () => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index + 10}`);
  await ok("POST /raw/create", { items: names.map((dbName) => ({ dbName })) });
  await ok("POST /raw/p10/create", { items: names.toReversed().map((tableName) => ({ tableName })) });
  const first = await ok("GET /raw/p10");
  assert.deepEqual(
    first.items.map((item) => item["tableName"]),
    names.slice(0, 25),
  );
  const second = await ok(`GET /raw/p10?cursor=${first.nextCursor}`);
  assert.deepEqual(
    second.items.map((item) => item["tableName"]),
    names.slice(25),
  );
  assert.equal((await ok("GET /raw")).items.length, 25);
  assert.equal((await ok("GET /raw?limit=3")).items.length, 3);
  assert.equal(
    (await tableOf(...names.map((key) => JSON.stringify({ key }))).then((path) => ok(`GET ${path}`))).items
      .length,
    25,
  );
});

test("rows written after one time and up to another", async () => {
  const path = await tableOf('{"key":"a"}', '{"key":"b"}', '{"key":"c"}');
  const timeOf = async (key: string) =>
    (await ok(`GET ${path}/${key}`)).items[0]!["lastUpdatedTime"] as number;
  for (const key of ["b", "c"]) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await ok(`POST ${path}/create`, { items: [{ key }] });
  }
  const [a, b, c] = [await timeOf("a"), await timeOf("b"), await timeOf("c")];
  assert.ok(a! < b! && b! < c!);
  const found = async (query: string) => keysOf(await ok(`GET ${path}?${query}`));
  assert.deepEqual(await found(`minLastUpdatedTime=${a}`), ["b", "c"]);
  assert.deepEqual(await found(`maxLastUpdatedTime=${b}`), ["a", "b"]);
  assert.deepEqual(await found(`minLastUpdatedTime=${a}&maxLastUpdatedTime=${b}`), ["b"]);
  assert.deepEqual(await found(`minLastUpdatedTime=${c}`), []);
});

test("long rows end a page early, with a cursor to the rest, in both directions", async () => {
  const long = "x".repeat(900_000);
  const path = await tableOf('{"key":"00"}');
  const keys = Array.from({ length: 1_100 }, (_, index) => `k${index + 1000}`);
  await ok(`POST ${path}/create`, { items: keys.map((key) => ({ key })) });
  for (let at = 0; at < 40; at += 20)
    await ok(`POST ${path}/create`, {
      items: keys.slice(at, at + 20).map((key) => ({ key, columns: { long } })),
    });
  const first = await ok(`GET ${path}?limit=10000`, undefined, { "accept-encoding": "identity" });
  assert.equal(first.items.length, 39);
  const second = await ok(`GET ${path}?limit=10000&columns=,&cursor=${first.nextCursor}`);
  assert.deepEqual([...keysOf(first), ...keysOf(second)], ["00", ...keys]);
  assert.equal(second.nextCursor, undefined);
  const back = await ok(`GET ${path}?limit=10000&columns=,&cursor=${second.previousCursor}`);
  assert.deepEqual(keysOf(back), keysOf(first).slice(1));
  const start = await ok(`GET ${path}?limit=10000&columns=,&cursor=${back.previousCursor}`);
  assert.deepEqual(keysOf(start), ["00"]);
});

test("CSV out: quoted header, plain cells, JSON text of what nests, numbers as sent", async () => {
  const path = await tableOf(
    '{"key":"a","columns":{"n":1.0,"t":"plain","o":{"x":[1.0,"q"]},"none":null}}',
    '{"key":"b,\\"c","columns":{"t":"li\\nne","late":true,"e":1e400}}',
  );
  const csv = async (query: string) => {
    const result = await ok(`GET ${path}${query}`, undefined, { accept: "text/csv" });
    assert.match(result.headers.get("content-type")!, /^text\/csv/);
    return result.text;
  };
  assert.equal(
    await csv(""),
    `"key","n","t","o","none","late","e"
a,1.0,plain,"{""x"":[1.0,""q""]}",,,
"b,""c",,"li\nne",,,true,1e400
`,
  );
  const first = await ok(`GET ${path}?columns=late&limit=1`, undefined, { accept: "text/csv" });
  const cursor = first.headers.get("x-next-cursor");
  assert.ok(first.headers.get("link")!.endsWith(`?columns=late&limit=1&cursor=${cursor}>; rel="next"`));
  assert.equal(await csv(`?columns=late&limit=1&cursor=${cursor}`), '"key","late"\n"b,""c",true\n');
  assert.equal(
    (await ok(`GET ${path}`, undefined, { accept: "text/csv" })).headers.get("x-next-cursor"),
    null,
  );
  assert.equal(await csv("?columns=late,n&limit=1"), '"key","late","n"\na,,1.0\n');
  assert.equal(await csv("?columns=,"), '"key"\na\n"b,""c"\n');
});

test("CSV in: every cell is a string, empty ones are omitted, the table is created on request", async () => {
  const csv = '\ufeff"key","n","t ü"\r\na,1.0,"x,""y"\r\nb,,\r\n\r\nc,"new\nline",z\r\n';
  for (const [index, ask] of versions().entries()) {
    const path = `/raw/from csv/${index}`;
    assert.equal((await ask(`POST ${path}/csv`, csv)).status, 404);
    const done = await ask(`POST ${path}/csv?ensureParent=true`, csv, { "content-type": "text/csv" });
    assert.deepEqual([done.status, done.json], [200, {}]);
    const { items } = await ask(`GET ${path}`);
    assert.deepEqual(
      items.map((item) => [item["key"], item["columns"]]),
      [
        ["a", { n: "1.0", "t ü": 'x,"y' }],
        ["b", {}],
        ["c", { n: "new\nline", "t ü": "z" }],
      ],
    );
  }
});

test("requests that make the same table at the same time all write to it", async () => {
  const rows = Array.from({ length: 20 }, (_, index) => `k${index + 10}`);
  await Promise.all(
    rows.map((key) =>
      ok("POST /raw/at once/t/create?ensureParent=true", { items: [{ key, columns: { key } }] }),
    ),
  );
  assert.deepEqual((await ok("GET /raw/at once")).items, [{ tableName: "t" }]);
  assert.deepEqual(keysOf(await ok("GET /raw/at once/t")), rows);
  await server.ask("POST /raw/at once 2/create?ensureParent=true", { items: [{ tableName: "t" }] });
  assert.deepEqual((await ok("GET /raw/at once 2")).items, [{ tableName: "t" }]);
});

test("what is deleted is gone with all below it, and comes back empty", async () => {
  await ok("POST /raw/doomed/one/create?ensureParent=true", { items: [{ key: "a" }] });
  const keys = Array.from({ length: 4_500 }, (_, index) => ({ key: `${index}` }));
  await ok("POST /raw/doomed/two/create?ensureParent=true", { items: keys });
  await ok("POST /raw/doomed/delete", { items: [{ tableName: "one" }, { tableName: "one" }] });
  assert.deepEqual((await ok("GET /raw/doomed")).items, [{ tableName: "two" }]);
  await ok("POST /raw/delete?recursive=TRUE", { items: [{ dbName: "doomed" }] });
  for (const path of ["/raw/doomed", "/raw/doomed/two", "/raw/doomed/two/1"])
    assert.equal((await server.ask(`GET ${path}`)).status, 404);
  await ok("POST /raw/doomed/two/create?ensureParent=true", {
    items: [{ key: "4499", columns: { new: 1 } }],
  });
  const again = await ok("GET /raw/doomed/two");
  assert.deepEqual(
    again.items.map(({ key, columns }) => [key, columns]),
    [["4499", { new: 1 }]],
  );
  await server.app.services.rowDeletions.settled();
  assert.deepEqual(await left(["4498", "4499"]), { rows: 1, pending: 0 });
  assert.deepEqual((await ok("GET /raw/doomed/two")).items, again.items);
});

test("rows that a stop left of a deleted table follow after the next start", async () => {
  const path = await tableOf(...["x1", "x2"].map((key) => JSON.stringify({ key })));
  const { services } = server.app;
  await services.rowDeletions.stop();
  const [, , database, table] = path.split("/");
  await ok(`POST /raw/${database}/delete`, { items: [{ tableName: table }] });
  assert.equal((await server.ask(`GET ${path}`)).status, 404);
  assert.deepEqual(await left(["x1", "x2"]), { rows: 2, pending: 1 });
  await server.restart();
  await server.app.services.rowDeletions.settled();
  assert.deepEqual(await left(["x1", "x2"]), { rows: 0, pending: 0 });
});

/** The rest in the store: rows of any table with these keys, and notes on tables that are gone. */
async function left(keys: readonly string[]) {
  const { services } = server.app;
  const [projectId] = await projectIds(services);
  return services.catalog.read(projectId!, async (tx) => ({
    rows: await tx.count(rawRowTable, oneOf("key", keys)),
    pending: await tx.count(rawDeletionTable, everything),
  }));
}

test("tables are linked to assets, listed by them, and lose the links with them", async () => {
  const { items: assets } = await server.ask.v06("POST /assets", { items: [{ name: "a1" }, { name: "a2" }] });
  const [first, second] = assets.map(({ id }) => id as number) as [number, number];
  const tables = [{ tableName: "both", assetIds: [first, second] }, { tableName: "none" }];
  const made = await server.ask.v06("POST /raw/linked/create?ensureParent=true", { items: tables });
  assert.deepEqual([made.status, made.items], [201, tables]);
  await server.ask("POST /raw/elsewhere/t/create?ensureParent=true", { items: [{ key: "k" }] });
  const list = async (path: string) => (await server.ask(`GET /raw${path}`)).items;
  assert.deepEqual(await list("/linked"), tables);
  assert.deepEqual(await list(`/linked?assetId=${second}`), [tables[0]]);
  assert.deepEqual(await list(`?assetId=${first}`), [{ dbName: "linked" }]);
  assert.deepEqual([await list("?assetId=5"), await list("/linked?assetId=5")], [[], []]);

  // Made again without links it keeps them; with others it changes; a row written into it changes nothing.
  await server.ask("POST /raw/linked/create", { items: [{ tableName: "both" }] });
  await server.ask("POST /raw/linked/both/create", { items: [{ key: "k" }] });
  assert.deepEqual(await list("/linked"), tables);
  await server.ask("POST /raw/linked/create", { items: [{ tableName: "none", assetIds: [second] }] });
  assert.equal((await list(`/linked?assetId=${second}`)).length, 2);
  const unknown = { items: [{ tableName: "new", assetIds: [5] }] };
  const refused = await server.ask("POST /raw/linked/create", unknown);
  assert.equal(refused.status, 400);
  assert.match(refused.error!.message, /assetIds - expected ids of existing assets but got 5/);
  assert.equal((await list("/linked")).length, 2);

  await server.ask("POST /assets/delete", { items: [second] });
  assert.deepEqual(await list("/linked"), [{ tableName: "both", assetIds: [first] }, { tableName: "none" }]);
  await server.ask("POST /raw/linked/create", { items: [{ tableName: "both", assetIds: [] }] });
  assert.deepEqual(await list(`?assetId=${first}`), []);
});

test("a table is not linked to an asset that its writer may not know of", async () => {
  const { items } = await server.ask.v06("POST /assets", { items: [{ name: "seen" }, { name: "hidden" }] });
  const [seen, hidden] = items.map(({ id }) => id as number) as [number, number];
  const [projectId] = await projectIds(server.app.services);
  const capabilities: Capability[] = [
    { acl: "rawAcl", actions: ["LIST", "WRITE"], scope: { kind: "all" } },
    { acl: "assetsAcl", actions: ["READ"], scope: { kind: "subtrees", assetIds: [seen] } },
  ];
  const limited = contextWith(server.app.services, capabilities, projectId);
  const link = (assetId: number) =>
    createTables(limited, "limited", {
      tables: [{ name: "t", assetIds: [assetId] }],
      ensureParent: true,
    });
  await assert.rejects(link(hidden), refusal("field-invalid"));
  await link(seen);
  await assert.rejects(link(5), refusal("field-invalid"));
  const { items: tables } = await listTables(limited, "limited", { limit: 5 });
  assert.deepEqual(
    tables.map(({ assetIds }) => assetIds),
    [[seen]],
  );
});

test("a page starts at any key, and its cursors lead to the rows after and before", async () => {
  const keys = ["a", "b", "d", "e/1", "å"];
  const path = await tableOf(...keys.map((key) => `{"key":${JSON.stringify(key)}}`));
  const page = (query: string) => ok(`GET ${path}?limit=2&${query}`);
  const cases: [startKey: string, keys: string[]][] = [
    ["b", ["b", "d"]],
    ["c", ["d", "e/1"]],
    ["e/1", ["e/1", "å"]],
    ["z", ["å"]],
    ["🏭", []],
  ];
  for (const [startKey, expected] of cases)
    assert.deepEqual(keysOf(await page(`startKey=${segment(startKey)}`)), expected, startKey);
  for (const first of ["", "a"]) {
    const { previousCursor: none } = await page(`startKey=${first}`);
    assert.equal(none, undefined, `there is no row before "${first}"`);
  }
  const { nextCursor, previousCursor } = await page("startKey=c");
  assert.deepEqual(keysOf(await page(`cursor=${segment(nextCursor!)}`)), ["å"]);
  const before = await page(`cursor=${segment(previousCursor!)}`);
  assert.deepEqual(keysOf(before), ["a", "b"]);
  assert.equal(before.previousCursor, undefined);
  const afterAll = await page(`startKey=${segment("🏭")}`);
  assert.equal(afterAll.nextCursor, undefined);
  assert.deepEqual(keysOf(await page(`cursor=${segment(afterAll.previousCursor!)}`)), ["e/1", "å"]);
  const filtered = await page("startKey=b&minLastUpdatedTime=9999999999999");
  assert.deepEqual(keysOf(filtered), []);
  const none = await page(`minLastUpdatedTime=9999999999999&cursor=${segment(filtered.previousCursor!)}`);
  assert.deepEqual(keysOf(none), [], "rows before, none of which matches the filter");
  const both = await server.ask(`GET ${path}?startKey=a&cursor=${segment(nextCursor!)}`);
  assert.equal(both.status, 400);
  assert.match(both.error!.message, /startKey - expected no value beside cursor but got a/);
});

test("a page counts the rows of its table on request, without those that its filters exclude", async () => {
  const path = await tableOf('{"key":"a"}', '{"key":"b"}', '{"key":"c"}');
  const countOf = async (query: string) => {
    const { json } = await ok(`GET ${path}?limit=1&${query}`);
    return (json as { data: { rowCount?: number } }).data.rowCount;
  };
  assert.equal(await countOf(""), undefined);
  assert.equal(await countOf("includeRowCount=true"), 3);
  assert.equal(await countOf("includeRowCount=true&startKey=b"), 3);
  assert.equal(await countOf("includeRowCount=true&maxLastUpdatedTime=1"), 0);
});

test("rows that are counted in several parts are each counted once", async () => {
  const path = await tableOf('{"key":"last"}');
  const most = limits.recordsCountedAtOnce;
  const counted = async () => {
    const { json } = await ok(`GET ${path}?limit=1&columns=,&includeRowCount=true`);
    return (json as { data: { rowCount: number } }).data.rowCount;
  };
  for (const [part, rows] of [most - 1, most, 1].entries()) {
    const items = Array.from({ length: rows }, (_, row) => `{"key":"${part} ${row}"}`);
    await ok(`POST ${path}/create`, `{"items":[${items.join(",")}]}`);
    assert.equal(await counted(), [most, 2 * most, 2 * most + 1][part]);
  }
});
