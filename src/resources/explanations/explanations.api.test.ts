// Explanations of rights: the verdict, the grants, the chain of assets and the missing security categories.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Item, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";

let server: TestServer;
/** How far the clock of the server is ahead. */
let aheadMs = 0;
const ids: Record<string, number> = {};

interface Explanation {
  readonly allowed: boolean;
  readonly reasons: readonly string[];
  readonly groups: readonly Item[];
  readonly isByDefault: boolean;
  readonly grants: readonly Item[];
  readonly paths: readonly (readonly Item[])[];
  readonly securityCategories: readonly Item[];
}

const below = (...names: string[]) => ({ assetIdScope: { subtreeIds: names.map((name) => `${ids[name]}`) } });
const grant = (acl: string, actions: readonly string[], scope: object) => ({ [acl]: { actions, scope } });

async function make(path: string, name: string, item: object): Promise<number> {
  const response = await server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(response.status < 300, response.text);
  ids[name] = idsOf(response)[0]!;
  return ids[name];
}

const group = (name: string, ...capabilities: object[]) => make("/groups", name, { name, capabilities });
const user = (uniqueName: string, ...groups: string[]) =>
  make("/users", uniqueName, { uniqueName, groups: groups.map((name) => ids[name]) });

const ask = (query: string, headers = {}) =>
  server.ask.v06(`GET /access/explanation?${query}`, undefined, headers);

async function explain(query: string): Promise<Explanation> {
  const { status, json, text } = await ask(query);
  assert.equal(status, 200, text);
  return (json as { data: Explanation }).data;
}

const named = (...names: string[]) => names.map((name) => ({ id: ids[name], name }));
const said = (name: string) => `"${name}" (${ids[name]})`;

before(async () => {
  server = await startTestServer({ system: { ...realSystem, nowMs: () => Date.now() + aheadMs } });
  await make("/assets", "plant", { name: "plant" });
  await make("/assets", "unit", { name: "unit", parentId: ids["plant"] });
  await make("/assets", "pump", { name: "pump", parentId: ids["unit"] });
  await make("/assets", "tank", { name: "tank", parentId: ids["plant"] });
  await make("/securitycategories", "secret", { name: "secret" });
  await make("/timeseries", "flow", { name: "flow", assetId: ids["pump"] });
  const securityCategories = [ids["secret"]];
  await make("/timeseries", "hidden", { name: "hidden", assetId: ids["pump"], securityCategories });
  await make("/timeseries", "free", { name: "free" });
  await make("/events", "event", { description: "e", assetIds: [ids["tank"], ids["pump"]] });
  await group("unit readers", grant("timeSeriesAcl", ["READ"], below("unit")));
  await group("tank writers", grant("timeSeriesAcl", ["READ", "WRITE"], below("tank")));
  await group("members", {
    securityCategoriesAcl: { actions: ["MEMBEROF"], scope: { idscope: { ids: [ids["secret"]] } } },
  });
  await group("all events", grant("eventsAcl", ["READ"], { all: {} }));
  await user("operator", "unit readers", "tank writers");
  await user("guard", "unit readers", "members");
  await user("viewer", "all events");
  await user("nobody");
});
after(() => server.close());

test("a right through a subtree names the group, the capability and the chain of assets", async () => {
  const found = await explain(`resource=timeseries&id=${ids["flow"]}&userId=${ids["operator"]}`);
  assert.equal(found.allowed, true);
  assert.deepEqual(found.groups, named("unit readers", "tank writers"));
  assert.deepEqual(found.paths, [named("plant", "unit", "pump")]);
  const [readers, writers] = named("unit readers", "tank writers");
  assert.deepEqual(found.grants, [
    {
      group: readers,
      capability: grant("timeSeriesAcl", ["READ"], below("unit")),
      ...{ covers: true, chain: named("unit", "pump") },
    },
    {
      group: writers,
      capability: grant("timeSeriesAcl", ["READ", "WRITE"], below("tank")),
      ...{ covers: false, chain: [] },
    },
  ]);
  assert.deepEqual(found.securityCategories, []);
  assert.deepEqual(found.reasons, [
    `Yes: operator may read the record ${said("flow")}.`,
    `The group ${said("unit readers")} grants timeSeriesAcl with READ for the subtree of ${said("unit")}, ` +
      `through ${said("unit")} > ${said("pump")}.`,
  ]);
});

test("a scope that does not contain the record is named, with the assets of the record", async () => {
  const found = await explain(`resource=timeseries&id=${ids["flow"]}&userId=${ids["operator"]}&action=WRITE`);
  assert.deepEqual([found.allowed, found.grants.length], [false, 1]);
  assert.deepEqual(found.reasons, [
    `No: operator may not write the record ${said("flow")}.`,
    `The group ${said("tank writers")} grants timeSeriesAcl with WRITE for the subtree of ${said("tank")}, ` +
      `but the record belongs to ${said("plant")} > ${said("unit")} > ${said("pump")}, ` +
      "which it does not contain.",
    "The server returns the same responses as for a record that does not exist.",
  ]);
  const free = await explain(`resource=timeseries&id=${ids["free"]}&userId=${ids["operator"]}`);
  assert.equal(free.allowed, false);
  assert.match(free.reasons[1]!, /but the record belongs to no asset\.$/);
});

test("missing security categories are named, and the groups that make a member", async () => {
  const query = `resource=timeseries&id=${ids["hidden"]}`;
  const operator = await explain(`${query}&userId=${ids["operator"]}`);
  const [secret] = named("secret");
  assert.equal(operator.allowed, false);
  assert.deepEqual(operator.securityCategories, [{ ...secret, isMember: false, groups: [] }]);
  assert.ok(
    operator.reasons.includes(
      `operator is not a member of the security category ${said("secret")} of the record.`,
    ),
  );
  const guard = await explain(`${query}&userId=${ids["guard"]}`);
  assert.equal(guard.allowed, true);
  assert.deepEqual(guard.securityCategories, [{ ...secret, isMember: true, groups: named("members") }]);
});

