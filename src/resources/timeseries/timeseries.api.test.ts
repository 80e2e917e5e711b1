// Time series over the API, as clients of 0.4, 0.5 and 0.6 use them.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { idsOf, startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import { everything } from "../../query/filter.ts";
import { securityCategoryTable } from "../groups/schema.ts";
import { projectIds } from "../projects/projects.ts";
import { pendingDeletionTable } from "./schema.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
  const { catalog } = server.app.services;
  const [projectId] = await projectIds(server.app.services);
  const categories = [1, 2, 3, 7, 8, 9].map((id) => ({ id, name: `category ${id}` }));
  await catalog.write(projectId!, (tx) => tx.insert(securityCategoryTable, categories));
});
after(() => server.close());
beforeEach(async () => {
  const stored = await server.ask("GET /timeseries?limit=10000");
  if (stored.items.length > 0) await ok(server.ask.v06("POST /timeseries/delete", { items: idsOf(stored) }));
});

async function ok(answering: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answering;
  assert.equal(response.status, 200, response.text);
  return response;
}

const namesOf = (response: TestResponse) => response.items.map((item) => item["name"]);
const create = async (...items: object[]) => idsOf(await ok(server.ask.v06("POST /timeseries", { items })));
const anAsset = async (name: string, parentId?: number) =>
  idsOf(await ok(server.ask("POST /assets", { items: [{ name, parentId }] })))[0]!;
/** Everything there is. */
const snapshot = async () => (await ok(server.ask("GET /timeseries?includeMetadata=true&limit=10000"))).items;

describe("creating time series", () => {
  const full = {
    description: "steam drum",
    unit: "°C",
    isString: false,
    isStep: true,
    metadata: { site: "x", "odd key\n": "" },
    securityCategories: [7, 8, 7],
  };

  it("0.4 names them by tagId and returns an empty object", async () => {
    const response = await ok(server.ask.v04("POST /timeseries", { items: [{ ...full, tagId: "a" }] }));
    assert.deepEqual(response.json, {});
    const { items } = await ok(server.ask.v04("GET /timeseries?includeMetadata=True"));
    const [{ id, ...shown }] = items as [(typeof items)[number]];
    const { securityCategories: _, ...known } = full;
    assert.deepEqual(shown, { tagId: "a", ...known });
    assert.ok(Number.isSafeInteger(id));
  });

  it("0.5 returns an empty object, 0.6 the created series", async () => {
    const assetId = await anAsset(`boiler ${Date.now()}`);
    const item = { ...full, name: "a", assetId };
    assert.deepEqual((await ok(server.ask.v05("POST /timeseries", { items: [item] }))).json, {});
    const created = await ok(
      server.ask.v06("POST /timeseries", { items: [{ ...item, name: "b" }, { name: "c" }] }),
    );
    const [b, c] = created.items as [(typeof created.items)[number], (typeof created.items)[number]];
    const { id, createdTime, lastUpdatedTime, ...rest } = b;
    assert.deepEqual(rest, { ...item, name: "b", securityCategories: [7, 8] });
    assert.ok(Math.abs((createdTime as number) - Date.now()) < 60_000 && createdTime === lastUpdatedTime);
    assert.deepEqual(
      { ...c, id, createdTime, lastUpdatedTime },
      {
        id,
        name: "c",
        isString: false,
        isStep: false,
        createdTime,
        lastUpdatedTime,
      },
    );
    const { metadata: _, ...withoutMetadata } = b;
    assert.deepEqual((await ok(server.ask(`GET /timeseries/${id}`))).items, [withoutMetadata]);
    assert.deepEqual((await ok(server.ask(`GET /timeseries/${id}?includeMetadata=true`))).items, [b]);
  });

  it("nulls count as absent, wrong names of members are ignored", async () => {
    const nulls = { description: null, unit: null, assetId: null, metadata: null, isString: null, id: null };
    const wrong = {
      step: true,
      security_categories: [1],
      unheardOf: {},
      createdTime: 1,
      lastUpdatedTime: "x",
    };
    await create({ name: "a", ...nulls, ...wrong });
    const [{ id, createdTime, lastUpdatedTime, ...rest }] = (await snapshot()) as [Record<string, unknown>];
    assert.deepEqual(rest, { name: "a", isString: false, isStep: false });
    assert.ok(Number(createdTime) > 1 && Number(lastUpdatedTime) > 1 && id);
  });

  const oddNames = ["a/b", "100 %", "a+b", "a%2Fb", " ", "..", "ø 温度 😀", "?#&=", "é".repeat(255)];
  for (const name of oddNames)
    it(`takes the name ${name.slice(0, 20)}, lists it and deletes it by a path`, async () => {
      await create({ name }, { name: "other" });
      const prefix = encodeURIComponent(name);
      assert.deepEqual(namesOf(await ok(server.ask(`GET /timeseries?q=${prefix}`))), [name]);
      assert.deepEqual(namesOf(await ok(server.ask.v06(`GET /timeseries?name=${prefix}`))), [name]);
      if (name === "..") return;
      assert.deepEqual((await ok(server.ask(`DELETE /timeseries/${prefix}`))).json, {});
      assert.deepEqual(namesOf(await ok(server.ask("GET /timeseries"))), ["other"]);
    });

  for (const name of ["data", "byids"])
    it(`takes the name ${name} of an operation, and deletes it by its id alone`, async () => {
      await create({ name }, { name: "other" });
      const { status } = await server.ask(`DELETE /timeseries/${name}`);
      assert.equal(status, 405);
      const found = (await ok(server.ask.v06(`GET /timeseries?name=${name}`))).items;
      assert.deepEqual(namesOf({ items: found } as never), [name]);
      await ok(server.ask.v06("POST /timeseries/delete", { items: [found[0]!["id"]] }));
      assert.deepEqual(namesOf(await ok(server.ask("GET /timeseries"))), ["other"]);
    });
});

