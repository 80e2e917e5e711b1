// The `Location` of each 201 exists: for every route that creates, and for inserts over OData.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { routes } from "../resources.ts";
import { pathOf } from "../rest/route.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
  await server.ask.v06("POST /raw/create", { items: [{ dbName: "a/b 1%" }] });
});
after(() => server.close());

const accountId = async () => (await server.ask("GET /users")).items[0]!["id"];

/** Two new records of each route that creates, and the member by which the first is found again. */
const created: Record<string, { items: () => unknown | Promise<unknown>; member: string }> = {
  "/assets": { items: () => [{ name: "pump" }, { name: "valve" }], member: "id" },
  "/events": { items: () => [{ type: "stop" }, { type: "start" }], member: "id" },
  "/users": { items: () => [{ uniqueName: "robot" }, { uniqueName: "other" }], member: "id" },
  "/apikeys": {
    items: async () => [{ userId: await accountId() }, { userId: await accountId() }],
    member: "id",
  },
  "/groups": { items: () => [{ name: "readers" }, { name: "writers" }], member: "id" },
  "/securitycategories": { items: () => [{ name: "secret" }, { name: "top secret" }], member: "id" },
  "/raw/create": { items: () => [{ dbName: "plant / 100% ø" }, { dbName: "plain" }], member: "dbName" },
  "/raw/{database}/create": {
    items: () => [{ tableName: "pumps / 100% ø" }, { tableName: "plain" }],
    member: "tableName",
  },
};

for (const route of routes.filter((one) => one.created))
  for (const version of route.created!)
    test(`the Location of POST ${route.path} in ${version} is the first record`, async () => {
      const sample = created[route.path];
      assert.ok(sample, `this test has no body for ${route.path}`);
      const path = pathOf(route, version)
        .replace("{project}", server.project)
        .replace("{database}", encodeURIComponent("a/b 1%"));
      const made = await server.ask.root(`POST ${path}`, { items: await sample.items() });
      assert.equal(made.status, 201, made.text);
      const location = made.headers.get("location")!;
      const read = await server.ask.root(`GET ${location}`);
      assert.equal(read.status, 200, `${location}: ${read.text}`);
      if (sample.member !== "id") return assert.deepEqual(read.items, [], "a new database or table is empty");
      assert.deepEqual([read.items.length, read.items[0]!["id"]], [1, made.items[0]!["id"]]);
    });

test("a security category that the caller may not list looks like one that does not exist", async () => {
  const ask = server.ask.v06;
  const all = (await ask("GET /securitycategories")).items.map(({ id }) => id as number);
  const scope = { idscope: { ids: all.slice(0, 1) } };
  const capabilities = [{ securityCategoriesAcl: { actions: ["LIST"], scope } }];
  const group = (await ask("POST /groups", { items: [{ name: "some", capabilities }] })).items[0]!["id"];
  const users = await ask("POST /users", { items: [{ uniqueName: "limited", groups: [group] }] });
  const keys = await ask("POST /apikeys", { items: [{ userId: users.items[0]!["id"] }] });
  const limited = { "api-key": keys.items[0]!["value"] as string };
  const read = (id: number) => ask(`GET /securitycategories/${id}`, undefined, limited);
  assert.deepEqual((await read(all[0]!)).items, (await ask(`GET /securitycategories/${all[0]}`)).items);
  const [hidden, missing] = [await read(all[1]!), await read(all[1]! + 1_000)];
  assert.deepEqual([hidden.status, missing.status], [404, 404]);
  assert.deepEqual(hidden.error?.["notFound"], [all[1]]);
});

test("the Location of an insert over OData is the entity", async () => {
  const root = `${server.baseUrl}/odata/v1/projects/demo`;
  const headers = { "api-key": server.key, "content-type": "application/json" };
  for (const [path, entity] of [
    ["/Raw", { Database: "o'clock / 1%" }],
    ["/Raw('plain')/Tables", { Table: "ø / 1%" }],
    ["/Raw('plain')/Tables('%C3%B8%20%2F%201%25')/Rows", { Key: "r/1", RawData: { a: 1 } }],
  ] as const) {
    const made = await fetch(root + path, { method: "POST", headers, body: JSON.stringify(entity) });
    assert.equal(made.status, 201, await made.clone().text());
    const read = await fetch(made.headers.get("location")!, { headers });
    assert.equal(read.status, 200, made.headers.get("location")!);
    assert.deepEqual({ ...((await read.json()) as object), ...entity }, await made.json());
  }
});