test("without a capability the groups are named, and the default group counts for others", async () => {
  const query = `resource=events&id=${ids["event"]}`;
  const operator = await explain(`${query}&userId=${ids["operator"]}`);
  assert.deepEqual([operator.allowed, operator.grants], [false, []]);
  const groups = `${said("unit readers")}, ${said("tank writers")}`;
  assert.deepEqual(operator.reasons.slice(1), [
    `None of these groups grants eventsAcl with READ (403): ${groups}.`,
  ]);
  const before = await explain(`${query}&userId=${ids["nobody"]}`);
  assert.deepEqual([before.allowed, before.groups, before.isByDefault], [false, [], false]);
  await server.ask.v06("PUT /defaultgroup", { items: [ids["all events"]] });
  const after = await explain(`${query}&userId=${ids["nobody"]}`);
  assert.deepEqual([after.allowed, after.groups, after.isByDefault], [true, named("all events"), true]);
  assert.match(after.reasons[1]!, /^nobody is in no group, so that the default group counts/);
  assert.match(after.reasons[2]!, /grants eventsAcl with READ for all records\.$/);
});

test("a key, an expired key and groups stand for a caller, too", async () => {
  const query = `resource=timeseries&id=${ids["flow"]}`;
  const keyOf = async (item: object) => idsOf(await server.ask.v06("POST /apikeys", { items: [item] }))[0]!;
  const key = await keyOf({ userId: ids["operator"] });
  const expiring = await keyOf({ userId: ids["operator"], expiresTime: Date.now() + 3_600_000 });
  assert.equal((await explain(`${query}&apiKeyId=${key}`)).allowed, true);
  assert.equal((await explain(`${query}&apiKeyId=${expiring}`)).allowed, true);
  aheadMs = 3_700_000;
  const expired = await explain(`${query}&apiKeyId=${expiring}`);
  assert.equal(expired.allowed, false);
  assert.match(expired.reasons[1]!, /The key has expired/);
  const { items } = await server.ask.v06(`GET /apikeys?userId=${ids["operator"]}`);
  assert.deepEqual(
    items.map(({ lastUsedTime }) => lastUsedTime),
    [undefined, undefined],
  );
  await server.ask.v06("POST /apikeys/delete", { items: [key] });
  assert.equal((await ask(`${query}&apiKeyId=${key}`)).status, 404);
  const groups = (...names: string[]) => `groupIds=[${names.map((name) => ids[name])}]`;
  const hidden = `resource=timeseries&id=${ids["hidden"]}`;
  assert.equal((await explain(`${hidden}&${groups("unit readers", "members")}`)).allowed, true);
  assert.equal((await explain(`${hidden}&${groups("unit readers")}`)).allowed, false);
});

test("the group of administrators covers every record, and a move changes the verdict", async () => {
  const admin = (await server.ask.v06("GET /users")).items.find(
    ({ uniqueName }) => uniqueName === "administrator",
  );
  for (const [resource, name] of [
    ["events", "event"],
    ["assets", "tank"],
    ["timeseries", "hidden"],
  ] as const) {
    const found = await explain(`resource=${resource}&id=${ids[name]}&userId=${admin!["id"]}&action=WRITE`);
    assert.deepEqual([found.allowed, found.grants.length], [true, 1], resource);
  }
  const query = `resource=timeseries&id=${ids["flow"]}&userId=${ids["operator"]}&action=WRITE`;
  const move = (parent: string) =>
    server.ask.v06("POST /assets/update", { items: [{ id: ids["pump"], parentId: { set: ids[parent] } }] });
  await move("tank");
  assert.equal((await explain(query)).allowed, true);
  await move("unit");
  assert.equal((await explain(query)).allowed, false);
});

test("only administrators get explanations, and invalid queries are refused", async () => {
  const good = `resource=timeseries&id=${ids["flow"]}&userId=${ids["operator"]}`;
  const allGroups = ["LIST", "READ", "CREATE", "UPDATE"];
  await group("nearly", grant("groupsAcl", allGroups, { all: {} }), grant("usersAcl", ["LIST"], { all: {} }));
  await user("almost", "nearly");
  const { items } = await server.ask.v06("POST /apikeys", { items: [{ userId: ids["almost"] }] });
  const refused = await ask(good, { "api-key": items[0]!["value"] });
  assert.equal(refused.status, 403);
  assert.match(refused.error!.message, /^Only an account that administers groups/);
  assert.equal((await ask(good, { "x-see-as-group": `${ids["nearly"]}` })).status, 403);
  const cases: readonly (readonly [query: string, status: number, message: string])[] = [
    [good.replace(`${ids["flow"]}`, "12345"), 404, "No such ids: 12345"],
    [good.replace(`${ids["operator"]}`, "12345"), 404, "No such ids: 12345"],
    [`resource=timeseries&id=${ids["flow"]}`, 400, "Missing required field - userId"],
    [`${good}&apiKeyId=5`, 400, "Invalid field - apiKeyId - expected none beside userId but got 5"],
    [good.replace("timeseries", "moons"), 400, "Invalid field - resource"],
    [`${good}&action=DELETE`, 400, "Invalid field - action"],
    [`resource=assets&id=${ids["tank"]}&groupIds=[12345]`, 400, "No such ids: 12345"],
  ];
  for (const [query, status, message] of cases) {
    const response = await ask(query);
    assert.equal(response.status, status, query);
    assert.ok(response.error!.message.startsWith(message), response.error!.message);
  }
});