describe("listing time series", () => {
  it("filters by prefix, name, description, asset and subtree, ordered by name", async () => {
    const plant = await anAsset(`plant ${Date.now()}`);
    const pump = await anAsset("pump", plant);
    const boiler = await anAsset("boiler", plant);
    await create(
      { name: "p.2", assetId: pump, description: "Flow OUT" },
      { name: "p.1", assetId: pump, description: "in", unit: "bar" },
      { name: "b.1", assetId: boiler, description: "outer", isStep: true },
      { name: "P.1", description: "50 %_" },
    );
    const list = async (query: string) => namesOf(await ok(server.ask(`GET /timeseries?${query}`)));
    assert.deepEqual(await list(""), ["P.1", "b.1", "p.1", "p.2"]);
    assert.deepEqual(await list("q=p."), ["p.1", "p.2"]);
    assert.deepEqual(await list("name=p.1"), ["p.1"]);
    assert.deepEqual(await list("name=p."), []);
    assert.deepEqual(await list("description=out"), ["b.1", "p.2"]);
    assert.deepEqual(await list(`description=${encodeURIComponent("%_")}`), ["P.1"]);
    assert.deepEqual(await list(`assetId=${pump}`), ["p.1", "p.2"]);
    assert.deepEqual(await list(`path=[${plant}]`), ["b.1", "p.1", "p.2"]);
    assert.deepEqual(await list(`path=[${pump}, "${boiler}"]`), ["b.1", "p.1", "p.2"]);
    assert.deepEqual(await list(`path=${pump}&q=p.1`), ["p.1"]);
    assert.deepEqual(await list("path=[]&q=&unheardOf=1"), ["P.1", "b.1", "p.1", "p.2"]);
    assert.deepEqual(await list("path=[1]"), []);
    assert.deepEqual(await list("unit=bar"), ["p.1"]);
    assert.deepEqual(await list("isStep=true"), ["b.1"]);
    assert.deepEqual(await list(`path=${pump}&isStep=true`), []);
    assert.deepEqual(await list("isString=true"), []);
  });

  it("walks forward and back, and cursors serve their own query only", async () => {
    await create(...["e", "d", "c", "b", "a"].map((name) => ({ name })));
    const first = await ok(server.ask("GET /timeseries?limit=2"));
    assert.deepEqual([namesOf(first), first.previousCursor], [["a", "b"], undefined]);
    const second = await ok(server.ask(`GET /timeseries?limit=2&cursor=${first.nextCursor}`));
    assert.deepEqual(namesOf(second), ["c", "d"]);
    const third = await ok(server.ask.v06(`GET /timeseries?limit=2&cursor=${second.nextCursor}`));
    assert.deepEqual([namesOf(third), third.nextCursor], [["e"], undefined]);
    const back = await ok(server.ask(`GET /timeseries?limit=2&cursor=${third.previousCursor}`));
    assert.deepEqual(namesOf(back), ["c", "d"]);
    const start = await ok(server.ask(`GET /timeseries?limit=2&cursor=${back.previousCursor}`));
    assert.deepEqual([namesOf(start), start.previousCursor], [["a", "b"], undefined]);
    const none = await ok(server.ask("GET /timeseries?limit=0"));
    assert.deepEqual([none.items, none.nextCursor], [[], undefined]);
    assert.equal((await ok(server.ask("GET /timeseries?limit=999999"))).items.length, 5);
    const filtered = await ok(server.ask(`GET /timeseries?q=d&cursor=${first.nextCursor}`));
    assert.deepEqual(namesOf(filtered), ["d"], "a cursor of the whole list serves its filters too");
    await create({ name: "aa" });
    const { nextCursor } = await ok(server.ask("GET /timeseries?q=a&limit=1"));
    for (const path of ["timeseries?", "timeseries?q=b&", "assets?", "timeseries?assetId=1&"])
      assert.equal((await server.ask(`GET /${path}cursor=${nextCursor}`)).status, 400);
  });
});

