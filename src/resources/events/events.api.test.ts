// Events over the API, in every version: requests of clients and their responses.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  type AskFunction,
  idsOf,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";

let server: TestServer;
/** `plant > pump` and `boiler`. */
let plant: number;
let pump: number;
let boiler: number;

before(async () => {
  server = await startTestServer();
});
after(() => server.close());

beforeEach(async () => {
  const { ask } = server;
  const [events, assets] = [await ask("GET /events?limit=10000"), await ask("GET /assets?depth=0")];
  if (events.items.length > 0) await ok(ask("POST /events/delete", { items: idsOf(events) }));
  if (assets.items.length > 0) await ok(ask("POST /assets/delete", { items: idsOf(assets) }));
  const items = [{ name: "plant", refId: "r" }, { name: "pump", parentRefId: "r" }, { name: "boiler" }];
  [plant, pump, boiler] = idsOf(await ok(ask("POST /assets", { items }))) as [number, number, number];
});

async function ok(answering: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answering;
  assert.equal(response.status, 200, response.text);
  return response;
}

const versions = (): [string, AskFunction][] => [
  ["0.4", server.ask.v04],
  ["0.5", server.ask.v05],
  ["0.6", server.ask.v06],
];
const create = async (...items: object[]) => idsOf(await ok(server.ask("POST /events", { items })));
const one = async (id: number, ask: AskFunction = server.ask) =>
  (await ok(ask(`GET /events/${id}`))).items[0]!;
const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));

/** All pages from this path on, forwards. */
async function pagesOf(path: string, cursor?: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let next = cursor, isFirst = true; isFirst || next !== undefined; isFirst = false) {
    const sign = path.includes("?") ? "&" : "?";
    const response = await ok(server.ask(`GET ${path}${next ? `${sign}cursor=${next}` : ""}`));
    pages.push(idsOf(response));
    next = response.nextCursor;
  }
  return pages;
}

test("creation returns 200 in 0.4 and 0.5, 201 with Location in 0.6", async () => {
  for (const [version, ask] of versions()) {
    const response = await ask("POST /events", { items: [{ type: version }, {}] });
    assert.equal(response.status, version === "0.6" ? 201 : 200);
    const location = response.headers.get("location");
    assert.equal(location?.endsWith(`/events/${idsOf(response)[0]}`) ?? false, version === "0.6");
  }
});

test("one record: 0.4 shows the older members, newer versions theirs and older that are set", async () => {
  const shared = { startTime: 5, endTime: -7, description: "", type: "alarm", subtype: "high" };
  const reference = { eventTransformerId: 3, eventReferenceKey: "K-1" };
  const newer = { metadata: { a: "b", "": "ö\n" }, assetIds: [pump, boiler], source: "sap", sourceId: "1" };
  const [id, bare] = await create({ ...shared, ...newer, ...reference, color: "red", endTimes: null }, {});
  const older = { additionalData: newer.metadata, tagIds: newer.assetIds };
  assert.deepEqual(await one(id!, server.ask.v04), { id, ...shared, ...older, ...reference });
  for (const ask of [server.ask.v05, server.ask.v06]) {
    const { createdTime, lastUpdatedTime, ...rest } = await one(id!, ask);
    assert.deepEqual(rest, { id, ...shared, ...newer, ...reference });
    assert.ok(createdTime === lastUpdatedTime && (createdTime as number) > 0);
    const { createdTime: _, lastUpdatedTime: __, ...nothing } = await one(bare!, ask);
    assert.deepEqual(nothing, { id: bare, metadata: {}, assetIds: [] });
  }
  assert.deepEqual(await one(bare!, server.ask.v04), { id: bare, additionalData: {}, tagIds: [] });
});

test("both shapes are taken in every version, and an asset named twice counts once", async () => {
  for (const [, ask] of versions()) {
    const old = { tagIds: [pump, pump], additionalData: { a: "b" }, subType: "s" };
    const response = await ask("POST /events", {
      items: [old, { assetIds: [pump], metadata: { a: "b" }, subtype: "s" }],
    });
    const [first, second] = (await ok(server.ask("POST /events/byids", { items: idsOf(response) }))).items;
    assert.deepEqual({ ...first, id: 0 }, { ...second, id: 0 });
    assert.deepEqual([first!["assetIds"], first!["metadata"], first!["subtype"]], [[pump], { a: "b" }, "s"]);
  }
});

