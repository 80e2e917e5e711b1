// No caller grants rights beyond their own: every way over the API to grant a right, tried by callers with
// fewer rights than they would grant.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { client, startProvider, type TestProvider } from "../../../test/support/provider.ts";
import { idsOf, startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";

let clockMs = 0;
let provider: TestProvider;
let server: TestServer;
before(async () => {
  provider = await startProvider();
  server = await startTestServer({ system: { ...realSystem, nowMs: () => Date.now() + clockMs } });
});
after(async () => {
  await server.close();
  await provider.close();
});

type AskAs = (methodAndPath: string, body?: unknown) => Promise<TestResponse>;
const all = { all: {} };
const list = (...items: unknown[]) => ({ items });
const right = (acl: string, actions: readonly string[], scope: object = all) => ({
  [acl]: { actions, scope },
});
const subtree = (...subtreeIds: number[]) => ({ assetIdScope: { subtreeIds: subtreeIds.map(String) } });
const groupActions = ["LIST", "READ", "CREATE", "UPDATE", "DELETE"];
const reads = right("assetsAcl", ["READ"]);
const writes = right("assetsAcl", ["WRITE"]);
const administration = [right("groupsAcl", groupActions), right("apikeysAcl", ["CREATE"])];

const made = async (path: string, ...items: unknown[]): Promise<number[]> => {
  const response = await server.ask(`POST ${path}`, list(...items));
  assert.equal(response.status, 200, response.text);
  return idsOf(response);
};

let count = 0;
/** An account whose one group grants this, and a way to ask with a key of it. */
async function holderOf(...capabilities: object[]) {
  const [groupId] = await made("/groups", { name: "some", capabilities });
  const [userId] = await made("/users", { uniqueName: `account ${++count}`, groups: [groupId] });
  const [key] = (await server.ask("POST /apikeys", list({ userId }))).items;
  const headers = { "api-key": key!["value"] as string };
  const ask: AskAs = (methodAndPath, body) => server.ask(methodAndPath, body, headers);
  return { groupId: groupId!, userId: userId!, headers, ask };
}

const stateOf = async () =>
  JSON.stringify([
    (await server.ask("GET /groups?all=true&includeDeleted=true")).items,
    (await server.ask("GET /users?includeDeleted=true")).items,
    (await server.ask("GET /apikeys?all=true")).items.map((key) => [key["id"], key["limits"]]),
    (await server.ask("GET /")).items,
  ]);

const beyond = (field: string, acl: string, actions: string) =>
  `${field} would grant ${acl} with ${actions} beyond what you hold; only an account that administers ` +
  "groups (all actions of groupsAcl, for all groups) can grant more than it holds";

/** Refused with 403 and this message, if there is one; nothing has changed. */
async function refuses(ask: AskAs, methodAndPath: string, body: unknown, message?: string) {
  const before = await stateOf();
  const response = await ask(methodAndPath, body);
  assert.equal(response.status, 403, `${methodAndPath} ${JSON.stringify(body)}: ${response.text}`);
  if (message !== undefined) assert.equal(response.error!.message, message);
  assert.equal(await stateOf(), before);
}

async function setProvider(ask: AskAs, own: object = {}) {
  const openIdConfiguration = { issuer: provider.issuer, audiences: [client.id], ...own };
  const response = await ask("PUT /", list({ name: "demo", authentication: { openIdConfiguration } }));
  clockMs += limits.keyCacheMsMax;
  return response;
}

const asTokenHolder = async (): Promise<AskAs> => {
  const headers = { "api-key": undefined, authorization: `Bearer ${await provider.token()}` };
  return (methodAndPath, body) => server.ask(methodAndPath, body, headers);
};

test("a user of the identity provider with groupsAcl CREATE does not become an administrator", async () => {
  assert.equal((await setProvider(server.ask)).status, 200);
  const capabilities = [right("groupsAcl", ["CREATE"]), reads];
  const [own] = await made("/groups", { name: "people", sourceId: "engineers", capabilities });
  const ask = await asTokenHolder();
  const group = { name: "mine", sourceId: "engineers" };
  for (const administrators of [
    { permissions: { accessTypes: ["ADMIN"] } },
    { capabilities: administration },
    { capabilities: [writes] },
    { permissions: { accessTypes: ["WRITE"] } },
    { permissions: { accessTypes: ["READ"] } },
    { permissions: { securityCategoryIds: [1] } },
  ])
    await refuses(ask, "POST /groups", list({ ...group, ...administrators }));
  await refuses(
    ask,
    "POST /groups",
    list({ name: "harmless" }, { ...group, capabilities: [reads, writes] }),
    beyond("items[1]", "assetsAcl", "WRITE"),
  );
  assert.equal((await ask("POST /assets", list({ name: "x" }))).status, 403);
  const good = await ask("POST /groups", list({ ...group, capabilities: [reads] }));
  assert.equal(good.status, 200, good.text);
  await server.ask("POST /groups/delete", list(own, ...idsOf(good)));
});

test("scopes are granted as far as callers have them: subtrees, categories, no future records", async () => {
  const [top, beside] = await made("/assets", { name: "top" }, { name: "beside" });
  const [below] = await made("/assets", { name: "below", parentId: top });
  const [secret, other] = await made("/securitycategories", { name: "secret" }, { name: "other" });
  const memberOf = (...ids: unknown[]) => right("securityCategoriesAcl", ["MEMBEROF"], { idscope: { ids } });
  const { ask } = await holderOf(
    right("groupsAcl", ["CREATE"]),
    right("eventsAcl", ["READ"], subtree(top!)),
    memberOf(secret),
  );
  const events = (...ids: number[]) => right("eventsAcl", ["READ"], subtree(...ids));
  const create = (capability: object) => list({ name: "scoped", capabilities: [capability] });
  for (const capability of [events(top!), events(below!), events(top!, below!), memberOf(secret)])
    assert.equal((await ask("POST /groups", create(capability))).status, 200, JSON.stringify(capability));
  for (const capability of [
    events(beside!),
    events(below!, beside!),
    events(below! + 1_000_000),
    right("eventsAcl", ["READ"]),
    right("eventsAcl", ["WRITE"], subtree(below!)),
    right("filesAcl", ["READ"], subtree(below!)),
    memberOf(secret, other),
    right("securityCategoriesAcl", ["MEMBEROF"]),
    right("apikeysAcl", ["CREATE"], { currentuserscope: {} }),
  ])
    await refuses(ask, "POST /groups", create(capability));
});

test("members are added by those who hold what the group grants", async () => {
  const { ask, userId, groupId } = await holderOf(right("groupsAcl", ["UPDATE"]), reads);
  const [strong] = await made("/groups", { name: "strong", permissions: { accessTypes: ["ADMIN"] } });
  const [weak] = await made("/groups", { name: "weak", capabilities: [reads] });
  const [administrators] = idsOf(await server.ask("GET /groups"));
  const message = beyond("groupId", "groupsAcl", "LIST, READ, CREATE, UPDATE, DELETE");
  for (const group of [strong, administrators])
    await refuses(ask, `POST /groups/${group}/users`, list(userId), message);
  assert.equal((await ask(`POST /groups/${weak}/users`, list(userId))).status, 200);
  assert.equal((await ask(`POST /groups/${weak}/users/remove`, list(userId))).status, 200);
  const [colleague] = await made("/users", { uniqueName: "colleague" });
  assert.equal((await ask(`POST /groups/${groupId}/users`, list(colleague))).status, 200);
});

test("accounts and keys are made by those who hold what the accounts may do", async () => {
  const makes = [
    right("usersAcl", ["CREATE"]),
    right("apikeysAcl", ["CREATE"]),
    right("groupsAcl", ["UPDATE"]),
  ];
  const { ask, userId } = await holderOf(...makes, reads);
  const [strong] = await made("/groups", { name: "strong", capabilities: [reads, writes] });
  const [weak] = await made("/groups", { name: "weak", capabilities: [reads] });
  const [admin] = idsOf(await server.ask("GET /users"));
  const [writer] = await made("/users", { uniqueName: "writer", groups: [strong] });
  await refuses(
    ask,
    "POST /users",
    list({ uniqueName: "mine", groups: [weak, strong] }),
    beyond("items[0].groups", "assetsAcl", "WRITE"),
  );
  await refuses(
    ask,
    "POST /apikeys",
    list({ userId }, { userId: writer }),
    beyond(`A key of the user ${writer}`, "assetsAcl", "WRITE"),
  );
  await refuses(ask, "POST /apikeys", list({ userId: admin }));
  const [reader] = idsOf(await ask("POST /users", list({ uniqueName: "reader", groups: [weak] })));
  assert.equal((await ask("POST /apikeys", list({ userId }, { userId: reader }))).status, 200);
});

test("limits of a key are changed by those who hold what its account may do", async () => {
  const { headers, userId } = await holderOf(right("apikeysAcl", ["CREATE"]), reads);
  const ask: AskAs = (methodAndPath, body) => server.ask.v06(methodAndPath, body, headers);
  const [strong] = await made("/groups", { name: "strong", capabilities: [reads, writes] });
  const [weak] = await made("/groups", { name: "weak", capabilities: [reads] });
  const [admin] = idsOf(await server.ask("GET /users"));
  const [writer] = await made("/users", { uniqueName: "strong account", groups: [strong] });
  const [reader] = await made("/users", { uniqueName: "weak account", groups: [weak] });
  const [ofAdmin] = idsOf(await server.ask(`GET /apikeys?userId=${admin}`));
  const keysOf = list({ userId: writer }, { userId: reader }, { userId });
  const [ofWriter, ...permitted] = idsOf(await server.ask("POST /apikeys", keysOf));
  const limit = { requestsPerSecond: 1 };
  const message = beyond(`A key of the user ${writer}`, "assetsAcl", "WRITE");
  await refuses(ask, `PUT /apikeys/${ofWriter}/limits`, limit, message);
  await refuses(ask, `PUT /apikeys/${ofAdmin}/limits`, limit);
  for (const key of permitted) {
    const { items } = await ask(`PUT /apikeys/${key}/limits`, limit);
    assert.deepEqual(items[0]?.["limits"], limit);
  }
});

test("the default group is no way around: to have it changed, or to fall back to it", async () => {
  const [strong] = await made("/groups", { name: "for all", capabilities: [reads, writes] });
  const ways = [
    right("projectsAcl", ["UPDATE"]),
    right("groupsAcl", ["UPDATE", "DELETE"]),
    right("usersAcl", ["CREATE"]),
    right("apikeysAcl", ["CREATE"]),
  ];
  const { ask, userId, groupId } = await holderOf(...ways, reads);
  const said = (field: string) => beyond(field, "assetsAcl", "WRITE");
  await refuses(ask, "PUT /defaultgroup", list(strong), said("items"));
  const project = { name: "demo", defaultGroupId: strong };
  await refuses(ask, "PUT /", list(project), said("items[0].defaultGroupId"));
  const unknown = await ask("PUT /", list({ ...project, defaultGroupId: strong! + 1_000_000 }));
  assert.equal(unknown.status, 400);
  assert.equal((await server.ask("PUT /defaultgroup", list(strong))).status, 200);
  await refuses(ask, `POST /groups/${groupId}/users/remove`, list(userId), said("the default group"));
  await refuses(ask, "POST /groups/delete", list(groupId), said("the default group"));
  const bound = { name: "bound", source: "plant", sourceId: "of the provider", capabilities: [reads] };
  const [ofProvider] = await made("/groups", bound);
  for (const change of [{ sourceId: null }, { sourceId: "others" }, { source: "elsewhere" }])
    await refuses(ask, `PATCH /groups/${ofProvider}`, change, said("the default group"));
  for (const change of [{ name: "still bound" }, { source: null }])
    assert.equal((await ask(`PATCH /groups/${ofProvider}`, change)).status, 200, JSON.stringify(change));
  await refuses(ask, "POST /users", list({ uniqueName: "in none" }), said("items[0].groups"));
  const [plain] = await made("/users", { uniqueName: "in none" });
  await refuses(ask, "POST /apikeys", list({ userId: plain }), said(`A key of the user ${plain}`));
  assert.equal((await ask("PUT /", list({ ...project, name: "renamed" }))).status, 200, "as it was before");
  assert.equal((await ask("POST /groups/delete", list(strong))).status, 200, "nobody falls back to it");
});

test("who gets in by an identity provider is for those who administer groups to say", async () => {
  assert.equal((await setProvider(server.ask)).status, 200);
  const { ask } = await holderOf(right("projectsAcl", ["UPDATE"]), reads);
  const issuer = "https://provider-of-mine.example";
  const message =
    "The identity provider decides who holds the rights of groups; only an account that administers groups " +
    "(all actions of groupsAcl, for all groups) can change it";
  const before = await stateOf();
  for (const own of [
    { issuer },
    { audiences: ["mine"] },
    { groupsClaim: "roles" },
    { algorithms: ["ES256"] },
  ]) {
    const response = await setProvider(ask, own);
    assert.deepEqual([response.status, response.error?.message], [403, message], JSON.stringify(own));
  }
  assert.equal(await stateOf(), before);
  const [{ authentication } = {}] = (await ask("GET /")).items;
  assert.equal((await ask("PUT /", list({ name: "demo plant", authentication }))).status, 200);
  const groups = await holderOf(right("projectsAcl", ["UPDATE"]), right("groupsAcl", groupActions));
  assert.equal((await setProvider(groups.ask, { issuer })).status, 200);
});

test("who administers groups grants everything; four of the five actions are not enough", async () => {
  const { ask, userId } = await holderOf(...administration, right("usersAcl", ["CREATE"]));
  const everything = { name: "all", permissions: { accessTypes: ["ADMIN"] } };
  const [group] = idsOf(await ask("POST /groups", list(everything)));
  assert.equal((await ask(`POST /groups/${group}/users`, list(userId))).status, 200);
  assert.equal((await ask("GET /assets")).status, 200);
  for (const missing of groupActions.filter((one) => one !== "CREATE")) {
    const others = groupActions.filter((one) => one !== missing);
    const own = right("groupsAcl", [missing], { currentuserscope: {} });
    const nearly = await holderOf(right("groupsAcl", others), own);
    await refuses(nearly.ask, "POST /groups", list(everything));
  }
});