describe("reading and searching time series", () => {
  it("by ids in the requested order, with metadata by default", async () => {
    const [a, b] = await create({ name: "a", metadata: { k: "v" } }, { name: "b" });
    const both = await ok(server.ask("POST /timeseries/byids", { items: [b, a] }));
    assert.deepEqual(namesOf(both), ["b", "a"]);
    assert.deepEqual(both.items[1]!["metadata"], { k: "v" });
    const bare = await ok(server.ask.v06("POST /timeseries/byids?includeMetadata=false", { items: [a] }));
    assert.equal("metadata" in bare.items[0]!, false);
  });

  it("searches all fields of strings and applies all other conditions", async () => {
    const plant = await anAsset(`plant ${Date.now()}`);
    const pump = await anAsset("pump", plant);
    await create(
      { name: "pump speed", unit: "rpm", assetId: pump, metadata: { a: "1", b: "2" } },
      { name: "motor", description: "of the Pump", unit: "A", isStep: true, metadata: { a: "1" } },
      { name: "state", isString: true, assetId: plant },
    );
    const search = async (query: string) => namesOf(await ok(server.ask(`GET /timeseries/search?${query}`)));
    assert.deepEqual(await search("query=PUM"), ["pump speed", "motor"]);
    assert.deepEqual(await search("query=pum&boostName=true&limit=1&offset=1"), ["motor"]);
    assert.deepEqual(await search("query=ump"), []);
    assert.deepEqual(await search("name=pump"), ["pump speed"]);
    assert.deepEqual(await search("description=pump"), ["motor"]);
    assert.deepEqual(await search("unit=rpm"), ["pump speed"]);
    assert.deepEqual(await search("isString=True"), ["state"]);
    assert.deepEqual(await search("isStep=true"), ["motor"]);
    assert.deepEqual(await search(`metadata=${encodeURIComponent('{"a":"1","b":"2"}')}`), ["pump speed"]);
    assert.deepEqual(await search("metadata=null&name=motor"), ["motor"]);
    assert.deepEqual(await search("metadata=nonsense"), []);
    assert.deepEqual(await search(`assetIds=[${pump}]`), ["pump speed"]);
    assert.deepEqual(await search(`assetSubtrees=${plant}&assetSubtrees=${pump}`), ["pump speed", "state"]);
    assert.deepEqual(await search("minCreatedTime=1&maxCreatedTime=2"), []);
    assert.deepEqual(
      await search("minLastUpdatedTime=1&sort=createdTime&dir=desc&limit=3&query=pump").then((l) => l.length),
      2,
    );
    assert.deepEqual(await search("limit=5000&offset=1000"), []);
    assert.equal((await search("")).length, 3);
  });
});

