// Administrators read as members of groups, over REST and OData: they get the same bytes as real members.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { routes } from "../resources.ts";
import { effectOf, isQuery, pathOf } from "../rest/route.ts";

let server: TestServer;
let pump: number;
let tank: number;
const groups: Record<string, number> = {};
const keys: Record<string, string> = {};

const all = { all: {} };
const below = (...ids: number[]) => ({ assetIdScope: { subtreeIds: ids.map(String) } });
const reads = (acl: string, scope: object) => ({ [acl]: { actions: ["READ"], scope } });

async function made(path: string, item: object): Promise<Readonly<Record<string, unknown>>> {
  const result = await server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(result.status < 300, result.text);
  return result.items[0]!;
}

/** Creates a group, and an account with a key that is in no other group. */
async function addGroup(name: string, ...capabilities: object[]): Promise<void> {
  groups[name] = (await made("/groups", { name, capabilities }))["id"] as number;
  keys[name] = await keyIn(name, groups[name]);
}

async function keyIn(uniqueName: string, ...ids: number[]): Promise<string> {
  const user = await made("/users", { uniqueName, groups: ids });
  return (await made("/apikeys", { userId: user["id"] }))["value"] as string;
}

before(async () => {
  server = await startTestServer(withFront);
  [pump, tank] = idsOf(
    await server.ask.v06("POST /assets", { items: [{ name: "pump" }, { name: "tank" }] }),
  ) as [number, number];
  const [category] = idsOf(await server.ask.v06("POST /securitycategories", { items: [{ name: "secret" }] }));
  const series = [
    { name: "flow", assetId: pump },
    { name: "secret flow", assetId: pump, securityCategories: [category] },
    { name: "level", assetId: tank },
  ];
  await server.ask.v06("POST /timeseries", { items: series });
  await addGroup("pump", reads("assetsAcl", below(pump)), reads("timeSeriesAcl", below(pump)));
  await addGroup("tank", reads("timeSeriesAcl", below(tank)));
  await addGroup("trends", reads("trendsAcl", all), reads("groupsAcl", all));
  await addGroup("own", {
    groupsAcl: { actions: ["LIST"], scope: { currentuserscope: {} } },
    ...{ usersAcl: { actions: ["LIST"], scope: all } },
  });
  await addGroup("nearly", { groupsAcl: { actions: ["LIST", "READ", "CREATE", "UPDATE"], scope: all } });
  keys["pump and tank"] = await keyIn("both", groups["pump"]!, groups["tank"]!);
});
after(() => server.close());

