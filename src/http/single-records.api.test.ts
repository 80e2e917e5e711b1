// One record by its own path: DELETE deletes it, and PATCH accepts plain values, for every resource.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { singles } from "../../test/support/samples.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

type Item = Readonly<Record<string, unknown>>;

/** Creates two records: one that is deleted, and one that stays. */
const creations = singles.map(([list, items]) => [`/${list}`, items] as const);

const left = async (path: string): Promise<unknown[]> => {
  const { items } = await server.ask.v06(`GET ${path}${path === "/groups" ? "?all=true" : ""}`);
  return items.map(({ id }) => id);
};

for (const [path, items] of creations)
  test(`DELETE ${path}/{id} deletes one and no other; again it is not found`, async () => {
    const created = await server.ask.v06(`POST ${path}`, { items });
    const [gone, stays] = created.items.map(({ id }) => id as number) as [number, number];
    const deleted = await server.ask.v06(`DELETE ${path}/${gone}`);
    assert.deepEqual([deleted.status, deleted.json], [200, {}]);
    const ids = await left(path);
    assert.deepEqual([ids.includes(gone), ids.includes(stays)], [false, true]);
    const again = await server.ask.v06(`DELETE ${path}/${gone}`);
    assert.deepEqual([again.status, again.error?.["notFound"]], [404, [gone]]);
    assert.deepEqual(await left(path), ids);
  });

test("DELETE of a file takes its bytes along; a series is deleted by name before 0.6", async () => {
  const started = await server.ask("POST /files/initupload", { fileName: "f" });
  const { fileId } = (started.json as { data: { fileId: number } }).data;
  const deleted = await server.ask(`DELETE /files/${fileId}`);
  assert.deepEqual([deleted.status, deleted.json], [200, {}]);
  assert.equal((await server.ask(`DELETE /files/${fileId}`)).status, 404);

  const { items } = await server.ask.v06("POST /timeseries", { items: [{ name: "named" }] });
  const id = items[0]!["id"];
  assert.equal((await server.ask.v05(`DELETE /timeseries/${id}`)).status, 404);
  assert.equal((await server.ask.v06(`GET /timeseries/${id}`)).status, 200);
  assert.equal((await server.ask.v05("DELETE /timeseries/named")).status, 200);
  assert.equal((await server.ask.v06(`GET /timeseries/${id}`)).status, 404);
});

test("DELETE refuses a path that ends with /, which clients send for the raw row .", async () => {
  const items = [".", "..", "k"].map((key) => ({ key }));
  await server.ask("POST /raw/dots/t/create?ensureParent=true", { items });
  // `fetch` removes the dots.
  for (const path of ["t/.", "t/..", ".", "t/", "t/?recursive=true"].map((end) => `/raw/dots/${end}`)) {
    const { status, error } = await server.ask(`DELETE ${path}`);
    assert.equal(status, 400, path);
    assert.match(error!.message, /names no record/, path);
  }
  const left = await server.ask("GET /raw/dots/t");
  assert.deepEqual(
    left.items.map(({ key }) => key),
    [".", "..", "k"],
  );
});

test("DELETE of raw data goes by the names in the path", async () => {
  await server.ask("POST /raw/db/t/create?ensureParent=true", { items: [{ key: "k", columns: { a: 1 } }] });
  await server.ask("POST /raw/db/t/create", { items: [{ key: "l", columns: { a: 2 } }] });
  assert.equal((await server.ask("DELETE /raw/db/t/k")).status, 200);
  assert.deepEqual(
    (await server.ask("GET /raw/db/t")).items.map(({ key }) => key),
    ["l"],
  );
  assert.equal((await server.ask("DELETE /raw/db")).status, 400, "it holds a table");
  assert.equal((await server.ask("DELETE /raw/db/t")).status, 200);
  assert.equal((await server.ask("DELETE /raw/db")).status, 200);
  assert.equal((await server.ask("DELETE /raw/db")).status, 404);
});

for (const [path, items] of creations)
  test(`GET ${path}/{id} reads one, in every version that has it`, async () => {
    const named = items.map((item) => Object.fromEntries(Object.entries(item).map(again)));
    const created = await server.ask.v06(`POST ${path}`, { items: named });
    const { id } = created.items[0]!;
    const read = await server.ask.v06(`GET ${path}/${id}`);
    assert.deepEqual([read.status, read.items.map((one) => one["id"])], [200, [id]]);
    assert.equal((await server.ask.v06(`GET ${path}/12345`)).status, 404);
  });