describe("changing time series", () => {
  it("sets and clears by a change object, one or many, POST or PATCH", async () => {
    const [a, b] = await create(
      { name: "a", unit: "m", description: "d", metadata: { k: "v" }, securityCategories: [1, 2] },
      { name: "b" },
    );
    const change = async (how: string, body: object) => (await ok(server.ask(how, body))).items;
    const one = await change(`POST /timeseries/${a}/update`, {
      id: a,
      name: { set: "c" },
      unit: { set: "km", setNull: false },
      description: { set: null, setNull: true },
      metadata: { setNull: true },
      isString: { set: true },
      isStep: { set: true },
    });
    assert.deepEqual(
      { ...one[0], createdTime: 0, lastUpdatedTime: 0 },
      {
        id: a,
        name: "c",
        isString: false,
        isStep: false,
        unit: "km",
        securityCategories: [1, 2],
        createdTime: 0,
        lastUpdatedTime: 0,
      },
    );
    const categories = async (sent: object | null) =>
      (await change(`PATCH /timeseries/${a}`, { securityCategories: sent }))[0]!["securityCategories"];
    assert.deepEqual(await categories({ add: [3, 1], remove: [2] }), [1, 3]);
    assert.deepEqual(await categories(null), [1, 3]);
    assert.deepEqual(await categories({}), [1, 3]);
    assert.deepEqual(await categories({ add: null, remove: null, set: null }), [1, 3]);
    assert.deepEqual(await categories({ set: [9] }), [9]);
    assert.equal(await categories({ set: null }), undefined);
    const many = await change("POST /timeseries/update", {
      items: [
        { id: b, unit: { set: "kg" } },
        { id: a, unit: { setNull: true }, name: null },
      ],
    });
    assert.deepEqual(
      many.map((item) => [item["name"], item["unit"]]),
      [
        ["b", "kg"],
        ["c", undefined],
      ],
    );
  });

  it("a change that says nothing new leaves lastUpdatedTime, another moves it", async () => {
    const [a] = await create({ name: "a", unit: "m" });
    const [start] = await snapshot();
    const update = (unit: string) => server.ask(`POST /timeseries/${a}/update`, { unit: { set: unit } });
    await ok(update("m"));
    assert.deepEqual(await snapshot(), [start]);
    while (Date.now() <= (start!["createdTime"] as number)) await new Promise((done) => setTimeout(done, 1));
    await ok(update("km"));
    const [changed] = await snapshot();
    assert.ok((changed!["lastUpdatedTime"] as number) > (start!["lastUpdatedTime"] as number));
    assert.equal(changed!["createdTime"], start!["createdTime"]);
  });

  it("0.4 changes by ids too, and calls the name tagId", async () => {
    const [a] = await create({ name: "a", unit: "m" });
    const one = { tagId: { set: "b" }, unit: { setNull: true } };
    const shown = { tagId: "b", id: a, isString: false, isStep: false };
    assert.deepEqual((await ok(server.ask.v04(`POST /timeseries/${a}/update`, one))).items, [shown]);
    const many = await ok(
      server.ask.v04("POST /timeseries/update", { items: [{ id: a, unit: { set: "C" } }] }),
    );
    assert.deepEqual(many.items, [{ ...shown, unit: "C" }]);
    assert.equal((await ok(server.ask.v04(`PATCH /timeseries/${a}`, {}))).items[0]!["unit"], "C");
  });

  it("PUT by name changes what it holds and leaves the rest", async () => {
    await create({ name: "a", unit: "m", description: "d", metadata: { k: "v" } }, { name: "b" });
    const items = [
      { name: "a", unit: "km", description: null, isString: true, metadata: null, id: null },
      { name: "b", metadata: { x: "y" }, securityCategories: [1] },
    ];
    assert.deepEqual((await ok(server.ask("PUT /timeseries", { items }))).json, {});
    await ok(server.ask.v04("PUT /timeseries", { items: [{ tagId: "b", description: "from 0.4" }] }));
    const [a, b] = (await snapshot()) as [Record<string, unknown>, Record<string, unknown>];
    assert.deepEqual(
      [a["unit"], a["description"], a["isString"], a["metadata"]],
      ["km", "d", false, { k: "v" }],
    );
    assert.deepEqual(
      [b["description"], b["metadata"], b["securityCategories"]],
      ["from 0.4", { x: "y" }, [1]],
    );
  });
});

