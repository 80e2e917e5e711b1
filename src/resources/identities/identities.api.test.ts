// Accounts and keys over the API: their members, the end of keys with accounts, and refused mistakes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { apiKeyTable } from "../../access/schema.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { ensureProject } from "../projects/projects.ts";

let server: TestServer;
let nowMs = Date.UTC(2026, 0, 1);
before(async () => {
  server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
});
after(() => server.close());

const list = (...items: unknown[]) => ({ items });
const made = async (path: string, ...items: unknown[]): Promise<number[]> =>
  idsOf(await server.ask(`POST ${path}`, list(...items)));
const reads = { assetsAcl: { actions: ["READ"], scope: { all: {} } } };

let count = 0;
async function newAccount(...capabilities: object[]) {
  const groups = await made("/groups", { name: "of one", capabilities });
  const [userId] = await made("/users", { uniqueName: `account ${++count}`, groups });
  return userId!;
}

/** A new key, and the client that uses it. */
async function keyOf(userId: number, more: object = {}) {
  const { items } = await server.ask("POST /apikeys", list({ userId, ...more }));
  const { value, id } = items[0] as { value: string; id: number };
  const ask = (methodAndPath: string, body?: unknown) =>
    server.ask(methodAndPath, body, { "api-key": value });
  return { id, value, ask };
}

test("accounts come back as made, in every version, and stay as deleted", async () => {
  const groups = await made("/groups", { name: "a" }, { name: "b" });
  for (const [ask, status] of [
    [server.ask.v04, 200],
    [server.ask.v05, 200],
    [server.ask.v06, 201],
  ] as const) {
    const uniqueName = `gateway ${status} ${++count}`;
    const response = await ask("POST /users", list({ uniqueName, groups }));
    const [id] = idsOf(response);
    assert.equal(response.status, status);
    assert.deepEqual(response.items, [{ id, uniqueName, groups, isDeleted: false }]);
    assert.deepEqual((await ask(`GET /users/${id}`)).items, response.items);
    assert.equal((await ask("POST /users/delete", list(id))).text, "{}");
    assert.equal((await ask(`GET /users/${id}`)).status, 404);
    assert.ok(!idsOf(await ask("GET /users")).includes(id!));
    const kept = (await ask("GET /users?includeDeleted=true")).items.find((user) => user["id"] === id);
    assert.deepEqual(kept, { id, uniqueName, groups: [], isDeleted: true, deletedTime: nowMs });
    const again = await ask("POST /users", list({ uniqueName }));
    assert.equal(again.status, status, "the name is free again");
  }
});

test("a key is shown once, kept as a hash, and its deletion counts at once", async () => {
  const userId = await newAccount(reads);
  const created = await server.ask.v06("POST /apikeys", list({ userId }, { userId }));
  assert.equal(created.status, 201);
  const [{ value, ...shown } = {}, other] = created.items;
  assert.match(value as string, /^mr_[\w-]{32}$/);
  assert.deepEqual(shown, { id: shown["id"], userId, createdTime: nowMs, status: "ACTIVE" });
  const address = created.headers.get("location");
  assert.deepEqual((await server.ask.root(`GET ${address}`)).items, [shown]);
  const listed = await server.ask(`GET /apikeys?userId=${userId}`);
  assert.ok(!listed.text.includes(value as string));
  const question = { filter: everything, order: byId, page: { limit: 100 } };
  const kept = await server.app.services.catalog.read("system", (tx) => tx.find(apiKeyTable, question));
  assert.ok(!JSON.stringify(kept).includes(value as string));

  const headers = { "api-key": value as string };
  assert.equal((await server.ask("GET /assets", undefined, headers)).status, 200);
  assert.equal((await server.ask("POST /apikeys/delete", list(shown["id"]))).text, "{}");
  assert.equal((await server.ask("GET /assets", undefined, headers)).status, 401);
  assert.deepEqual(idsOf(await server.ask(`GET /apikeys?userId=${userId}`)), [other!["id"]]);
  const all = (await server.ask(`GET /apikeys?userId=${userId}&includeDeleted=true`)).items;
  assert.deepEqual(
    all.map((key) => key["status"]),
    ["DELETED", "ACTIVE"],
  );
});

test("a key ends when its time comes, and with its account", async () => {
  const userId = await newAccount(reads);
  const [short, long] = [await keyOf(userId, { expiresTime: nowMs + 1_000 }), await keyOf(userId)];
  assert.equal((await short.ask("GET /assets")).status, 200);
  nowMs += 999;
  assert.equal((await short.ask("GET /assets")).status, 200);
  nowMs += 1;
  const messageOf = async ({ ask }: typeof short) => (await ask("GET /assets")).error?.message;
  assert.equal(await messageOf(short), "HTTP 401 Unauthorized: the API key has expired");
  assert.equal((await long.ask("GET /assets")).status, 200);
  await server.ask("POST /users/delete", list(userId));
  assert.equal(await messageOf(long), "HTTP 401 Unauthorized: the API key is unknown or revoked");
  const { items } = await server.ask("GET /apikeys?all=true&includeDeleted=true");
  assert.equal(items.find((key) => key["id"] === long.id)!["status"], "DELETED");
});

