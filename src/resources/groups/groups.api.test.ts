// Groups, members and security categories over the API: the granted rights, their start, and refusals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import { aclRules } from "../../access/capabilities.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const all = { all: {} };
const reads = { assetsAcl: { actions: ["READ"], scope: all } };
const list = (...items: unknown[]) => ({ items });

const made = async (path: string, ...items: unknown[]): Promise<number[]> =>
  idsOf(await server.ask(`POST ${path}`, list(...items)));

let count = 0;
/** An account in these groups, and a way to ask with a key of it. */
async function accountIn(...groups: number[]) {
  const [userId] = await made("/users", { uniqueName: `account ${++count}`, groups });
  const [key] = (await server.ask("POST /apikeys", list({ userId }))).items;
  const headers = { "api-key": key!["value"] as string };
  return {
    userId: userId!,
    keyId: key!["id"] as number,
    ask: (methodAndPath: string, body?: unknown): Promise<TestResponse> =>
      server.ask(methodAndPath, body, headers),
  };
}

test("a group is returned as sent in every version, ids as strings, one type an object", async () => {
  const sent = {
    name: "operators",
    source: "plant directory",
    sourceId: "ops-7",
    permissions: { accessTypes: ["READ", "RAW_READ"], assetIds: [7], securityCategoryIds: [8] },
    capabilities: [
      { timeSeriesAcl: { actions: ["READ"], scope: { assetIdScope: { subtreeIds: [12, "13"] } } } },
      { ...reads, usersAcl: { actions: ["LIST"], scope: { currentuserscope: {} } } },
      { securityCategoriesAcl: { actions: ["MEMBEROF"], scope: { idscope: { ids: [5] } } } },
    ],
  };
  for (const [ask, status] of [
    [server.ask.v04, 200],
    [server.ask.v05, 200],
    [server.ask.v06, 201],
  ] as const) {
    const response = await ask("POST /groups", list(sent));
    assert.equal(response.status, status);
    const [{ id, ...group } = {}] = response.items;
    assert.deepEqual(group, {
      ...sent,
      capabilities: [
        { timeSeriesAcl: { actions: ["READ"], scope: { assetIdScope: { subtreeIds: ["12", "13"] } } } },
        reads,
        { usersAcl: { actions: ["LIST"], scope: { currentuserscope: {} } } },
        { securityCategoriesAcl: { actions: ["MEMBEROF"], scope: { idscope: { ids: ["5"] } } } },
      ],
      isDeleted: false,
    });
    const address = response.headers.get("location");
    if (status === 201) assert.equal((await server.ask.root(`GET ${address}`)).items[0]!["id"], id);
    assert.deepEqual((await ask(`GET /groups/${id}`)).items, response.items);
  }
});

test("a group is changed in place: its members keep what it then grants, and nothing else", async () => {
  const [group] = await made("/groups", { name: "readers", source: "plant", capabilities: [reads] });
  const { ask, userId } = await accountIn(group!);
  assert.equal((await ask("GET /assets")).status, 200);
  const renamed = await server.ask(`PATCH /groups/${group}`, { name: "viewers", source: null });
  assert.deepEqual(renamed.items, [{ id: group, name: "viewers", capabilities: [reads], isDeleted: false }]);
  assert.equal((await ask("GET /assets")).status, 200);
  const series = { timeSeriesAcl: { actions: ["READ"], scope: all } };
  const changed = await server.ask(`PATCH /groups/${group}`, { capabilities: [series] });
  assert.deepEqual([changed.items[0]!["name"], changed.items[0]!["capabilities"]], ["viewers", [series]]);
  assert.equal((await ask("GET /assets")).status, 403);
  assert.equal((await ask("GET /timeseries")).status, 200);
  const { items: members } = await server.ask(`GET /groups/${group}/users`);
  assert.deepEqual(
    members.map(({ id }) => id),
    [userId],
  );
  assert.equal((await server.ask("PATCH /groups/5", { name: "x" })).status, 404);
  assert.equal((await server.ask(`PATCH /groups/${group}`, { name: 5 })).status, 400);
});