describe("deleting time series", () => {
  it("by ids, in every version, and by name; ids are not used again", async () => {
    const [a, b] = await create({ name: "a" }, { name: "b" }, { name: "c" });
    assert.deepEqual((await ok(server.ask.v06("POST /timeseries/delete", { items: [a, b] }))).json, {});
    assert.equal((await server.ask(`GET /timeseries/${a}`)).status, 404);
    assert.deepEqual((await ok(server.ask.v04("DELETE /timeseries/c"))).json, {});
    assert.deepEqual(await snapshot(), []);
    const [again] = await create({ name: "a" });
    assert.ok(again! > b!);
  });

  it("a start finishes what an earlier process has left", async () => {
    const { catalog } = server.app.services;
    const [projectId] = await projectIds({ catalog });
    await catalog.write(projectId!, (tx) => tx.insert(pendingDeletionTable, [{ id: 5 }]));
    await server.restart();
    const left = await server.app.services.catalog.read(projectId!, (tx) =>
      tx.count(pendingDeletionTable, everything),
    );
    assert.equal(left, 0);
  });
});

interface Expected {
  readonly status?: number;
  /** Members of `error` besides code and message. */
  readonly members?: object;
  readonly version?: "v04" | "v05" | "v06";
}
type Refusal = readonly [ask: string, body: unknown, message: string, expected?: Expected];

const items = (...all: unknown[]) => ({ items: all });
const missing = (...fields: string[]) => ({ members: { missingFields: fields } });
const notFound = (...keys: unknown[]) => ({ members: { notFound: keys } });
const unknown = (...keys: unknown[]) => ({ status: 404, ...notFound(...keys) });
const tooMany = Array.from({ length: 10_001 }, (_, i) => i + 1);
const invalid = (field: string, expected: string, got: unknown) =>
  `Invalid field - ${field} - expected ${expected} but got ${got}`;
const isSmall = invalid("series", "an integer of at least 1", "x");
const isEmpty = invalid("items", "at least 1 items", 0);

/** In all of these `"{a}"` and `{b}` stand for the ids of two series with these names. */
const refusedCreates: readonly Refusal[] = [
  [
    "POST /timeseries",
    items({ name: "c" }, { name: "b" }, { name: "a" }, { name: "b" }),
    "Some metrics already exist: b,a",
  ],
  ["POST /timeseries", items({ name: "c" }, { name: "c" }), "Some metrics already exist: c"],
  ["POST /timeseries", items({ tagId: "a" }), "Some metrics already exist: a", { version: "v04" }],
  ["POST /timeseries", items(), isEmpty],
  ["POST /timeseries", items(), isEmpty, { version: "v06" }],
  ["POST /timeseries", {}, "Missing required field - items", missing("items")],
  ["POST /timeseries", [], invalid("body", "an object", "array")],
  ["POST /timeseries", { items: {} }, invalid("items", "array", "object")],
  ["POST /timeseries", items(5), invalid("items[0]", "an object", "number")],
  [
    "POST /timeseries",
    items({ name: "c" }, {}),
    "Missing required field - items[1].name",
    missing("items[1].name"),
  ],
  [
    "POST /timeseries",
    items({ name: "c" }),
    "Missing required field - items[0].tagId",
    { version: "v04", ...missing("items[0].tagId") },
  ],
  [
    "POST /timeseries",
    items({ name: null }),
    "Missing required field - items[0].name",
    missing("items[0].name"),
  ],
  ["POST /timeseries", items({ name: "" }), invalid("items[0].name", "at least 1 characters", 0)],
  ["POST /timeseries", items({ name: 5 }), invalid("items[0].name", "string", "number")],
  [
    "POST /timeseries",
    items({ name: "x".repeat(256) }),
    invalid("items[0].name", "at most 255 characters", 256),
  ],
  [
    "POST /timeseries",
    items({ name: "\ud800" }),
    invalid("items[0].name", "text without U+0000 and halves of characters", '"\\ud800"'),
  ],
  [
    "POST /timeseries",
    items({ name: "\u0000" }),
    invalid("items[0].name", "text without U+0000 and halves of characters", '"\\u0000"'),
  ],
  ["POST /timeseries", items({ name: "c" }, { name: "d", id: 5 }), invalid("items[1].id", "no id", 5)],
  [
    "POST /timeseries",
    items({ name: "c" }, { name: "d", assetId: 12345 }),
    invalid("items[1].assetId", "the id of an existing asset", 12345),
  ],
  ["POST /timeseries", items({ name: "c", assetId: "1" }), invalid("items[0].assetId", "integer", "string")],
  ["POST /timeseries", items({ name: "c", isStep: 1 }), invalid("items[0].isStep", "boolean", "number")],
  ["POST /timeseries", items({ name: "c", unit: {} }), invalid("items[0].unit", "string", "object")],
  [
    "POST /timeseries",
    items({ name: "c", metadata: { k: {} } }),
    invalid("items[0].metadata.k", "string", "object"),
  ],
  [
    "POST /timeseries",
    items({ name: "c", metadata: { ["k".repeat(129)]: "" } }),
    invalid(`items[0].metadata.${"k".repeat(129)}`, "at most 128 characters", 129),
  ],
  [
    "POST /timeseries",
    items({ name: "c", metadata: Object.fromEntries(tooMany.slice(0, 257).map((key) => [key, ""])) }),
    invalid("items[0].metadata", "at most 256 members", 257),
  ],
  [
    "POST /timeseries",
    items({ name: "c", securityCategories: [1.5] }),
    invalid("items[0].securityCategories[0]", "integer", 1.5),
  ],
  [
    "POST /timeseries",
    items({ name: "c" }, { name: "d", securityCategories: [4] }),
    invalid("securityCategories", "ids of security categories that you are a member of", 4),
  ],
  [
    "POST /timeseries",
    items(...tooMany.map((i) => ({ name: `s${i}` }))),
    "items may hold at most 10000 items but holds 10001",
  ],
];