test("additionalData may hold any values: 0.4 shows them as they are, newer versions as JSON", async () => {
  const nested = { deep: { a: "b", none: null }, list: [{ none: null }] };
  const additionalData = { text: "1", number: 1, flag: false, none: null, list: [1, "x"], nested };
  const [id] = await create({ additionalData, type: null });
  const strings = {
    text: "1",
    number: "1",
    flag: "false",
    none: "null",
    list: '[1,"x"]',
    nested: JSON.stringify(nested),
  };
  assert.deepEqual((await one(id!, server.ask.v04))["additionalData"], additionalData);
  assert.deepEqual((await one(id!))["metadata"], strings);
  assert.deepEqual(idsOf(await ok(server.ask(`GET /events/search?metadata=${json({ number: "1" })}`))), [id]);
  await ok(server.ask.v06(`POST /events/${id}/update`, { type: { set: "x" } }));
  assert.deepEqual((await one(id!, server.ask.v04))["additionalData"], additionalData);
  const other = { list: [null], b: { c: null } };
  await ok(server.ask.v06(`POST /events/${id}/update`, { additionalData: { set: other, setNull: null } }));
  assert.deepEqual((await one(id!, server.ask.v04))["additionalData"], other);
  await ok(server.ask.v06(`POST /events/${id}/update`, { metadata: { set: { a: "b" } } }));
  assert.deepEqual((await one(id!, server.ask.v04))["additionalData"], { a: "b" });
});

test("null as the only change of a list clears it", async () => {
  const lists = { assetIds: [pump], tagIds: ["hot"] };
  const cleared = { assetIds: { set: null }, tagIds: { set: null } };
  const [first, second, third] = await create(lists, lists, lists);
  await ok(server.ask.v06(`POST /events/${first}/update`, cleared));
  await ok(server.ask.v06("POST /events/update", { items: [{ id: second, type: null, ...cleared }] }));
  await ok(server.ask.v06(`PATCH /events/${third}`, cleared));
  for (const id of [first, second, third]) {
    const event = await one(id!);
    assert.deepEqual([event["assetIds"], event["tagIds"]], [[], undefined]);
  }
  const nulls = { set: null, add: null, remove: null };
  const [kept] = await create(lists);
  await ok(server.ask.v06(`POST /events/${kept}/update`, { assetIds: nulls, tagIds: nulls, type: null }));
  assert.deepEqual((await one(kept!))["assetIds"], [pump], "nulls of every member have no meaning");
});

test("the list applies each filter and both directions, in every version", async () => {
  const ids = await create(
    { startTime: 30, type: "alarm", subtype: "high", assetIds: [pump], description: "Seal leaks" },
    { startTime: 10, type: "alarm", assetIds: [plant, boiler], source: "sap", description: "" },
    { startTime: 20, type: "trip", subtype: "high", assetIds: [boiler], description: "Pump trip" },
    { type: "alarm", source: "sap" },
  );
  const [a, b, c, d] = ids as [number, number, number, number];
  const cases: [query: string, expected: number[]][] = [
    ["", [b, c, a, d]],
    ["sort=ASC", [b, c, a, d]],
    ["sort=DESC", [a, c, b, d]],
    ["sort=desc&limit=2", [a, c]],
    ["type=alarm", [b, a, d]],
    ["type=Alarm", []],
    ["type=alarm&subtype=high", [a]],
    ["subtype=high", [c, a]],
    ["source=sap", [b, d]],
    ["hasDescription=true", [c, a]],
    ["hasDescription=True&sort=DESC", [a, c]],
    ["hasDescription=false", [b, d]],
    ["minStartTime=20", [c, a]],
    ["maxStartTime=20", [b, c]],
    ["minStartTime=20&maxStartTime=20&sort=DESC", [c]],
    ["minStartTime=31", []],
    ["maxStartTime=9007199254740991", [b, c, a]],
    ["minStartTime=-9007199254740991&sort=DESC", [a, c, b]],
    [`assetId=${pump}`, [a]],
    [`assetId=${plant}`, [b]],
    [`assetId=${boiler}&sort=DESC`, [c, b]],
    [`assetId=${pump}&type=&source=`, [a]],
    ["assetId=0", []],
    ["assetId=7", []],
    [`assetSubtrees=[${plant}]`, [b, a]],
    [`assetSubtrees=${pump}&assetSubtrees=${boiler}&type=alarm`, [b, a]],
    [`assetId=${boiler}&assetSubtrees=${plant}`, [b]],
    ["limit=0", []],
    ["limit=100000", [b, c, a, d]],
  ];
  for (const [, ask] of versions())
    for (const [query, expected] of cases)
      assert.deepEqual(idsOf(await ok(ask(`GET /events?${query}`))), expected, query);
});