test("a change of a group grants no rights that its sender lacks", async () => {
  const updates = { groupsAcl: { actions: ["READ", "UPDATE", "LIST"], scope: all } };
  const [limited] = await made("/groups", { name: "limited", capabilities: [updates, reads] });
  const [target] = await made("/groups", { name: "target", capabilities: [reads] });
  const { ask } = await accountIn(limited!);
  const writes = { assetsAcl: { actions: ["WRITE"], scope: all } };
  assert.equal((await ask(`PATCH /groups/${target}`, { capabilities: [writes] })).status, 403);
  const { items } = await server.ask("GET /groups?all=true");
  const administrators = items.find(({ name }) => name === "administrators")!["id"];
  assert.equal((await ask(`PATCH /groups/${administrators}`, { sourceId: "mine" })).status, 403);
  const less = await server.ask(`PATCH /groups/${administrators}`, { capabilities: [reads] });
  assert.equal(less.status, 400);
  assert.deepEqual((await server.ask(`GET /groups/${target}`)).items[0]!["capabilities"], [reads]);
  assert.deepEqual((await server.ask("GET /groups?all=true")).items, items);
});

test("every type of capability is taken with each of its actions and scopes, and with no other", async () => {
  const scopes = {
    all,
    own: { currentuserscope: {} },
    subtrees: { assetIdScope: { subtreeIds: ["1"] } },
    ids: { idscope: { ids: ["1"] } },
  };
  for (const [acl, rule] of Object.entries(aclRules))
    for (const [kind, scope] of Object.entries(scopes)) {
      const capability = { [acl]: { actions: rule.actions, scope } };
      const { status, items, error } = await server.ask(
        "POST /groups",
        list({ name: acl, capabilities: [capability] }),
      );
      const isKnown = (rule.scopes as readonly string[]).includes(kind);
      assert.equal(status, isKnown ? 200 : 400, `${acl} ${kind}`);
      if (isKnown) assert.deepEqual(items[0]!["capabilities"], [capability]);
      else
        assert.match(
          error!.message,
          new RegExp(`capabilities\\[0\\].${acl}.scope - expected .*all.* but got`),
        );
    }
});

test("the rights of a group apply from the change of its members on, and until the next one", async () => {
  const [group] = await made("/groups", { name: "readers", capabilities: [reads] });
  const { ask, userId } = await accountIn();
  assert.equal((await ask("GET /assets")).status, 403);
  assert.equal((await server.ask(`POST /groups/${group}/users`, list({ id: userId }))).text, "{}");
  assert.equal((await ask("GET /assets")).status, 200);
  const missing = await ask("POST /assets", list({ name: "pump" }));
  assert.deepEqual(missing.error, {
    code: 403,
    message: "This needs the capability assetsAcl with the action WRITE",
  });
  assert.equal((await server.ask(`POST /groups/${group}/users/remove`, list(userId))).text, "{}");
  assert.equal((await ask("GET /assets")).status, 403);
  await server.ask(`POST /groups/${group}/users`, list(userId));
  assert.equal((await ask("GET /assets")).status, 200);
  assert.equal((await server.ask("POST /groups/delete", list(group))).text, "{}");
  assert.equal((await ask("GET /assets")).status, 403);
  assert.deepEqual((await server.ask(`GET /users/${userId}`)).items[0]!["groups"], []);
});

test("the older permissions count as what they mean", async () => {
  const [pump, other] = await made("/assets", { name: "pump" }, { name: "other" });
  const cases: [permissions: object, allowed: string[], refused: string[]][] = [
    [
      { accessTypes: ["READ"] },
      ["GET /assets", "GET /events", "GET /relationships"],
      ["GET /raw", "GET /users"],
    ],
    [{ accessTypes: ["READ"], assetIds: [pump] }, ["GET /assets"], ["GET /relationships", "GET /raw"]],
    [{ accessTypes: ["RAW_READ"] }, ["GET /raw"], ["GET /assets"]],
    [{ accessTypes: ["ADMIN"], assetIds: [pump] }, ["GET /assets", "GET /users", "GET /groups"], []],
    [{ accessTypes: ["WRITE"] }, [], ["GET /assets", "GET /raw"]],
  ];
  for (const [permissions, allowed, refused] of cases) {
    const [group] = await made("/groups", { name: "older", permissions });
    const { ask } = await accountIn(group!);
    for (const one of allowed)
      assert.equal((await ask(one)).status, 200, `${JSON.stringify(permissions)} ${one}`);
    for (const one of refused)
      assert.equal((await ask(one)).status, 403, `${JSON.stringify(permissions)} ${one}`);
    if (allowed.length === 1 && "assetIds" in permissions)
      assert.deepEqual(idsOf(await ask("GET /assets")), [pump]);
  }
  assert.ok(other);
});