const cursorOfThis = "Invalid field - cursor - expected a cursor returned by this same query";
const refusedReads: readonly Refusal[] = [
  ["GET /timeseries?limit=-1", undefined, invalid("limit", "an integer of at least 0", -1)],
  ["GET /timeseries?limit=ten", undefined, invalid("limit", "an integer of at least 0", "ten")],
  ["GET /timeseries?cursor=forged", undefined, cursorOfThis],
  ["GET /timeseries?assetId=x", undefined, invalid("assetId", "an integer", "x")],
  ["GET /timeseries?path=[x]", undefined, invalid("path", "ids such as [123,456]", "[x]")],
  ["GET /timeseries?includeMetadata=1", undefined, invalid("includeMetadata", "true or false", 1)],
  ["GET /timeseries/5", undefined, "No such time series: 5", unknown(5)],
  ["GET /timeseries/x", undefined, isSmall],
  ["POST /timeseries/byids", items("{a}", 5, 6), "No such time series: 5, 6", notFound(5, 6)],
  [
    "POST /timeseries/byids",
    items("{a}", "{b}", "{a}"),
    "Time series named more than once: {a}",
    notFound("{a}"),
  ],
  ["POST /timeseries/byids", items("a"), invalid("items[0]", "integer or an object", '"a"')],
  [
    "POST /timeseries/byids",
    items({ id: 1, externalId: "a" }),
    invalid("items[0].externalId", "none beside an id", "a"),
  ],
  ["POST /timeseries/byids", items(...tooMany), "items may hold at most 10000 items but holds 10001"],
  [
    "GET /timeseries/search?sort=name",
    undefined,
    invalid("sort", "one of createdTime, lastUpdatedTime", "name"),
  ],
  ["GET /timeseries/search?dir=up", undefined, invalid("dir", "one of asc, desc", "up")],
  ["GET /timeseries/search?offset=1001", undefined, invalid("offset", "an integer from 0 to 1000", 1001)],
  ["GET /timeseries/search?isStep=x", undefined, invalid("isStep", "true or false", "x")],
];

