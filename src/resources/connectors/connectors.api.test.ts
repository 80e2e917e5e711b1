// Connectors over the API: reports are stored, found again over REST and OData, or refused; silence shows.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";

const startMs = Date.now();
let passedMs = 0;
const system = { ...realSystem, nowMs: () => startMs + passedMs };
let server: TestServer;
before(async () => {
  server = await startTestServer({ system });
});
after(() => server.close());
beforeEach(async () => {
  const items = idsOf(await server.ask.v06("GET /connectors?limit=1000"));
  if (items.length > 0) await server.ask.v06("POST /connectors/delete", { items });
});

const counts = { received: 12, written: 7, refused: 1, dropped: 2 };
const minimal = (name: string, more: object = {}) => ({
  ...{ name, instance: "i1", source: "mqtt", version: "0.1.0", startedTime: 1_700_000_000_000 },
  ...{ status: "RUNNING", counts, buffer: { points: 2, bytes: 512 } },
  ...more,
});
const whole = minimal("boiler house/é", {
  address: "mqtt://user:***@broker.example:1883",
  error: { message: "the broker closed the connection", time: 1_700_000_000_500 },
  buffer: { points: 2, bytes: 512, oldestTime: 1_700_000_000_100 },
  ...{ newestTime: 1_700_000_000_400, lagMs: 250 },
});

const report = (...items: object[]) => server.ask.v06("POST /connectors/report", { items });
const names = async (query: string) =>
  (await server.ask.v06(`GET /connectors?${query}`)).items.map(({ name }) => name);
const statusOf = async (name: string) => {
  const { items } = await server.ask.v06(`GET /connectors?name=${encodeURIComponent(name)}`);
  return items[0]?.["status"];
};

/** A key of a new account with these actions. */
async function keyWith(uniqueName: string, actions: readonly string[]): Promise<string> {
  const made = async (path: string, item: object) =>
    (await server.ask.v06(`POST ${path}`, { items: [item] })).items[0]!;
  const capabilities = [{ connectorsAcl: { actions, scope: { all: {} } } }];
  const { id } = await made("/groups", { name: uniqueName, capabilities });
  const user = await made("/users", { uniqueName, groups: [id] });
  return (await made("/apikeys", { userId: user["id"] }))["value"] as string;
}

test("a report comes back with its account and times, also after a restart", async () => {
  const { status, items } = await report(whole, minimal("bare"));
  assert.equal(status, 200);
  const [first, bare] = items as [(typeof items)[0], (typeof items)[0]];
  const { ownerId, createdTime } = first;
  const added = { owner: "administrator", ownerId, createdTime, lastSeenTime: createdTime };
  assert.deepEqual(first, { id: first["id"], ...whole, ...added });
  assert.deepEqual(bare, { id: bare["id"], ...minimal("bare"), ...added });
  assert.deepEqual(idsOf(await server.ask.v06("GET /users")), [ownerId]);
  await server.restart();
  assert.deepEqual((await server.ask.v06("GET /connectors")).items, items);
  assert.deepEqual((await server.ask.v06(`GET /connectors/${bare["id"]}`)).items, [bare]);
});

test("a further report replaces the record and keeps its id and the time of the first one", async () => {
  const [first] = (await report(whole, minimal("other"))).items;
  passedMs += 10_000;
  const [second] = (await report(minimal(whole.name, { status: "DEGRADED", version: "0.2.0" }))).items;
  assert.deepEqual([second!["id"], second!["createdTime"]], [first!["id"], first!["createdTime"]]);
  assert.equal(second!["lastSeenTime"], (first!["lastSeenTime"] as number) + 10_000);
  assert.deepEqual([second!["version"], second!["status"]], ["0.2.0", "DEGRADED"]);
  for (const member of ["address", "error", "newestTime", "lagMs"])
    assert.ok(!(member in second!), `${member} of the former report is gone`);
  assert.deepEqual(await names(""), [whole.name, "other"]);
});

test("a connector is SILENT after a time without reports, unless it has stopped", async () => {
  const names = ["running", "stopped"];
  await report(minimal("running"), minimal("stopped", { status: "STOPPED" }));
  const states = () => Promise.all(names.map(statusOf));
  const found = async (status: string) =>
    (await server.ask.v06(`GET /connectors?status=${status}`)).items.map((item) => [
      item["name"],
      item["status"],
    ]);
  passedMs += limits.connectorSilentMs;
  assert.deepEqual(await states(), ["RUNNING", "STOPPED"]);
  assert.deepEqual(await found("silent"), []);
  passedMs += 1;
  assert.deepEqual(await states(), ["SILENT", "STOPPED"]);
  assert.deepEqual(await found("RUNNING"), []);
  assert.deepEqual(await found("SILENT"), [["running", "SILENT"]]);
  assert.deepEqual(await found("STOPPED"), [["stopped", "STOPPED"]]);
  await report(minimal("running"));
  assert.deepEqual(await states(), ["RUNNING", "STOPPED"]);
  assert.deepEqual(await found("SILENT"), []);
  passedMs -= 3_600_000;
  assert.deepEqual(await states(), ["SILENT", "STOPPED"], "after a step back of the clock");
  await report(minimal("running"));
  assert.deepEqual(await states(), ["RUNNING", "STOPPED"]);
});