test("a page is 25 events when nothing is said", async () => {
  const ids = await create(...Array.from({ length: 26 }, (_, startTime) => ({ startTime })));
  assert.deepEqual(await pagesOf("/events"), [ids.slice(0, 25), ids.slice(25)]);
});

test("cursors lead both ways, also among events without a start, and serve no other list", async () => {
  await create(
    ...[5, undefined, 5, 1, undefined, 9, undefined].map((startTime) => ({ startTime, type: "a" })),
  );
  for (const query of ["limit=2", "limit=2&sort=DESC", "limit=3&type=a"]) {
    const whole = idsOf(await ok(server.ask(`GET /events?${query}&limit=100`)));
    assert.deepEqual((await pagesOf(`/events?${query}`)).flat(), whole);
    const first = await ok(server.ask(`GET /events?${query}`));
    assert.equal(first.previousCursor, undefined);
    const second = await ok(server.ask(`GET /events?${query}&cursor=${first.nextCursor}`));
    const back = await ok(server.ask(`GET /events?${query}&cursor=${second.previousCursor}`));
    assert.deepEqual(back.items, first.items);
  }
  const { nextCursor } = await ok(server.ask("GET /events?limit=2"));
  assert.equal((await server.ask(`GET /events?sort=DESC&cursor=${nextCursor}`)).status, 400);
  assert.equal((await server.ask(`GET /assets?cursor=${nextCursor}`)).status, 400);
  const filtered = await ok(server.ask(`GET /events?type=a&minStartTime=6&cursor=${nextCursor}`));
  assert.equal(filtered.items[0]!["startTime"], 9, "a cursor of the whole list serves its filters too");
});

test("the cursors of a division read every event exactly once, with filters too", async () => {
  const ids = await create(
    ...Array.from({ length: 9 }, (_, at) => ({ startTime: at % 4, type: `${at % 2}` })),
  );
  const cursors = (await ok(server.ask.v06("GET /events/cursors?divisions=3&limit=2"))).items;
  assert.equal(cursors.length, 3);
  for (const [query, expected] of [
    ["limit=2", ids],
    ["type=1", ids.filter((_, at) => at % 2)],
  ] as const) {
    const read: number[] = [];
    for (const cursor of cursors as unknown as string[])
      read.push(...(await pagesOf(`/events?${query}`, cursor)).flat());
    assert.deepEqual(read.toSorted(), expected);
  }
});

test("byids accepts ids and objects with one, and returns events in the requested order", async () => {
  const [a, b, c] = await create({}, {}, {});
  for (const [, ask] of versions()) {
    const response = await ok(ask("POST /events/byids", { items: [{ id: c }, a, { id: b, more: 1 }] }));
    assert.deepEqual(idsOf(response), [c, a, b]);
  }
});

