// The audit log over the API: callers, operations and results, in a chain that shows each tampered record.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { type Item, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ trustedProxies: ["127.0.0.1"] });
});
after(() => server.close());

const list = async (query = "") => (await server.ask.v06(`GET /audit?${query}`)).items;
const newest = async (query = "") => (await list(`limit=1&${query}`))[0]!;
const named = (record: Item) => [record["kind"], record["action"], record["result"], record["status"]];

async function made(path: string, item: object): Promise<Item> {
  const result = await server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(result.status < 300, result.text);
  return result.items[0]!;
}

/** A key of a new account with these capabilities. */
async function keyWith(uniqueName: string, ...capabilities: object[]): Promise<string> {
  const { id } = await made("/groups", { name: uniqueName, capabilities });
  const user = await made("/users", { uniqueName, groups: [id] });
  return (await made("/apikeys", { userId: user["id"] }))["value"] as string;
}

test("a change of rights is recorded with its account, key, address and records", async () => {
  const from = { "x-forwarded-for": "203.0.113.7" };
  const body = { items: [{ name: "operators", capabilities: [] }] };
  const made = await server.ask.v06("POST /groups", body, from);
  const [id] = idsOf(made);
  const keys = (await server.ask.v06("GET /apikeys")).items;
  const record: Item = await newest();
  assert.deepEqual(record as object, {
    ...record,
    ...{ account: "administrator", credential: "key", keyId: keys[0]!["id"], address: "203.0.113.7" },
    ...{ kind: "rights", action: "POST /groups", resource: "groups", result: "done", status: 201 },
    ...{ ids: ["operators", String(id)], idsCount: 1 },
    requestId: made.headers.get("x-request-id"),
  });
  assert.ok((record["time"] as number) <= (record["endedTime"] as number));
  await server.ask.v06(`DELETE /groups/${id}`);
  assert.deepEqual(named(await newest()), ["rights", "DELETE /groups/{groupId}", "done", 200]);
});

test("keys, settings, deletions and exports are recorded, and no secret with them", async () => {
  const key = await keyWith("secretive");
  const [asset] = idsOf(await server.ask.v06("POST /assets", { items: [{ name: "pump" }] }));
  await server.ask.v06("POST /assets/delete", { items: [asset] });
  assert.deepEqual((await newest())["ids"], [String(asset)]);
  await server.ask.v06("POST /raw/create", { items: [{ dbName: "plant" }] });
  await server.ask.v06("POST /raw/plant/create", { items: [{ tableName: "pumps" }] });
  await server.ask.v06("GET /raw/plant/pumps", undefined, { accept: "text/csv" });
  const kinds = (await list("limit=3")).map(named);
  assert.deepEqual(kinds, [
    ["export", "GET /raw/{database}/{table}", "done", 200],
    ["deletion", "POST /assets/delete", "done", 200],
    ["keys", "POST /apikeys", "done", 201],
  ]);
  const all = (await server.ask.v06("GET /audit?limit=1000")).text;
  assert.ok(!all.includes(key) && !all.includes(server.key));
});

test("refused changes name the caller and the refusal", async () => {
  const key = await keyWith("reader", { assetsAcl: { actions: ["READ"], scope: { all: {} } } });
  const refused = await server.ask.v06("POST /groups", { items: [] }, { "api-key": key });
  assert.equal(refused.status, 403);
  const record = await newest();
  assert.deepEqual(named(record), ["rights", "POST /groups", "refused", 403]);
  assert.deepEqual([record["account"], record["error"]], ["reader", "forbidden"]);
  await server.ask.v06("POST /groups/delete", { items: [12345] });
  assert.deepEqual(named(await newest()), ["rights", "POST /groups/delete", "refused", 400]);
});

test("sign-ins and refused credentials are recorded, requests without credentials are not", async () => {
  const before = (await newest())["seq"] as number;
  await server.ask.root("POST /session", { apiKey: server.key }, { "api-key": undefined });
  await server.ask.root("POST /session", { apiKey: "wrong" }, { "api-key": undefined });
  await server.ask.v06("GET /assets", undefined, { "api-key": "wrong as well" });
  await server.ask.v06("GET /assets", undefined, { "api-key": undefined });
  const records = (await list("kind=sign-in&limit=10")).filter(({ seq }) => (seq as number) > before);
  assert.deepEqual(
    records.map((record) => [...named(record), record["account"]]),
    [
      ["sign-in", "GET /assets", "refused", 401, ""],
      ["sign-in", "POST /session", "refused", 401, ""],
      ["sign-in", "POST /session", "done", 200, "administrator"],
    ],
  );
});

test("writes and reads of data are not recorded by default", async () => {
  const before = await newest();
  await server.ask.v06("POST /assets", { items: [{ name: "tank" }] });
  await server.ask.v06("POST /timeseries/data/level", { items: [{ timestamp: 1, value: 1 }] });
  await server.ask.v06("GET /assets");
  assert.deepEqual(await newest(), before);
});

test("the list has pages, newest first, and filters", async () => {
  const seqs = (items: readonly Item[]) => items.map(({ seq }) => seq as number);
  const all = seqs(await list("limit=1000"));
  assert.deepEqual(
    all,
    all.map((_, index) => all.length - index),
    "without gaps",
  );
  const first = await server.ask.v06("GET /audit?limit=4");
  const second = await server.ask.v06(`GET /audit?limit=4&cursor=${first.nextCursor}`);
  assert.deepEqual([...seqs(first.items), ...seqs(second.items)], all.slice(0, 8));
  const reader = await list("account=reader");
  assert.ok(reader.length > 0 && reader.every(({ account }) => account === "reader"));
  const { time } = await newest();
  assert.equal((await list(`minTime=${(time as number) + 1}`)).length, 0);
  assert.ok((await list("kind=keys&result=done")).every(({ kind }) => kind === "keys"));
});