/** A member with another name, as the first one may be taken. An action is one of a few words. */
const again = ([member, value]: [string, unknown]) => [
  member,
  typeof value === "string" && member !== "action" ? `again ${value}` : value,
];

test("PATCH of a series refuses what cannot change", async () => {
  const { items } = await server.ask.v06("POST /timeseries", { items: [{ name: "kind" }] });
  const path = `/timeseries/${items[0]!["id"]}`;
  for (const member of ["isStep", "isString"])
    for (const value of [true, { set: true }]) {
      const refused = await server.ask.v06(`PATCH ${path}`, { [member]: value, unit: "bar" });
      const message = `Unknown field - ${member} - nothing is changed`;
      assert.deepEqual([refused.status, refused.error?.message], [400, message]);
    }
  assert.equal((await server.ask.v06(`GET ${path}`)).items[0]!["unit"], undefined);
});

test("PATCH takes plain values and changes, and leaves what it does not name", async () => {
  const asset = (await server.ask("POST /assets", { items: [{ name: "root" }] })).items[0]!["id"];
  const metadata = { set: "a text" };
  const series = await server.ask.v06("POST /timeseries", { items: [{ name: "p", unit: "bar" }] });
  const sequence = await server.ask.v06("POST /sequences", {
    items: [{ name: "p", externalId: "e", columns: [{ name: "c", valueType: "LONG" }] }],
  });
  const started = await server.ask("POST /files/initupload", { fileName: "p", source: "s" });
  const { fileId } = (started.json as { data: { fileId: number } }).data;
  const cases: [path: string, plain: Item, kept: Item][] = [
    [
      `/timeseries/${series.items[0]!["id"]}`,
      { name: "q", description: "d", assetId: asset, metadata },
      { unit: "bar" },
    ],
    [
      `/sequences/${sequence.items[0]!["id"]}`,
      { name: "q", description: "d", assetId: asset, metadata },
      { externalId: "e" },
    ],
    [`/files/${fileId}`, { fileName: "q", directory: "d", assetIds: [asset], metadata }, { source: "s" }],
  ];
  for (const [path, plain, kept] of cases) {
    const patched = await server.ask.v06(`PATCH ${path}`, plain);
    assert.equal(patched.status, 200, patched.text);
    const shown = patched.items[0]!;
    for (const [member, value] of Object.entries({ ...plain, ...kept }))
      assert.deepEqual(shown[member], value, `${path} ${member}`);
    const [name] = Object.keys(plain) as [string];
    const mixed = await server.ask.v06(`PATCH ${path}`, {
      ...{ [name]: { set: "r" }, metadata: { set: { a: "b" } } },
    });
    assert.deepEqual([mixed.items[0]![name], mixed.items[0]!["metadata"]], ["r", { a: "b" }]);
    for (const [member, value] of Object.entries(kept)) assert.deepEqual(mixed.items[0]![member], value);
    const refused = await server.ask.v06(`PATCH ${path}`, { [name]: 5 });
    assert.equal(refused.status, 400);
    const cleared = await server.ask.v06(`PATCH ${path}`, { metadata: {} });
    assert.deepEqual(cleared.items[0]!["metadata"] ?? {}, {});
  }
});

test("series without metadata omit it, and so do assets below /subtree alone", async () => {
  const made = await server.ask.v06("POST /timeseries", {
    items: [{ name: "bare" }, { name: "rich", metadata: { a: "b" } }],
  });
  assert.deepEqual(
    made.items.map(({ metadata }) => metadata),
    [undefined, { a: "b" }],
  );
  const listed = await server.ask.v06("GET /timeseries?includeMetadata=true");
  assert.ok(listed.items.every(({ name, metadata }) => (name === "rich") === (metadata !== undefined)));
  const assets = await server.ask("POST /assets", {
    items: [
      { name: "bare", refId: "1" },
      { name: "rich", parentRefId: "1", metadata: { a: "b" } },
    ],
  });
  const id = assets.items[0]!["id"];
  const below = await server.ask(`GET /assets/${id}/subtree`);
  assert.deepEqual(
    below.items.map((one) => ["metadata" in one, one["metadata"]]),
    [
      [false, undefined],
      [true, { a: "b" }],
    ],
  );
  assert.deepEqual((await server.ask(`GET /assets/${id}`)).items[0]!["metadata"], {});
});
