// Searches with many results: each is returned once, and `$count` is their number.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AskOData, allItems, odataOf } from "../../test/support/odata.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { limits } from "../limits.ts";

/** Of each kind; every other one has the word, and one more has no other word. */
const count = 2_500;
const matching = 1_251;

let server: TestServer;
let ask: AskOData;

before(async () => {
  server = await startTestServer(withFront);
  ask = odataOf(server);
  const names = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? `tank ${i} pump` : `valve ${i}`));
  const items = [...names.map((name) => ({ name })), { name: "pump" }];
  const parent = await server.ask.v06("POST /assets", {
    items: [{ name: "plant", source: "sap", sourceId: "root" }],
  });
  const parentId = parent.items[0]!["id"];
  const assets = items.map((item, i) => (i === 0 ? { ...item, parentId } : item));
  assert.equal((await server.ask.v06("POST /assets", { items: assets })).status, 201);
  assert.equal((await server.ask("POST /timeseries", { items })).status, 200);
});
after(() => server.close());

for (const name of ["AssetsSearch", "TimeseriesSearch"])
  test(`${name} pages through all results`, async () => {
    const path = `${name}(Search='PUMP')`;
    assert.equal((await ask(`${path}/$count`)).text, String(matching));
    for (const maxpagesize of [300, 10_000]) {
      const items = await allItems(ask, `${path}?$select=Id,Name`, {
        headers: { prefer: `maxpagesize=${maxpagesize}` },
      });
      assert.equal(new Set(items.map((item) => item["Id"])).size, matching);
      assert.equal(items.length, matching);
      assert.ok(items.every((item) => String(item["Name"]).includes("pump")));
    }
    const top = await allItems(ask, `${path}?$top=1100&$count=true&$filter=Name ne 'tank 2 pump'`);
    assert.equal(top.length, 1_100);
    assert.ok(top.every((item) => item["Name"] !== "tank 2 pump"));
    const page = await ask(`${path}?$top=1&$count=true&$filter=Name ne 'tank 2 pump'`);
    assert.equal(page.json?.["@odata.count"], matching - 1);
  });

test("results have every property that the set has", async () => {
  const { items } = await ask("AssetsSearch(Search='tank 0 pump')?$select=Name,ParentExternalId");
  const [found] = items;
  const [listed] = (await ask("Assets?$filter=Name eq 'tank 0 pump'&$select=Name,ParentExternalId")).items;
  assert.ok(listed?.["ParentExternalId"]);
  assert.deepEqual(found?.["ParentExternalId"], listed["ParentExternalId"]);
});

test("a search over REST keeps its limit at any offset, and refuses an offset beyond the bound", async () => {
  const max = limits.searchItemsMax;
  const namesAt = async (kind: string, query: string) => {
    const { status, items, text } = await server.ask.v06(`GET /${kind}/search?query=pump&${query}`);
    assert.equal(status, 200, text);
    return items.map((item) => item["name"]);
  };
  for (const kind of ["assets", "timeseries"]) {
    const [first, second] = [
      await namesAt(kind, `limit=${max}`),
      await namesAt(kind, `limit=9999&offset=${max}`),
    ];
    assert.deepEqual([first.length, second.length], [max, matching - max]);
    assert.equal(new Set([...first, ...second]).size, matching);
    assert.deepEqual(await namesAt(kind, `limit=100&offset=${max - 10}`), [
      ...first.slice(-10),
      ...second.slice(0, 90),
    ]);
    const { status, error } = await server.ask.v06(`GET /${kind}/search?query=pump&offset=${max + 1}`);
    assert.equal(status, 400);
    assert.match(error!.message, /offset - expected an integer from 0 to 1000 but got 1001/);
  }
  const search = { search: { query: "pump" }, limit: 9_999, offset: max };
  const byBody = await server.ask.v06("POST /assets/search", search);
  assert.equal(byBody.items.length, matching - max);
});