test("0.5 overwrites all its fields and returns {}; fields of 0.4 only stay unless sent", async () => {
  const before = {
    startTime: 1,
    type: "a",
    metadata: { a: "b" },
    assetIds: [pump],
    source: "s",
    sourceId: "1",
  };
  const [id] = await create({ ...before, eventTransformerId: 3, eventReferenceKey: "k" });
  const sent = {
    id,
    endTime: 9,
    metadata: null,
    assetIds: [boiler],
    createdTime: 1,
    sourceId: "2",
    eventReferenceKey: "l",
  };
  assert.deepEqual((await ok(server.ask.v05("POST /events/update", { items: [sent] }))).json, {});
  const { createdTime, lastUpdatedTime, ...rest } = await one(id!);
  const expected = { id, endTime: 9, metadata: {}, assetIds: [boiler], sourceId: "2" };
  assert.deepEqual(rest, { ...expected, eventTransformerId: 3, eventReferenceKey: "l" });
  assert.ok((lastUpdatedTime as number) >= (createdTime as number) && createdTime !== 1);
});

test("0.4 overwrites the members it has; the source, which it cannot see, stays", async () => {
  const [id] = await create({
    type: "a",
    assetIds: [pump],
    source: "s",
    sourceId: "1",
    eventReferenceKey: "k",
  });
  const items = [{ id, additionalData: { n: 1 }, tagIds: [boiler], description: "d" }];
  assert.deepEqual((await ok(server.ask.v04("POST /events/update", { items }))).json, {});
  const shown = { id, description: "d", additionalData: { n: 1 }, tagIds: [boiler] };
  assert.deepEqual(await one(id!, server.ask.v04), shown);
  const { source, sourceId } = await one(id!);
  assert.deepEqual([source, sourceId], ["s", "1"]);
});

test("0.6 sets and clears single members, in both spellings, and returns the events", async () => {
  const [a, b] = await create(
    { startTime: 1, type: "a", assetIds: [pump], source: "s" },
    { subtype: "x", endTime: 4 },
  );
  const items = [
    {
      id: b,
      startTime: { set: 5, setNull: false },
      endTime: { setNull: true },
      subType: { set: "y" },
      assetIds: { set: [pump, boiler], add: [plant], remove: [boiler] },
      metadata: { set: { set: "1" } },
      source: { set: "t" },
    },
    { id: a, type: { set: null, setNull: true }, assetIds: { add: [boiler, pump] }, description: null },
  ];
  const changed = (await ok(server.ask.v06("POST /events/update", { items }))).items;
  const times = changed.map(({ createdTime, lastUpdatedTime }) => ({ createdTime, lastUpdatedTime }));
  assert.deepEqual(changed, [
    {
      id: b,
      startTime: 5,
      subtype: "y",
      assetIds: [pump, plant],
      metadata: { set: "1" },
      source: "t",
      ...times[0],
    },
    { id: a, startTime: 1, assetIds: [pump, boiler], metadata: {}, source: "s", ...times[1] },
  ]);
  const again = [
    { id: b, subtype: { set: "z" }, assetIds: { setNull: true }, eventReferenceKey: { set: "k" } },
  ];
  const [after] = (await ok(server.ask.v06("POST /events/update", { items: again }))).items;
  assert.deepEqual([after!["subtype"], after!["assetIds"], after!["eventReferenceKey"]], ["z", [], "k"]);
});

test("a single event is changed by POST and by PATCH, which takes plain values as well", async () => {
  const [id] = await create({ startTime: 1 });
  for (const [, ask] of versions()) {
    const { items } = await ok(
      ask(`POST /events/${id}/update`, { id, type: { set: "a" }, startTime: { set: 2 } }),
    );
    assert.deepEqual([items[0]!["type"], items[0]!["startTime"]], ["a", 2]);
    const plain = { startTime: 3, type: { setNull: true }, tagIds: [pump], metadata: { set: "x", k: "v" } };
    const [patched] = (await ok(ask(`PATCH /events/${id}`, plain))).items;
    assert.deepEqual([patched!["startTime"], patched!["type"]], [3, undefined]);
    const { assetIds, metadata } = await one(id!);
    assert.deepEqual([assetIds, metadata], [[pump], { set: "x", k: "v" }]);
    const changes = { metadata: { setNull: true }, assetIds: { remove: [pump] } };
    await ok(ask(`PATCH /events/${id}`, changes));
    assert.deepEqual((await one(id!))["metadata"], {});
    assert.deepEqual((await one(id!))["assetIds"], []);
    await ok(ask(`PATCH /events/${id}`, { additionalData: { set: { n: 1 } } }));
    assert.deepEqual((await one(id!, server.ask.v04))["additionalData"], { n: 1 });
    await ok(ask(`PATCH /events/${id}`, { additionalData: { n: { m: 2 } } }));
    assert.deepEqual((await one(id!, server.ask.v04))["additionalData"], { n: { m: 2 } });
  }
});

