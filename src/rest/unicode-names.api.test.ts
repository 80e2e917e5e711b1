// Names with two Unicode forms: both name the same project, and records keep the form that was sent.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../test/support/server.ts";

const [composed, decomposed] = ["é".normalize("NFC"), "é".normalize("NFD")];
let server: TestServer;
before(async () => {
  server = await startTestServer({ project: `plant-${composed}` });
});
after(() => server.close());

test("a project is found by either spelling of its name, and no other one is", async () => {
  for (const [name, status] of [
    [`plant-${composed}`, 200],
    [`plant-${decomposed}`, 200],
    ["plant-e", 403],
  ] as const) {
    const place = `projects/${encodeURIComponent(name)}`;
    for (const path of [`/api/0.5/${place}/assets`, `/odata/v1/${place}/`]) {
      const response = await fetch(server.baseUrl + path, { headers: { "api-key": server.key } });
      await response.arrayBuffer();
      assert.equal(response.status, status, `${path} ${name}`);
    }
  }
});

test("two spellings are two records, each returned as it was sent, and a search finds both", async () => {
  const names = [`pump ${composed}`, `pump ${decomposed}`];
  for (const resource of ["assets", "timeseries"]) {
    const items = names.map((name) => ({ name }));
    assert.equal((await server.ask(`POST /${resource}`, { items })).status, 200, resource);
    const listed = await server.ask(`GET /${resource}`);
    assert.deepEqual(listed.items.map(({ name }) => name).sort(), [...names].sort());
  }
  const rows = names.map((key) => ({ key, columns: { key } }));
  await server.ask("POST /raw/db/t/create?ensureParent=true", { items: rows });
  for (const [index, name] of names.entries()) {
    const items = [{ timestamp: 1, value: index }];
    await server.ask(`POST /timeseries/data/${encodeURIComponent(name)}`, { items });
    const row = await server.ask(`GET /raw/db/t/${encodeURIComponent(name)}`);
    assert.deepEqual(row.items[0]!["columns"], { key: name });
  }
  for (const [index, name] of names.entries()) {
    const path = `/timeseries/data/${encodeURIComponent(name)}?start=0&end=10`;
    const [found] = (await server.ask(`GET ${path}`)).items;
    assert.deepEqual(found!["datapoints"], [{ timestamp: 1, value: index }]);
    const search = await server.ask(`GET /assets/search?query=${encodeURIComponent(name)}`);
    assert.equal(search.items.length, 2);
  }
});