/** Sends a request to either protocol; a header that is undefined is not sent. */
async function send(
  question: string,
  body?: object,
  more: Readonly<Record<string, string | undefined>> = {},
) {
  const [method, path] = question.split(/ (.*)/s) as [string, string];
  const sent = Object.entries({ "api-key": server.key, ...more }).filter(([, value]) => value !== undefined);
  const init = { method, headers: sent as [string, string][], ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(server.baseUrl + path, init);
  return { status: response.status, text: await response.text() };
}

const as = (...names: string[]) => ({
  "x-see-as-group": names.map((name) => groups[name] ?? name).join(", "),
});
const odata = (path: string) => `GET /odata/v1/projects/demo/${path}`;
const rest = (path: string) => `/api/0.6/projects/demo${path}`;

const questions: readonly (readonly [question: string, body?: object])[] = [
  ...["/assets", "/timeseries", "/events", "/trends", "/groups?all=true", "/users", "/apikeys"].map(
    (path) => [`GET ${rest(path)}`] as const,
  ),
  [`GET ${rest("/groups")}`],
  [`GET ${rest("")}`],
  [`POST ${rest("/assets/search")}`, { search: { query: "pump" } }],
  [`GET ${rest("/timeseries/search?query=flow")}`],
  [odata("Assets?$top=10")],
  [odata("Assets")],
  [odata("Timeseries?$top=10&$count=true")],
  [odata("Timeseries/$count")],
  [odata("Assets?$top=10&$expand=Timeseries")],
  [odata("")],
];

test("an administrator gets what a member of the groups gets, byte for byte", async () => {
  for (const names of [["pump"], ["tank"], ["trends"], ["own"], ["pump", "tank"]])
    for (const [question, body] of questions) {
      const member = { "api-key": keys[names.join(" and ")]! };
      const expected = await send(question, body, member);
      const seen = await send(question, body, as(...names));
      assert.deepEqual([seen.status, seen.text], [expected.status, expected.text], `${names} ${question}`);
    }
  const flows = async (headers: object) =>
    (await server.ask.v06("GET /timeseries", undefined, { ...headers })).items.map(({ name }) => name);
  assert.deepEqual(await flows(as("pump")), ["flow"]);
  assert.deepEqual(await flows(as("tank")), ["level"]);
  assert.deepEqual(await flows({}), ["flow", "level", "secret flow"]);
});

test("own records of the administrator are not own records of a member", async () => {
  const own = await server.ask.v06("GET /groups", undefined, as("own"));
  assert.deepEqual(idsOf(own), [groups["own"]]);
  await addGroup("own keys", { apikeysAcl: { actions: ["LIST"], scope: { currentuserscope: {} } } });
  assert.deepEqual((await server.ask.v06("GET /apikeys", undefined, as("own keys"))).items, []);
});

test("a caller that does not administer groups is refused, also for its own group", async () => {
  for (const name of ["pump", "nearly"])
    for (const question of [`GET ${rest("/assets")}`, odata("Assets"), `GET ${rest("")}`]) {
      const result = await send(question, undefined, { ...as(name), "api-key": keys[name] });
      assert.equal(result.status, 403);
      assert.match(result.text, /Only an account that administers groups/);
    }
  const none = await server.ask.v06("GET /assets", undefined, { ...as("pump"), "api-key": undefined });
  assert.equal(none.status, 401);
});

test("every operation that changes data or runs code is refused, and changes nothing", async () => {
  const before = (await server.ask.v06("GET /assets")).text;
  const refusal = /The header X-See-As-Group permits reads only/;
  let [refused, permitted] = [0, 0];
  for (const route of routes)
    for (const version of route.versions) {
      const path = pathOf(route, version)
        .replace("{project}", "demo")
        .replaceAll(/\{\w+\}/g, String(pump));
      const result = await send(`${route.method} ${path}`, undefined, as("administrators", "pump"));
      const isRefused = result.status === 403 && refusal.test(result.text);
      assert.equal(isRefused, !isQuery(route), `${route.method} ${path} ${result.text}`);
      if (isRefused) refused += 1;
      else permitted += 1;
      if (route.method !== "GET" && effectOf(route) !== "read") assert.ok(isRefused);
    }
  assert.ok(refused > 100 && permitted > 100, `${refused} and ${permitted}`);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const path = "/odata/v1/projects/demo/Raw('a')/Tables('b')/Rows";
    const result = await send(`${method} ${path}`, { Key: "k" }, as("administrators"));
    assert.equal(result.status, 403, method);
    assert.match(result.text, refusal);
  }
  assert.equal((await server.ask.v06("GET /assets")).text, before);
  assert.deepEqual((await server.ask.v06("GET /raw")).items, []);
});

test("an invalid header is refused, and never means all rights", async () => {
  await addGroup("deleted");
  await server.ask.v06("POST /groups/delete", { items: [groups["deleted"]] });
  const deleted = String(groups["deleted"]);
  const invalid = (got: string) =>
    `Invalid field - X-See-As-Group - expected ids of groups, separated by commas, but got ${got}`;
  const cases: readonly (readonly [sent: string, message: string])[] = [
    ["", invalid("")],
    ["pump", invalid("pump")],
    [`${groups["pump"]},`, invalid("")],
    ["0", invalid("0")],
    ["-1", invalid("-1")],
    ["9007199254740993", invalid("9007199254740993")],
    [`${groups["pump"]},12345`, "No such ids: 12345"],
    [deleted, `No such ids: ${deleted}`],
    [
      Array.from({ length: 101 }, (_, index) => index + 1).join(","),
      "X-See-As-Group may hold at most 100 items but holds 101",
    ],
  ];
  for (const [sent, message] of cases) {
    const result = await server.ask.v06("GET /assets", undefined, { "x-see-as-group": sent });
    assert.deepEqual([result.status, result.error?.message], [400, message], sent);
  }
});

test("a change of a group takes effect at once, and what was read before does not mix in", async () => {
  const count = async (headers: object) =>
    (await send(odata("Timeseries/$count"), undefined, { ...headers })).text;
  await addGroup("changing", reads("timeSeriesAcl", below(pump)));
  const points = "GET /api/0.5/projects/demo/timeseries/data/level?start=0&end=1";
  const status = async (headers: object) => (await send(points, undefined, { ...headers })).status;
  assert.deepEqual([await count({}), await count(as("changing"))], ["3", "1"]);
  assert.deepEqual([await status({}), await status(as("changing"))], [200, 404]);
  const capabilities = [reads("timeSeriesAcl", below(tank))];
  await server.ask.v06(`PATCH /groups/${groups["changing"]}`, { capabilities });
  assert.deepEqual(
    [await status(as("changing")), await status(as("pump")), await status({})],
    [200, 404, 200],
  );
  assert.deepEqual([await count(as("changing")), await count({})], ["1", "3"]);
});