test("the last use of a key is known to within a minute", async () => {
  const { id, ask } = await keyOf(await newAccount(reads));
  const lastUsed = async () => (await server.ask(`GET /apikeys/${id}`)).items[0]!["lastUsedTime"];
  const until = async (expected: number) => {
    for (let tries = 0; tries < 100 && (await lastUsed()) !== expected; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(await lastUsed(), expected);
  };
  assert.equal(await lastUsed(), undefined);
  const firstMs = nowMs;
  await ask("GET /assets");
  await until(firstMs);
  const untilNotedMs = limits.keyUseAccuracyMs - limits.callerAgeMsMax;
  nowMs += untilNotedMs - 1;
  await ask("GET /assets");
  assert.equal(await lastUsed(), firstMs);
  nowMs += 1;
  await server.app.services.rights.change(async () => undefined);
  await ask("GET /assets");
  await until(firstMs + untilNotedMs);
});

test("who may manage what is their own manages nothing else", async () => {
  const own = (acl: string, ...actions: string[]) => ({
    [acl]: { actions, scope: { currentuserscope: {} } },
  });
  const userId = await newAccount(
    own("usersAcl", "LIST", "CREATE", "DELETE"),
    own("apikeysAcl", "LIST", "CREATE", "DELETE"),
  );
  const [admin] = idsOf(await server.ask("GET /users"));
  const { id, ask } = await keyOf(userId);
  assert.deepEqual(idsOf(await ask("GET /users")), [userId]);
  assert.equal((await ask(`GET /users/${admin}`)).status, 404);
  assert.equal((await ask("POST /users", list({ uniqueName: "x" }))).status, 403);
  assert.deepEqual((await ask("POST /users/delete", list(admin))).error?.["notFound"], [admin]);
  for (const query of ["", "?all=true", `?userId=${userId}`])
    assert.deepEqual(idsOf(await ask(`GET /apikeys${query}`)), [id], query);
  assert.deepEqual(idsOf(await ask(`GET /apikeys?userId=${admin}`)), []);
  assert.deepEqual((await ask("POST /apikeys", list({ userId: admin }))).error?.["notFound"], [admin]);
  const second = await ask("POST /apikeys", list({ userId }));
  assert.equal((await ask("POST /apikeys/delete", list(...idsOf(second)))).status, 200);
});

test("the right to make accounts is not the right to put them into groups", async () => {
  const userId = await newAccount({ usersAcl: { actions: ["CREATE"], scope: { all: {} } } });
  const { ask } = await keyOf(userId);
  const [group] = await made("/groups", { name: "powerful", permissions: { accessTypes: ["ADMIN"] } });
  assert.equal((await ask("POST /users", list({ uniqueName: "plain" }))).status, 200);
  assert.equal((await ask("POST /users", list({ uniqueName: "more", groups: [group] }))).status, 403);
});

test("no caller locks everybody out: the last administrator's group, account and key stay", async () => {
  const [group] = idsOf(await server.ask("GET /groups"));
  const [user] = idsOf(await server.ask(`GET /groups/${group}/users`));
  const [key] = idsOf(await server.ask("GET /apikeys"));
  const message =
    "After this no key without limits could administer the project; " +
    "give another account these rights and a key first";
  const cases: [string, unknown][] = [
    ["POST /groups/delete", group],
    [`POST /groups/${group}/users/remove`, user],
    ["POST /users/delete", user],
    ["POST /apikeys/delete", key],
  ];
  for (const [ask, item] of cases) {
    const { status, error } = await server.ask(ask, list(item));
    assert.deepEqual([status, error], [400, { code: 400, message }], ask);
  }
  const limited = await server.ask.v06(`PUT /apikeys/${key}/limits`, { requestsPerSecond: 10 });
  assert.deepEqual([limited.status, limited.error], [400, { code: 400, message }]);
  const second = await newAccount(
    { groupsAcl: { actions: ["LIST", "READ", "CREATE", "UPDATE", "DELETE"], scope: { all: {} } } },
    { apikeysAcl: { actions: ["CREATE"], scope: { all: {} } } },
  );
  const spare = await keyOf(second);
  await server.ask("POST /users/delete", list(second));
  assert.equal((await server.ask("POST /users/delete", list(user))).status, 400, "its key went with it");
  assert.equal((await spare.ask("GET /groups")).status, 401);
});

test("another project's accounts, keys and groups are as if they did not exist", async () => {
  const { project } = await ensureProject(server.app.services, "neighbour");
  const { key } = await server.app.services.keys.create(project, "theirs");
  const theirs = (ask: string, body?: unknown) => {
    const [method, path] = ask.split(" ") as [string, string];
    return server.ask.root(`${method} /api/0.5/projects/neighbour${path}`, body, { "api-key": key });
  };
  const [user] = idsOf(await theirs("GET /users"));
  const [group] = idsOf(await theirs("GET /groups?all=true"));
  const [keyId] = idsOf(await theirs("GET /apikeys?all=true"));
  const [own] = await made("/users", { uniqueName: "neighbourly" });
  const cases: [string, unknown][] = [
    ["POST /users/delete", user],
    ["POST /groups/delete", group],
    ["POST /apikeys/delete", keyId],
    ["POST /apikeys", { userId: user }],
    ["POST /users", { uniqueName: "spy", groups: [group] }],
    ["PUT /defaultgroup", group],
    [`POST /groups/${group}/users`, own],
  ];
  for (const [ask, item] of cases)
    assert.ok([400, 404].includes((await server.ask(ask, list(item))).status), ask);
  for (const path of [`/users/${user}`, `/groups/${group}`, `/apikeys/${keyId}`])
    assert.equal((await server.ask(`GET ${path}`)).status, 404, path);
  assert.deepEqual((await server.ask(`GET /apikeys?userId=${user}`)).items, []);
  assert.equal((await theirs("GET /assets")).status, 200, "nothing of it was done");
});