test("only the capability auditAcl shows records", async () => {
  const scope = { all: {} };
  const subtree = { assetIdScope: { subtreeIds: ["1"] } };
  const cases = [
    [await keyWith("auditor", { auditAcl: { actions: ["READ"], scope } }), 200],
    [await keyWith("group admin", { groupsAcl: { actions: ["LIST", "READ"], scope } }), 403],
    [await keyWith("bound", { assetsAcl: { actions: ["READ", "WRITE"], scope: subtree } }), 403],
    [await keyWith("none"), 403],
  ] as const;
  for (const [key, status] of cases)
    for (const path of ["/audit", "/audit/verification"]) {
      const result = await server.ask.v06(`GET ${path}`, undefined, { "api-key": key });
      assert.equal(result.status, status, path);
      if (status !== 200) assert.deepEqual(result.items, []);
    }
  const capabilities = [{ auditAcl: { actions: ["READ"], scope: subtree } }];
  const bound = await server.ask.v06("POST /groups", { items: [{ name: "bound", capabilities }] });
  assert.equal(bound.status, 400);
});

test("the set AuditRecords shows the same records over OData", async () => {
  const odata = (path: string, key = server.key) =>
    fetch(`${server.baseUrl}/odata/v1/projects/demo/AuditRecords${path}`, { headers: { "api-key": key } });
  const total = (await newest())["seq"];
  assert.equal(await (await odata("/$count")).text(), String(total));
  const filter = encodeURIComponent("Kind eq 'keys' and Result eq 'done'");
  const { value } = (await (await odata(`?$filter=${filter}`)).json()) as { value: Item[] };
  const records = await list("kind=keys&result=done&limit=1000");
  assert.deepEqual(
    value.map(({ Sequence, Action, Ids }) => [Sequence, Action, Ids]),
    records.map(({ seq, action, ids }) => [String(seq), action, ids]),
  );
  const one = (await (await odata(`('${total}')`)).json()) as Item;
  assert.equal(one["Hash"], (await newest())["hash"]);
  const key = await keyWith("no auditor");
  assert.equal((await odata("?$top=1", key)).status, 403);
});

const verification = async () =>
  ((await server.ask.v06("GET /audit/verification")).json as { data: Item }).data;

/** Runs statements in the catalog beside the server. */
async function change(sql: string): Promise<void> {
  if (server.catalogUrl !== undefined) {
    const { statement } = await import("../../../test/support/postgres.ts");
    return statement(server.catalogUrl, sql);
  }
  const database = new DatabaseSync(join(server.dataFolder, "catalog.db"));
  database.exec("pragma busy_timeout = 60000");
  database.exec(sql);
  database.close();
}

/** Changes the log beside the server, and puts it back. */
async function tampered(statement: string, check: () => Promise<void>): Promise<void> {
  await change("create table kept as select * from audit_records");
  await change(statement);
  await check();
  await change("delete from audit_records; insert into audit_records select * from kept; drop table kept");
}

test("a tampered log names its first broken record", async () => {
  const { isIntact, checked, newestSeq } = await verification();
  assert.deepEqual([isIntact, checked], [true, newestSeq]);
  const cases = [
    ["update audit_records set account = 'another' where seq = 3", { seq: 3, problem: "changed" }],
    ["update audit_records set ids = '[\"9\"]' where seq = 4", { seq: 4, problem: "changed" }],
    ["delete from audit_records where seq = 2", { seq: 2, problem: "missing" }],
    [`delete from audit_records where seq = ${newestSeq}`, { seq: newestSeq, problem: "missing" }],
  ] as const;
  for (const [statement, broken] of cases)
    await tampered(statement, async () => {
      const result = await verification();
      assert.deepEqual([result["isIntact"], result["broken"]], [false, broken], statement);
    });
  assert.equal((await verification())["isIntact"], true);
});

test("the log and its chain continue after a restart", async () => {
  const before = await newest();
  await server.restart();
  assert.deepEqual(await newest(), before);
  await made("/groups", { name: "later", capabilities: [] });
  assert.equal((await newest())["seq"], (before["seq"] as number) + 1);
  assert.equal((await verification())["isIntact"], true);
});

test("with all operations, writes and reads of each protocol are recorded, also after a stop", async () => {
  const all = await startTestServer({ audit: { mode: "all" } });
  const headers = { "api-key": all.key };
  await all.ask.v06("POST /assets", { items: [{ name: "pump" }] });
  await all.ask.v06("GET /assets");
  await fetch(`${all.baseUrl}/influx/demo/write`, { method: "POST", headers, body: "m v=1" });
  await fetch(`${all.baseUrl}/odata/v1/projects/demo/Assets?$top=1`, { headers });
  await all.restart();
  const records = (await all.ask.v06("GET /audit")).items;
  assert.deepEqual(
    records.map((one) => [...named(one), one["account"]]),
    [
      ["read", "GET odata/Assets", "done", 200, "administrator"],
      ["write", "influx write", "done", 204, "administrator"],
      ["read", "GET /assets", "done", 200, "administrator"],
      ["write", "POST /assets", "done", 201, "administrator"],
    ],
  );
  await all.close();
});