test("PATCH tells pairs with the name of a change from a change of pairs", async () => {
  const [id] = await create({ additionalData: { a: "b" } });
  const patched = async (additionalData: object) => {
    await ok(server.ask.v06(`PATCH /events/${id}`, { additionalData }));
    return (await one(id!, server.ask.v04))["additionalData"];
  };
  assert.deepEqual(await patched({ set: 5 }), { set: 5 });
  assert.deepEqual(await patched({ set: "x", setNull: true }), { set: "x", setNull: true });
  assert.deepEqual(await patched({ set: { n: null }, setNull: null }), { n: null });
  assert.deepEqual(await patched({}), {});
});

test("the search applies every parameter, and sorts by each time with events that lack it last", async () => {
  const items = [
    { startTime: 10, endTime: 40, type: "alarm", subtype: "x", description: "Seal of the pump leaks" },
    { startTime: 30, type: "alarm", description: "Pump", metadata: { k: "v" }, assetIds: [pump] },
    { endTime: 20, type: "trip", assetIds: [boiler, plant] },
  ];
  const [a, b, c] = (await create(...items)) as [number, number, number];
  const created = (await one(a))["createdTime"] as number;
  const cases: [query: string, expected: number[]][] = [
    ["", [a, b, c]],
    ["description=pump", [b, a]],
    ["description=PUM%20lea", [a]],
    ["type=alarm", [a, b]],
    ["type=alarm&subtype=x", [a]],
    ["minStartTime=10&maxStartTime=10", [a]],
    ["maxStartTime=30&minEndTime=20", [a]],
    ["minEndTime=20&maxEndTime=40", [a, c]],
    ["hasEndTime=true", [a, c]],
    ["hasEndTime=false", [b]],
    ["hasEndTime=false&maxStartTime=29", []],
    [`minCreatedTime=${created}`, [a, b, c]],
    [`maxCreatedTime=${created - 1}`, []],
    [`minLastUpdatedTime=${created}&maxLastUpdatedTime=${created}`, [a, b, c]],
    [`metadata=${json({ k: "v" })}`, [b]],
    ["metadata=null", [a, b, c]],
    ["metadata=%7Bnonsense", []],
    ["assetIds=[]", [a, b, c]],
    [`assetIds=[${pump}, ${boiler}]`, [b, c]],
    [`assetIds=${plant}`, [c]],
    [`assetSubtrees=[${plant}]`, [b, c]],
    [`assetSubtrees=${pump}&assetSubtrees=${boiler}`, [b, c]],
    ["sort=startTime&dir=asc", [a, b, c]],
    ["sort=startTime&dir=desc", [b, a, c]],
    ["sort=startTime", [b, a, c]],
    ["sort=endTime&dir=asc", [c, a, b]],
    ["sort=endTime&dir=desc", [a, c, b]],
    ["sort=createdTime&dir=asc", [a, b, c]],
    ["sort=lastUpdatedTime&dir=desc", [a, b, c]],
    ["limit=1&offset=1", [b]],
    ["limit=0", []],
    ["limit=5000&offset=1000", []],
  ];
  for (const [, ask] of versions())
    for (const [query, expected] of cases) {
      const response = await ok(ask(`GET /events/search?${query}`));
      assert.deepEqual([idsOf(response), response.nextCursor], [expected, undefined], query);
    }
});

