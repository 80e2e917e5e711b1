// Groups, members and security categories through the front door: what they grant, from when on, and what is
// refused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
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
    ask: (methodAndPath: string, body?: unknown): Promise<Answer> => server.ask(methodAndPath, body, headers),
  };
}

test("a group comes back as it was sent in every version, ids as texts, one type an object", async () => {
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
    const answer = await ask("POST /groups", list(sent));
    assert.equal(answer.status, status);
    const [{ id, ...group } = {}] = answer.items;
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
    const address = answer.headers.get("location");
    if (status === 201) assert.equal((await server.ask.root(`GET ${address}`)).items[0]!["id"], id);
    assert.deepEqual((await ask(`GET /groups/${id}`)).items, answer.items);
  }
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

test("what a group grants counts from the moment its members change, and until then", async () => {
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