test("two processes with one name are noticed", async () => {
  const edge = { "api-key": await keyWith("edge", ["WRITE"]) };
  const ask = server.ask.v06;
  const others = [
    () => report(minimal("twin", { instance: "i2" })),
    () => ask("POST /connectors/report", { items: [minimal("twin")] }, edge),
    () => report(minimal("twin", { startedTime: 1_600_000_000_000 })),
    () => report(minimal("new"), minimal("twin", { instance: "i2" })),
  ];
  await report(minimal("twin", { version: "first" }));
  passedMs += 5_000;
  for (const other of others) {
    const { status, error } = await other();
    assert.equal(status, 409);
    assert.match(
      error!.message,
      /^Another process reports as the connector twin, last 5 s ago with the account administrator; /,
    );
    assert.deepEqual(error!["duplicates"], [{ name: "twin" }]);
  }
  const { items } = await ask("GET /connectors");
  assert.deepEqual(
    items.map(({ name, version, instance, owner }) => [name, version, instance, owner]),
    [["twin", "first", "i1", "administrator"]],
  );
  assert.equal((await report(minimal("twin", { startedTime: 1_800_000_000_000 }))).status, 200, "a restart");
});

test("the name of a connector that stopped or is silent is free", async () => {
  await report(minimal("a", { status: "STOPPED" }), minimal("b"));
  assert.equal((await report(minimal("a", { instance: "i2" }))).status, 200);
  assert.equal((await report(minimal("b", { instance: "i2" }))).status, 409);
  passedMs += limits.connectorSilentMs + 1;
  assert.equal((await report(minimal("b", { instance: "i2" }))).status, 200);
  assert.deepEqual(
    (await server.ask.v06("GET /connectors")).items.map(({ instance }) => instance),
    ["i2", "i2"],
  );
});

test("lists have pages and filters", async () => {
  await report(...["a", "b", "c"].map((name) => minimal(name)), minimal("d", { source: "opcua" }));
  assert.deepEqual(await names("name=b"), ["b"]);
  assert.deepEqual(await names("name=B"), []);
  assert.deepEqual(await names("source=opcua"), ["d"]);
  assert.deepEqual(await names("source=mqtt&status=running&name=c"), ["c"]);
  const first = await server.ask.v06("GET /connectors?limit=3&status=RUNNING");
  passedMs += 1_000;
  const next = await server.ask.v06(`GET /connectors?limit=3&status=RUNNING&cursor=${first.nextCursor}`);
  assert.deepEqual(
    [...first.items, ...next.items].map(({ name }) => name),
    ["a", "b", "c", "d"],
  );
  assert.equal(next.nextCursor, undefined);
  assert.equal((await server.ask.v06(`GET /connectors?cursor=${first.nextCursor}`)).status, 400);
  assert.equal((await server.ask.v06("GET /connectors?status=LOST")).status, 400);
});

test("deleted connectors are gone until they report again", async () => {
  const [a, b] = idsOf(await report(minimal("a"), minimal("b")));
  const { status, error } = await server.ask.v06("POST /connectors/delete", { items: [a, 5] });
  assert.deepEqual([status, error?.["notFound"]], [400, [5]]);
  assert.deepEqual(await names(""), ["a", "b"]);
  assert.equal((await server.ask.v06(`DELETE /connectors/${a}`)).status, 200);
  assert.equal((await server.ask.v06(`GET /connectors/${a}`)).status, 404);
  assert.deepEqual(idsOf(await server.ask.v06("GET /connectors")), [b]);
  assert.equal((await report(minimal("a", { instance: "i2" }))).status, 200);
  assert.deepEqual((await names("")).toSorted(), ["a", "b"]);
});

test("what no connector reports is refused, and changes nothing", async () => {
  const long = "x".repeat(limits.connectorTextLengthMax);
  const refused: readonly (readonly [report: object, field: string])[] = [
    [minimal(""), "items[0].name"],
    [minimal("a", { instance: undefined }), "items[0].instance"],
    [minimal("a", { status: "SILENT" }), "items[0].status"],
    [minimal("a", { address: `${long}x` }), "items[0].address"],
    [minimal("a", { error: { message: `${long}x`, time: 0 } }), "items[0].error.message"],
    [minimal("a", { error: { message: "no time" } }), "items[0].error.time"],
    [minimal("a", { counts: { ...counts, dropped: -1 } }), "items[0].counts.dropped"],
    [minimal("a", { counts: { ...counts, written: 0.5 } }), "items[0].counts.written"],
    [minimal("a", { counts: { ...counts, received: 2 ** 53 } }), "items[0].counts.received"],
    [minimal("a", { buffer: { points: 1 } }), "items[0].buffer.bytes"],
    [minimal("a", { startedTime: limits.timeMsMax + 1 }), "items[0].startedTime"],
    [minimal("a", { lagMs: -1 }), "items[0].lagMs"],
  ];
  for (const [item, field] of refused) {
    const { status, error } = await report(item);
    assert.equal(status, 400, field);
    assert.ok(error!.message.includes(field), error!.message);
  }
  const repeated = await report(minimal("a"), minimal("b"), minimal("a"));
  assert.deepEqual([repeated.status, repeated.error?.["duplicates"]], [409, [{ name: "a" }]]);
  const many = Array.from({ length: limits.connectorReportsMax + 1 }, (_, at) => minimal(`c${at}`));
  assert.equal((await report(...many)).status, 400);
  assert.deepEqual(await names(""), []);
  assert.equal(
    (await report(minimal("a", { address: long, error: { message: long, time: 0 } }))).status,
    200,
  );
  assert.equal((await report(...many.slice(1))).status, 200);
});

