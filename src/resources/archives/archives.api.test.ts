// Times restored from an archive are set on existing records of the caller's project, and on no others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";
import { resources } from "../../resources.ts";

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
  const response = await ask("POST /restore/times/assets", { items: [{ id, ...times }] });
  assert.deepEqual([response.status, response.text], [200, "{}"]);
  assert.deepEqual((await ask(`GET /assets/${id}`)).items[0], { ...before, ...times });
});

test("raw rows are written with their times, columns to the letter", async () => {
  const row = '{"key":"a","columns":{ "x":1.0 },"lastUpdatedTime":5}';
  const response = await ask("POST /restore/raw/db/t", `{"items":[${row}]}`);
  assert.deepEqual([response.status, response.text], [200, "{}"]);
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
        "relationships, trends, transformations but got moons",
    ],
    ["raw/db/t", [{ key: "b" }], "Missing required field - items[0].lastUpdatedTime"],
  ];
  for (const [path, items, message] of cases) {
    const response = await ask(`POST /restore/${path}`, { items });
    assert.deepEqual([response.status, response.error?.message], [400, message]);
  }
  assert.equal((await ask(`GET /assets/${id}`)).text, before);
});

/** The paths of all numbers that a schema describes: `items[0].columns[0].createdTime`. */
function numbersIn(schema: Schema, path = ""): string[] {
  if (schema.type === "integer" || schema.type === "number") return [path];
  if (schema.items) return numbersIn(schema.items, `${path}[0]`);
  const named = (name: string) => (path === "" ? name : `${path}.${name}`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, one]) => numbersIn(one, named(name)));
}

interface Schema {
  readonly type?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The body with the number at this path replaced. */
function changed(body: unknown, path: string, hostile: unknown): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  const names = path.match(/\w+/g)!;
  const holder = names.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, copy);
  holder[names.at(-1)!] = hostile;
  return copy;
}

test("no restored number breaks a list: each that a body can hold is refused beyond its bounds", async () => {
  const columns = [{ valueType: "LONG" }];
  const made = async (path: string, item: object) => idsOf(await ask(`POST /${path}`, { items: [item] }))[0];
  const ends = { sourceType: "asset", sourceExternalId: "a", targetType: "asset", targetExternalId: "b" };
  const ids: Readonly<Record<string, number | undefined>> = {
    assets: await made("assets", { name: "hostile" }),
    timeseries: await made("timeseries", { name: "hostile" }),
    events: await made("events", { description: "hostile" }),
    sequences: await made("sequences", { columns }),
    relationships: await made("relationships", { externalId: "hostile", ...ends }),
    trends: await made("trends", { name: "hostile", definition: {} }),
    files: (
      (await ask("POST /files/initupload", { fileName: "hostile" })).json as { data: { fileId: number } }
    ).data.fileId,
  };
  const [sequence] = (await ask(`GET /sequences/${ids["sequences"]}`)).items;
  const [{ id: column } = { id: 0 }] = sequence!["columns"] as { id: number }[];
  await ask("POST /restore/raw/hostile/rows", { items: [{ key: "a", lastUpdatedTime: 5 }] });
  const lists = [...Object.keys(ids), "raw/hostile/rows"];
  const state = async () =>
    Promise.all(
      lists.map(async (list) => {
        const { status, text } = await ask(`GET /${list}?limit=1000`);
        assert.equal(status, 200, list);
        return text;
      }),
    );
  const before = await state();
  let refused = 0;
  for (const { path, body } of resources.archives.routes)
    for (const target of path.includes("raw") ? ["hostile/rows"] : Object.keys(ids)) {
      const item = { id: ids[target], ...times, uploadedAt: 3, columns: [{ id: column, ...times }] };
      const good = { items: [path.includes("raw") ? { key: "a", lastUpdatedTime: 6 } : item] };
      const address = `/restore/${path.includes("raw") ? "raw" : "times"}/${target}`;
      const numbers = numbersIn(body!.schema as unknown as Schema);
      assert.ok(numbers.length > 0, path);
      for (const number of numbers)
        for (const hostile of [2 ** 53, -(2 ** 53), 1e300, -1e300, 1.5, limits.timeMsMin - 1]) {
          const response = await ask(`POST ${address}`, changed(good, number, hostile));
          const said = response.error?.message ?? response.text;
          assert.equal(response.status, 400, `${address} ${number} ${hostile}: ${said}`);
          assert.ok(said.startsWith(`Invalid field - ${number} - expected `), said);
          assert.ok(said.endsWith(` but got ${JSON.stringify(hostile)}`), said);
          refused += 1;
        }
    }
  assert.ok(refused > 200, `${refused}`);
  assert.deepEqual(await state(), before);
});
