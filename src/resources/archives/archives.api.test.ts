// Times that come back with an archive: given to records that exist, and to nobody's else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const ask: TestServer["ask"]["v06"] = (...args) => server.ask.v06(...args);
const times = { createdTime: 1, lastUpdatedTime: 2 };

test("records have the times that they are given, and nothing else changes", async () => {
  const [id] = idsOf(await ask("POST /assets", { items: [{ name: "pump", metadata: { a: "b" } }] }));
  const before = (await ask(`GET /assets/${id}`)).items[0];
  const answer = await ask("POST /restore/times/assets", { items: [{ id, ...times }] });
  assert.deepEqual([answer.status, answer.text], [200, "{}"]);
  assert.deepEqual((await ask(`GET /assets/${id}`)).items[0], { ...before, ...times });
});

test("raw rows are written with their times, columns to the letter", async () => {
  const row = '{"key":"a","columns":{ "x":1.0 },"lastUpdatedTime":5}';
  const answer = await ask("POST /restore/raw/db/t", `{"items":[${row}]}`);
  assert.deepEqual([answer.status, answer.text], [200, "{}"]);
  assert.ok((await ask("GET /raw/db/t")).text.includes(row));
});

test("what is refused changes nothing", async () => {
  const [id] = idsOf(await ask("POST /assets", { items: [{ name: "valve" }] }));
  const columns = [{ valueType: "LONG" }];
  const [sequence] = idsOf(await ask("POST /sequences", { items: [{ columns }] }));
  const before = (await ask(`GET /assets/${id}`)).text;
  const cases: readonly (readonly [path: string, items: readonly object[], message: string])[] = [
    [
      "times/assets",
      [
        { id, ...times },
        { id, ...times },
      ],
      `items names the same id more than once: ${id}`,
    ],
    [
      "times/assets",
      [
        { id, ...times },
        { id: 7, ...times },
      ],
      "No such ids: 7",
    ],
    ["times/assets", [{ id, createdTime: 1 }], "Missing required field - items[0].lastUpdatedTime"],
    [
      "times/sequences",
      [{ id: sequence, ...times, columns: [{ id: 7, ...times }] }],
      "Invalid field - items[0].columns[0].id - expected the id of a column of this sequence but got 7",
    ],
    [
      "times/moons",
      [{ id, ...times }],
      "Invalid field - resource - expected one of assets, timeseries, events, files, sequences, " +
        "relationships but got moons",
    ],
    ["raw/db/t", [{ key: "b" }], "Missing required field - items[0].lastUpdatedTime"],
  ];
  for (const [path, items, message] of cases) {
    const answer = await ask(`POST /restore/${path}`, { items });
    assert.deepEqual([answer.status, answer.error?.message], [400, message]);
  }
  assert.equal((await ask(`GET /assets/${id}`)).text, before);
});
