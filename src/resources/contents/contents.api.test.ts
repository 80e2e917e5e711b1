// The levels of the tree of assets, the counts of a subtree, and the rights to them, over the API.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskFunction, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
let ask: AskFunction;
const ids: Record<string, number> = {};

/** `site > (u1 > (p1 > seal, p2), u2 > p9)` and the root `annex`. */
const tree = [
  ["site"],
  ["annex"],
  ["u2", "site"],
  ["u1", "site"],
  ["p2", "u1"],
  ["p1", "u1"],
  ["p9", "u2"],
  ["seal", "p1"],
] as const;

before(async () => {
  server = await startTestServer();
  ask = server.ask.v06;
  const items = tree.map(([name, parent]) => ({ name, refId: name, ...(parent && { parentRefId: parent }) }));
  const created = await ask("POST /assets", { items });
  for (const { id, name } of created.items) ids[String(name)] = Number(id);
});
after(() => server.close());

/** `name` or `name+` for each item; `+` marks those with children. */
const level = async (as: AskFunction, query: string) =>
  (await as(`GET /assets/children?${query}`)).items
    .map(({ name, hasChildren }) => `${name}${hasChildren ? "+" : ""}`)
    .join(" ");

test("a level has the children of one asset by name, and says which have children", async () => {
  assert.equal(await level(ask, ""), "annex site+");
  assert.equal(await level(ask, `parentId=${ids["site"]}`), "u1+ u2+");
  assert.equal(await level(ask, `parentId=${ids["u1"]}`), "p1+ p2");
  assert.equal(await level(ask, `parentId=${ids["seal"]}`), "");
  assert.equal((await ask("GET /assets/children?parentId=1")).status, 404);
});

test("a level has pages, and starts at a name", async () => {
  const first = await ask(`GET /assets/children?parentId=${ids["site"]}&limit=1`);
  assert.deepEqual(idsOf(first), [ids["u1"]]);
  const second = await ask(`GET /assets/children?parentId=${ids["site"]}&limit=1&cursor=${first.nextCursor}`);
  assert.deepEqual(idsOf(second), [ids["u2"]]);
  assert.equal(second.nextCursor, undefined);
  assert.equal(await level(ask, `parentId=${ids["u1"]}&from=p2`), "p2");
  assert.equal(await level(ask, `parentId=${ids["u1"]}&from=p11`), "p2");
  const other = `GET /assets/children?parentId=${ids["u1"]}&limit=1&cursor=${first.nextCursor}`;
  assert.equal((await ask(other)).status, 400, "a cursor is for its own level");
});

test("a caller who may see subtrees alone has their roots as the topmost assets", async () => {
  const limited = await keyFor([ids["u1"]!, ids["p1"]!, ids["annex"]!]);
  assert.equal(await level(limited, ""), "annex u1+", "p1 is below u1");
  assert.equal(await level(limited, `parentId=${ids["u1"]}`), "p1+ p2");
  for (const hidden of ["site", "u2", "p9"])
    assert.equal((await limited(`GET /assets/children?parentId=${ids[hidden]}`)).status, 404, hidden);
  assert.equal((await limited(`GET /assets/${ids["u2"]}/contents`)).status, 404);
});

test("the contents of an asset are counted with its subtree, as far as one may read them", async () => {
  const now = Date.now();
  await ask("POST /timeseries", {
    items: ["p1", "seal", "p9"].map((at) => ({ name: `T ${at}`, assetId: ids[at] })),
  });
  await ask("POST /events", {
    items: [{ startTime: now, endTime: now, assetIds: [ids["seal"], ids["p9"]] }],
  });
  await ask("POST /files/initupload", { fileName: "a.txt", assetIds: [ids["u1"]] });
  const contents = async (as: AskFunction, at: string) =>
    ((await as(`GET /assets/${ids[at]}/contents`)).json as { data?: unknown })?.data;
  assert.deepEqual(await contents(ask, "site"), {
    assets: 6,
    timeseries: 3,
    events: 1,
    files: 1,
    sequences: 0,
  });
  assert.deepEqual(await contents(ask, "u1"), {
    assets: 3,
    timeseries: 2,
    events: 1,
    files: 1,
    sequences: 0,
  });
  assert.deepEqual(await contents(ask, "annex"), {
    assets: 0,
    timeseries: 0,
    events: 0,
    files: 0,
    sequences: 0,
  });
  const limited = await keyFor([ids["u1"]!]);
  assert.deepEqual(await contents(limited, "u1"), { assets: 3 });
});

/** An account whose only right is to read these subtrees of assets. */
async function keyFor(assetIds: readonly number[]): Promise<AskFunction> {
  const made = async (path: string, item: object) =>
    (await ask(`POST /${path}`, { items: [item] })).items[0] as Readonly<Record<string, unknown>>;
  const scope = { assetIdScope: { subtreeIds: assetIds.map(String) } };
  const capabilities = [{ assetsAcl: { actions: ["READ"], scope } }];
  const group = await made("groups", { name: `group ${++groupCount}`, capabilities });
  const user = await made("users", { uniqueName: `account ${groupCount}`, groups: [group["id"]] });
  const key = await made("apikeys", { userId: user["id"] });
  return (methodAndPath, body) => ask(methodAndPath, body, { "api-key": String(key["value"]) });
}
let groupCount = 0;