const taken = "Some metrics already exist";
const refusedChanges: readonly Refusal[] = [
  ["POST /timeseries/5/update", { unit: { set: "x" } }, "No such time series: 5", unknown(5)],
  ["PATCH /timeseries/5", {}, "No such time series: 5", unknown(5)],
  ["PATCH /timeseries/x", {}, isSmall],
  ["PATCH /timeseries/{a}", { unit: 5 }, invalid("unit.set", "string or null", 5)],
  ["PATCH /timeseries/{a}", { unit: { set: 5 } }, invalid("unit.set", "string or null", 5)],
  ["PATCH /timeseries/{a}", { name: { setNull: true } }, invalid("name.setNull", "false", true)],
  ["PATCH /timeseries/{a}", { name: { set: "" } }, invalid("name.set", "at least 1 characters", 0)],
  ["PATCH /timeseries/{a}", { name: { set: "b" } }, `${taken}: b`],
  ["PATCH /timeseries/{a}", { metadata: { set: { k: [] } } }, invalid("metadata.set.k", "string", "array")],
  [
    "PATCH /timeseries/{a}",
    { assetId: { set: 12345 } },
    invalid("assetId", "the id of an existing asset", 12345),
  ],
  [
    "PATCH /timeseries/{a}",
    { securityCategories: { add: [2, 4] } },
    invalid("securityCategories", "ids of security categories that you are a member of", 4),
  ],
  [
    "PATCH /timeseries/{a}",
    { securityCategories: { add: tooMany.slice(1, 1001) } },
    "securityCategories may hold at most 1000 items but holds 1001",
  ],
  [
    "POST /timeseries/update",
    items({ id: "{a}", unit: { set: "x" } }, { id: 5 }, { id: 6 }),
    "No such time series: 5, 6",
    notFound(5, 6),
  ],
  [
    "POST /timeseries/update",
    items({ id: "{a}", unit: { set: "x" } }, { id: "{a}" }),
    "Time series named more than once: {a}",
    notFound("{a}"),
  ],
  [
    "POST /timeseries/update",
    items({ id: "{a}", unit: { set: "x" } }, { id: "{b}", assetId: { set: 5 } }),
    invalid("items[1].assetId", "the id of an existing asset", 5),
  ],
  [
    "POST /timeseries/update",
    items({ id: "{a}", name: { set: "c" } }, { id: "{b}", name: { set: "c" } }),
    `${taken}: c`,
  ],
  [
    "POST /timeseries/update",
    items({ id: "{a}", name: { set: "b" } }, { id: "{b}", name: { set: "a" } }),
    `${taken}: b,a`,
  ],
  ["POST /timeseries/update", items({}), "Missing required field - items[0].id", missing("items[0].id")],
  [
    "PUT /timeseries",
    items({ name: "a", unit: "x" }, { name: "x" }, { name: "y" }),
    "No such time series: x, y",
    unknown("x", "y"),
  ],
  [
    "PUT /timeseries",
    items({ tagId: "a", unit: "x" }, { tagId: "x" }),
    "No such time series: x",
    { version: "v04", ...unknown("x") },
  ],
  [
    "PUT /timeseries",
    items({ name: "a", unit: "x" }, { name: "a" }),
    "Time series named more than once: a",
    notFound("a"),
  ],
  ["PUT /timeseries", items(), isEmpty],
  ["PUT /timeseries", items({ name: "a", unit: 5 }), invalid("items[0].unit", "string", "number")],
  [
    "PUT /timeseries",
    items({ name: "a", unit: "x" }),
    "PUT is not supported by /api/0.6/projects/demo/timeseries; use GET, HEAD, POST",
    { version: "v06", status: 405 },
  ],
];

const refusedDeletes: readonly Refusal[] = [
  ["DELETE /timeseries/x", undefined, "No such time series: x", unknown("x")],
  ["DELETE /timeseries/A", undefined, "No such time series: A", unknown("A")],
  ["POST /timeseries/delete", items("{a}", 5), "No such time series: 5", { version: "v06", ...unknown(5) }],
  [
    "POST /timeseries/delete",
    items("{a}", "{a}"),
    "Time series named more than once: {a}",
    { version: "v06", ...notFound("{a}") },
  ],
  ["POST /timeseries/delete", items(), isEmpty],
  ["POST /timeseries/delete", items("a"), invalid("items[0]", "integer", "string")],
];

describe("refused with nothing changed", () => {
  const all = [...refusedCreates, ...refusedReads, ...refusedChanges, ...refusedDeletes];
  for (const [ask, body, message, { status = 400, members = {}, version = "v05" } = {}] of all)
    it(`${version} ${ask} ${JSON.stringify(body ?? "").slice(0, 60)}: ${message.slice(0, 60)}`, async () => {
      const [a, b] = await create({ name: "a", unit: "m", securityCategories: [1] }, { name: "b" });
      const before = await snapshot();
      const filled = (text: string) =>
        text.replaceAll(/"?\{([ab])\}"?/g, (_, name: string) => `${name === "a" ? a : b}`);
      const sent = body === undefined ? undefined : JSON.parse(filled(JSON.stringify(body)));
      const response = await server.ask[version](filled(ask), sent);
      const error = {
        code: status,
        message: filled(message),
        ...JSON.parse(filled(JSON.stringify(members))),
      };
      assert.deepEqual([response.status, response.error], [status, error]);
      assert.deepEqual(await snapshot(), before);
    });
});