test("READ and WRITE of connectorsAcl decide", async () => {
  await report(minimal("a"));
  const reader = { "api-key": await keyWith("reader", ["READ"]) };
  const writer = { "api-key": await keyWith("writer", ["WRITE"]) };
  const [id] = idsOf(await server.ask.v06("GET /connectors", undefined, reader));
  const message = (action: string) => `This needs the capability connectorsAcl with the action ${action}`;
  const body = { items: [minimal("b")] };
  const denied = await server.ask.v06("POST /connectors/report", body, reader);
  assert.deepEqual([denied.status, denied.error?.message], [403, message("WRITE")]);
  assert.equal((await server.ask.v06(`DELETE /connectors/${id}`, undefined, reader)).status, 403);
  const overOData = async (headers: { "api-key": string }) =>
    (await fetch(`${server.baseUrl}/odata/v1/projects/demo/Connectors`, { headers })).status;
  for (const path of ["GET /connectors", `GET /connectors/${id}`]) {
    const unread = await server.ask.v06(path, undefined, writer);
    assert.deepEqual([unread.status, unread.error?.message], [403, message("READ")]);
  }
  assert.deepEqual([await overOData(writer), await overOData(reader)], [403, 200]);
  const [written] = (await server.ask.v06("POST /connectors/report", body, writer)).items;
  assert.equal(written!["owner"], "writer");
});

test("connectors are an entity set of OData", async () => {
  await report(whole, minimal("calm", { source: "opcua", status: "STOPPED" }));
  const read = async (query: string) => {
    const { status, json } = await server.ask.root(`GET /odata/v1/projects/demo/Connectors${query}`);
    assert.equal(status, 200);
    return (json as { value: Readonly<Record<string, unknown>>[] }).value;
  };
  const found = async (filter: string) =>
    (await read(`?$select=Name&$filter=${encodeURIComponent(filter).replaceAll("'", "%27")}`)).map(
      ({ Name }) => Name,
    );
  const [first] = await read("");
  const { Id, CreatedTime, LastSeenTime, ...rest } = first!;
  assert.equal(CreatedTime, LastSeenTime);
  assert.deepEqual(rest, {
    ...{ Name: whole.name, Instance: "i1", Source: "mqtt", Version: "0.1.0", Status: "RUNNING" },
    Address: "mqtt://user:***@broker.example:1883",
    ErrorMessage: "the broker closed the connection",
    ErrorTime: "2023-11-14T22:13:20.500Z",
    ...{ Received: 12, Written: 7, Refused: 1, Dropped: 2, BufferPoints: 2, BufferBytes: 512 },
    BufferOldestTime: "2023-11-14T22:13:20.100Z",
    NewestTime: "2023-11-14T22:13:20.400Z",
    ...{ LagMs: 250, Owner: "administrator", StartedTime: "2023-11-14T22:13:20Z" },
  });
  assert.deepEqual(await found("Status eq 'STOPPED'"), ["calm"]);
  assert.deepEqual(await found("Status ne 'STOPPED'"), [whole.name]);
  assert.deepEqual(await found("Status in ('RUNNING','SILENT') and Dropped gt 1"), [whole.name]);
  assert.deepEqual(await found("Status eq 'nothing' or ErrorMessage ne null"), [whole.name]);
  passedMs += limits.connectorSilentMs + 1;
  assert.deepEqual(await found("Status eq 'SILENT'"), [whole.name]);
  assert.deepEqual(await found("Status eq 'RUNNING'"), []);
  const silent = await server.ask.root(`GET /odata/v1/projects/demo/Connectors('${Id}')`);
  assert.equal((silent.json as Record<string, unknown>)["Status"], "SILENT");
  assert.equal((await server.ask.root("GET /odata/v1/projects/demo/Connectors/$count")).text, "2");
});

test("older versions do not serve connectors", async () => {
  for (const version of ["0.4", "0.5"])
    assert.equal((await server.ask.root(`GET /api/${version}/projects/demo/connectors`)).status, 404);
});