test("byreference returns events in the order of the keys, and omits missing ones", async () => {
  const of = (eventTransformerId: number, eventReferenceKey: string, startTime: number) => ({
    ...{ eventTransformerId, eventReferenceKey, startTime },
  });
  const [a, b, c] = await create(of(3, "k", 5), of(3, "l", 1), of(3, "k", 2), of(4, "k", 1));
  for (const [, ask] of versions()) {
    const eventReferenceKeys = ["l", "none", "k", "l"];
    const response = await ok(ask("POST /events/byreference", { transformerId: 3, eventReferenceKeys }));
    assert.deepEqual(idsOf(response), [b, c, a]);
    const none = await ok(ask("POST /events/byreference", { transformerId: 9, eventReferenceKeys: ["k"] }));
    assert.deepEqual(none.json, { data: { items: [] } });
  }
});

test("a deleted event is gone at once; a deleted asset leaves its events without the link", async () => {
  const [a, b] = await create({ assetIds: [pump, boiler] }, { assetIds: [plant] });
  await ok(server.ask("POST /assets/delete", { items: [plant] }));
  assert.deepEqual([(await one(a!))["assetIds"], (await one(b!))["assetIds"]], [[boiler], []]);
  assert.deepEqual(idsOf(await ok(server.ask(`GET /events?assetId=${pump}`))), []);
  assert.deepEqual((await ok(server.ask("POST /events/delete", { items: [{ id: b }] }))).json, {});
  assert.deepEqual(idsOf(await ok(server.ask("GET /events"))), [a]);
  assert.equal((await server.ask(`GET /events/${b}`)).status, 404);
});

test("many clients create one event at once: one succeeds, the others are told its id", async () => {
  const item = { source: "s", sourceId: "1" };
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      server.ask.v06("POST /events", { items: [{ startTime: at }, item] }),
    ),
  );
  const [made, ...others] = responses.filter(({ status }) => status === 201);
  assert.equal(others.length, 0);
  const duplicates = [{ id: idsOf(made!)[1], ...item }];
  for (const { status, error } of responses.filter((response) => response !== made))
    assert.deepEqual([status, error?.["duplicates"]], [409, duplicates]);
  assert.deepEqual(idsOf(await ok(server.ask("GET /events"))).toSorted(), idsOf(made!));
});

test("events, transformers and semantic types are there after a restart, in the same words", async () => {
  await create({ startTime: 1, additionalData: { n: 1 }, assetIds: [pump], description: "Pumpe läuft" }, {});
  await ok(server.ask("POST /eventtransformers", { items: [{ name: "t" }] }));
  const paths = [
    "/events",
    "/events/search?description=läuft",
    `/events?assetId=${pump}`,
    "/eventtransformers",
  ];
  const read = () => Promise.all(paths.map(async (path) => (await ok(server.ask.v04(`GET ${path}`))).text));
  const eventsBefore = await read();
  await server.restart();
  assert.deepEqual(await read(), eventsBefore);
});

test("event transformers and semantic types are created, listed and deleted", async () => {
  for (const path of ["/eventtransformers", "/semantictypes"])
    for (const [, ask] of versions()) {
      const old = idsOf(await ok(ask(`GET ${path}`)));
      if (old.length > 0) await ok(ask(`POST ${path}/delete`, { items: old }));
      const items = [
        { name: "b", description: "what it does", more: 1 },
        { name: "a", description: null },
        { name: "a" },
      ];
      const made = await ok(ask(`POST ${path}`, { items }));
      const [b, a, again] = idsOf(made);
      assert.deepEqual(made.items, [
        { id: b, name: "b", description: "what it does" },
        { id: a, name: "a" },
        { id: again, name: "a" },
      ]);
      assert.deepEqual((await ok(ask(`GET ${path}`))).json, made.json);
      const first = await ok(ask(`GET ${path}?limit=2`));
      assert.deepEqual(idsOf(await ok(ask(`GET ${path}?cursor=${first.nextCursor}`))), [again]);
      assert.deepEqual((await ok(ask(`POST ${path}/delete`, { items: [b, again] }))).json, {});
      assert.deepEqual(idsOf(await ok(ask(`GET ${path}`))), [a]);
    }
});