test("who is in no group has what the default group grants, until there is none", async () => {
  const authentication = { type: "", protocol: "", validDomains: [] };
  const [group] = await made("/groups", { name: "everybody", capabilities: [reads] });
  const { ask } = await accountIn();
  assert.equal((await ask("GET /assets")).status, 403);
  const [project] = (await server.ask("PUT /defaultgroup", list(group))).items;
  assert.deepEqual(project, { name: "demo", urlName: "demo", defaultGroupId: group, authentication });
  assert.equal((await ask("GET /assets")).status, 200);
  const [none] = await made("/groups", { name: "nothing" });
  assert.equal((await (await accountIn(none!)).ask("GET /assets")).status, 403);
  await server.ask("POST /groups/delete", list(group));
  assert.equal((await ask("GET /assets")).status, 403);
  assert.deepEqual((await server.ask("GET /")).items, [{ name: "demo", urlName: "demo", authentication }]);
});

test("without all, a list of groups is of own ones; with it, as far as the scope reaches", async () => {
  const sees = (scope: object) => ({ groupsAcl: { actions: ["LIST", "READ"], scope } });
  const [own] = await made("/groups", { name: "own", capabilities: [sees({ currentuserscope: {} })] });
  const [wide] = await made("/groups", { name: "wide", capabilities: [sees(all)] });
  const [narrow, broad] = [await accountIn(own!), await accountIn(wide!)];
  assert.deepEqual(idsOf(await narrow.ask("GET /groups")), [own]);
  assert.deepEqual(idsOf(await narrow.ask("GET /groups?all=true")), [own]);
  assert.equal((await narrow.ask(`GET /groups/${wide}`)).status, 404);
  assert.equal((await narrow.ask(`GET /groups/${wide}/users`)).status, 404);
  assert.deepEqual(idsOf(await narrow.ask(`GET /groups/${own}/users`)), [narrow.userId]);
  assert.deepEqual(idsOf(await broad.ask("GET /groups")), [wide]);
  const every = idsOf(await broad.ask("GET /groups?all=true"));
  assert.ok(every.includes(own!) && every.includes(wide!));
  await server.ask("POST /groups/delete", list(own));
  assert.ok(!idsOf(await server.ask("GET /groups?all=true")).includes(own!));
  const kept = (await server.ask("GET /groups?all=true&includeDeleted=true")).items;
  const gone = kept.find((group) => group["id"] === own)!;
  assert.ok(gone["isDeleted"] === true && (gone["deletedTime"] as number) > 0);
});

test("security categories: names count once, lists run either way, members do not manage", async () => {
  const ids = await made("/securitycategories", { name: "a" }, { name: "b" }, { name: "a" }, { name: "c" });
  assert.equal(ids.length, 3);
  const first = await server.ask("GET /securitycategories?limit=2");
  assert.deepEqual(idsOf(first), ids.slice(0, 2));
  const rest = await server.ask(`GET /securitycategories?limit=2&cursor=${first.nextCursor}`);
  assert.deepEqual([idsOf(rest), rest.nextCursor], [ids.slice(2), undefined]);
  assert.deepEqual(idsOf(await server.ask("GET /securitycategories?sort=DESC")), ids.toReversed());
  const scope = { idscope: { ids: ids.slice(0, 1) } };
  const capability = { securityCategoriesAcl: { actions: ["MEMBEROF", "LIST", "DELETE", "CREATE"], scope } };
  const [group] = await made("/groups", { name: "some", capabilities: [capability] });
  const { ask } = await accountIn(group!);
  assert.deepEqual(idsOf(await ask("GET /securitycategories")), ids.slice(0, 1));
  assert.equal((await ask("POST /securitycategories", list({ name: "d" }))).status, 403);
  assert.deepEqual((await ask("POST /securitycategories/delete", list(ids[1]))).error?.["notFound"], [
    ids[1],
  ]);
  assert.equal((await server.ask("POST /securitycategories/delete", list(...ids))).text, "{}");
  assert.deepEqual((await server.ask("GET /securitycategories")).items, []);
});
