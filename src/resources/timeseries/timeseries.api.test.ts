// Time series through the front door, as clients of 0.4, 0.5 and 0.6 ask for them.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { type Answer, idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());
beforeEach(async () => {
  const held = await server.ask("GET /timeseries?limit=10000");
  if (held.items.length > 0) await ok(server.ask.v06("POST /timeseries/delete", { items: idsOf(held) }));
});

async function ok(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

const namesOf = (answer: Answer) => answer.items.map((item) => item["name"]);
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

  it("0.4 names them by tagId and answers an empty object", async () => {
    const answer = await ok(server.ask.v04("POST /timeseries", { items: [{ ...full, tagId: "a" }] }));
    assert.deepEqual(answer.json, {});
    const { items } = await ok(server.ask.v04("GET /timeseries?includeMetadata=True"));
    const [{ id, ...shown }] = items as [(typeof items)[number]];
    const { securityCategories: _, ...known } = full;
    assert.deepEqual(shown, { tagId: "a", ...known });
    assert.ok(Number.isSafeInteger(id));
  });

  it("0.5 answers an empty object, 0.6 what it has created", async () => {
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
        metadata: {},
        createdTime,
        lastUpdatedTime,
      },
    );
    const { metadata: _, ...withoutMetadata } = b;
    assert.deepEqual((await ok(server.ask(`GET /timeseries/${id}`))).items, [withoutMetadata]);
    assert.deepEqual((await ok(server.ask(`GET /timeseries/${id}?includeMetadata=true`))).items, [b]);
  });

  it("nulls count as absent, wrong names of members are ignored (C26)", async () => {
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
    assert.deepEqual(rest, { name: "a", isString: false, isStep: false, metadata: {} });
    assert.ok(Number(createdTime) > 1 && Number(lastUpdatedTime) > 1 && id);
  });

  const oddNames = [
    "a/b",
    "100 %",
    "a+b",
    "a%2Fb",
    " ",
    "..",
    "ø 温度 😀",
    "data",
    "byids",
    "?#&=",
    "é".repeat(255),
  ];
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
});

describe("listing time series", () => {
  it("filters by prefix, name, description, asset and subtree, ordered by name", async () => {
    const plant = await anAsset(`plant ${Date.now()}`);
    const pump = await anAsset("pump", plant);
    const boiler = await anAsset("boiler", plant);
    await create(
      { name: "p.2", assetId: pump, description: "Flow OUT" },
      { name: "p.1", assetId: pump, description: "in" },
      { name: "b.1", assetId: boiler, description: "outer" },
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
    for (const path of ["timeseries?q=a&", "assets?", "timeseries?assetId=1&"])
      assert.equal((await server.ask(`GET /${path}cursor=${first.nextCursor}`)).status, 400);
  });
});

describe("reading and searching time series", () => {
  it("by ids in the order asked, with metadata unless told otherwise", async () => {
    const [a, b] = await create({ name: "a", metadata: { k: "v" } }, { name: "b" });
    const both = await ok(server.ask("POST /timeseries/byids", { items: [b, a] }));
    assert.deepEqual(namesOf(both), ["b", "a"]);
    assert.deepEqual(both.items[1]!["metadata"], { k: "v" });
    const bare = await ok(server.ask.v06("POST /timeseries/byids?includeMetadata=false", { items: [a] }));
    assert.equal("metadata" in bare.items[0]!, false);
  });

  it("searches texts and everything else there is", async () => {
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
        metadata: {},
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

  it("PUT by name changes what it holds and leaves the rest", async () => {
    await create({ name: "a", unit: "m", description: "d", metadata: { k: "v" } }, { name: "b" });
    const items = [
      { name: "a", unit: "km", description: null, isString: true, metadata: null, id: 5 },
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
});

interface Refusal {
  readonly ask: string;
  readonly body?: unknown;
  readonly status?: number;
  readonly message: string;
  /** Members of `error` besides code and message. */
  readonly members?: object;
  readonly version?: "v04" | "v05" | "v06";
}

/** `{a}` and `{b}` stand for the ids of two series with these names. */
const refusals: readonly Refusal[] = [
  {
    ask: "POST /timeseries",
    body: { items: [{ name: "c" }, { name: "b" }, { name: "a" }, { name: "b" }] },
    message: "Some metrics already exist: b,a",
  },
  {
    ask: "POST /timeseries",
    body: { items: [{ name: "c" }, { name: "c" }] },
    message: "Some metrics already exist: c",
  },
  {
    ask: "POST /timeseries",
    version: "v04",
    body: { items: [{ tagId: "a" }] },
    message: "Some metrics already exist: a",
  },
];

describe("refused with nothing changed", () => {
  for (const { ask, body, status = 400, message, members = {}, version = "v05" } of refusals)
    it(`${version} ${ask} ${JSON.stringify(body ?? "").slice(0, 60)}: ${message.slice(0, 60)}`, async () => {
      const ids = await create({ name: "a", unit: "m", securityCategories: [1] }, { name: "b" });
      const before = await snapshot();
      const filled = (text: string) =>
        text.replaceAll('"{a}"', "{a}").replaceAll("{a}", `${ids[0]}`).replaceAll('"{b}"', `${ids[1]}`);
      const sent = typeof body === "object" ? JSON.parse(filled(JSON.stringify(body))) : body;
      const answer = await server.ask[version](filled(ask), sent);
      const expected = {
        code: status,
        message: filled(message),
        ...JSON.parse(filled(JSON.stringify(members))),
      };
      assert.deepEqual([answer.status, answer.error], [status, expected]);
      assert.deepEqual(await snapshot(), before);
    });
});
