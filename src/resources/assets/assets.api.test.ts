// Assets over the API, in every version: requests of clients, responses and refusals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type AskFunction,
  type Item,
  idsOf,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import type { ApiVersion } from "../../rest/route.ts";
import { ensureProject } from "../projects/projects.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Asks extends AskFunction {
  readonly v04: AskFunction;
  readonly v05: AskFunction;
  readonly v06: AskFunction;
}

/** A scenario in its own project, in version 0.5 unless it names another. */
const scenario = (name: string, run: (ask: Asks) => Promise<void>) =>
  test(name, async () => run(await newProject(`project-${++projectCount}`)));
let projectCount = 0;

async function newProject(name: string): Promise<Asks> {
  const { services } = server.app;
  const { project } = await ensureProject(services, name);
  const { key } = await services.keys.create(project, "test");
  const below =
    (version: ApiVersion): AskFunction =>
    (methodAndPath, body, headers) => {
      const inProject = methodAndPath.replace(" ", ` /api/${version}/projects/${name}`);
      return server.ask.root(inProject, body, { "api-key": key, ...headers });
    };
  return Object.assign(below("0.5"), { v04: below("0.4"), v05: below("0.5"), v06: below("0.6") });
}

const namesOf = (response: TestResponse) => response.items.map((item) => item["name"]);
const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));

/** `plant > pump > motor`, `plant > boiler`; ids by name. */
async function plant(ask: Asks): Promise<Record<"plant" | "pump" | "motor" | "boiler", number>> {
  const { items } = await ask("POST /assets", {
    items: [
      { name: "plant", refId: "r" },
      {
        name: "pump",
        parentRefId: "r",
        refId: "p",
        description: "Feed water pump",
        source: "sap",
        sourceId: "1",
      },
      {
        name: "boiler",
        parentRefId: "r",
        metadata: { maker: "Steam & Co", size: "XL" },
        source: "sap",
        sourceId: "2",
      },
      { name: "motor", parentRefId: "p", description: "Drives the pump", metadata: { maker: "Volt" } },
    ],
  });
  const [root, pump, boiler, motor] = items.map((item) => item["id"] as number);
  return { plant: root!, pump: pump!, boiler: boiler!, motor: motor! };
}

/** All pages from this path on, forwards. */
async function pagesOf(ask: Asks, path: string, cursor?: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let next = cursor, isFirst = true; isFirst || next !== undefined; isFirst = false) {
    const sign = path.includes("?") ? "&" : "?";
    const response = await ask(`GET ${path}${next ? `${sign}cursor=${encodeURIComponent(next)}` : ""}`);
    assert.equal(response.status, 200, response.text);
    pages.push(idsOf(response));
    next = response.nextCursor;
  }
  return pages;
}

scenario("creation returns 200 in 0.4 and 0.5, 201 with Location in 0.6", async (ask) => {
  for (const [version, status] of [
    ["v04", 200],
    ["v05", 200],
    ["v06", 201],
  ] as const) {
    const response = await ask[version]("POST /assets", { items: [{ name: version }] });
    assert.equal(response.status, status);
    const location = response.headers.get("location");
    assert.equal(location?.endsWith(`/assets/${idsOf(response)[0]}`) ?? false, status === 201);
  }
});

scenario("a response has every field that clients require, and no reference id", async (ask) => {
  const sent = { name: "a", refId: "x", parentName: null, parentRefId: null, parentId: null, metadata: null };
  const { items } = await ask("POST /assets", {
    items: [{ ...sent, security_categories: null, color: "red" }],
  });
  const { id, createdTime, lastUpdatedTime, ...rest } = items[0]!;
  assert.deepEqual(rest, { name: "a", description: "", path: [id], depth: 0, metadata: {} });
  assert.equal(createdTime, lastUpdatedTime);
  assert.ok(!("description" in (await ask.v06(`GET /assets/${id}`)).items[0]!));
});

scenario("a parent id may be a text of digits, as the .NET client sends it", async (ask) => {
  const { pump } = await plant(ask);
  const { items } = await ask("POST /assets", { items: [{ name: "seal", parentId: `${pump}` }] });
  assert.equal(items[0]?.["parentId"], pump);
});

scenario("names and metadata come back as they were, whatever letters they have", async (ask) => {
  const names = [
    "a/b",
    "ål +%20",
    `"'quoted'"`,
    "泵 №7",
    "🏭",
    " edge ",
    "line\nbreak",
    "%",
    "_",
    "constructor",
  ];
  const metadata = {
    "": "empty key",
    "a.b[0]": "1",
    "$.x": "2",
    constructor: "3",
    'quote"': "4",
    "it's": "5",
    "line\nbreak": "6",
    toString: "7",
    "🔧": "🏭",
  };
  const { items } = await ask("POST /assets", { items: names.map((name) => ({ name, metadata })) });
  for (const [index, name] of names.entries()) {
    const found = await ask(`GET /assets?name=${encodeURIComponent(name)}`);
    assert.deepEqual(found.items, [items[index]]);
    assert.deepEqual(found.items[0]?.["metadata"], metadata);
  }
  for (const [key, value] of Object.entries(metadata)) {
    assert.equal(
      (await ask(`GET /assets?metadata=${json({ [key]: value })}`)).items.length,
      names.length,
      key,
    );
    assert.equal((await ask(`GET /assets?metadata=${json({ [key]: "other" })}`)).items.length, 0, key);
  }
  assert.equal((await ask(`GET /assets?metadata=${json({ hasOwnProperty: "x" })}`)).items.length, 0);
});

scenario("the list applies each filter of 4.2 in the spellings of clients", async (ask) => {
  const { plant: root, pump, boiler, motor } = await plant(ask);
  const cases: [query: string, expected: number[]][] = [
    ["", [root, pump, boiler, motor]],
    ["name=pump", [pump]],
    ["name=Pump", []],
    ["name=bump&fuzziness=1", [pump]],
    ["name=bumb&fuzziness=1", []],
    ["name=pump&fuzziness=0", [pump]],
    ["depth=0", [root]],
    ["depth=1", [root, pump, boiler]],
    [`path=[${pump}]`, [pump, motor]],
    [`path=[${root},%20${pump}]`, [pump, motor]],
    [`path=["${pump}"]`, [pump, motor]],
    [`path=[${root}]&depth=1`, [root, pump, boiler]],
    [`path=[${pump}]&depth=0`, [pump]],
    [`path=[${pump}]&depth=1`, [pump, motor]],
    ["path=[1]", []],
    ["path=[1]&depth=1", []],
    ["path=[]", [root, pump, boiler, motor]],
    [`metadata=${json({ maker: "Volt" })}`, [motor]],
    [`metadata=${json({ maker: "Steam & Co", size: "XL" })}`, [boiler]],
    [`metadata=${json({ maker: "Steam & Co", size: "S" })}`, []],
    [`metadata=${encodeURIComponent("{'maker': 'Volt'}")}`, [motor]],
    ["metadata=%7Bnonsense", []],
    ["metadata={}", [root, pump, boiler, motor]],
    ["description=PUMP", [pump, motor]],
    ["source=sap", [pump, boiler]],
    ["source=SAP", []],
    ["source=sap&depth=1&name=boiler&autopaging=True&desc=x", [boiler]],
    ["limit=0", []],
    ["limit=100000", [root, pump, boiler, motor]],
  ];
  for (const version of [ask.v04, ask.v05, ask.v06])
    for (const [query, expected] of cases) {
      const response = await version(`GET /assets?${query}`);
      assert.deepEqual([response.status, idsOf(response)], [200, expected], query);
      assert.deepEqual([response.nextCursor, response.previousCursor], [undefined, undefined], query);
    }
});

scenario("cursors lead through the list forwards and backwards, and serve no other query", async (ask) => {
  const { items } = await ask("POST /assets", {
    items: Array.from({ length: 7 }, (_, index) => ({ name: `asset ${index}`, source: "s" })),
  });
  const ids = items.map(({ id }) => id);
  const first = await ask("GET /assets?limit=3&source=s");
  const second = await ask(`GET /assets?limit=3&source=s&cursor=${first.nextCursor}`);
  const third = await ask(`GET /assets?limit=3&source=s&cursor=${second.nextCursor}`);
  assert.deepEqual([first, second, third].map(idsOf), [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
  assert.deepEqual([first.previousCursor, third.nextCursor], [undefined, undefined]);
  const back = await ask(`GET /assets?limit=3&source=s&cursor=${third.previousCursor}`);
  assert.deepEqual(idsOf(back), ids.slice(3, 6));
  const start = await ask(`GET /assets?limit=3&source=s&cursor=${back.previousCursor}`);
  assert.deepEqual([idsOf(start), start.previousCursor], [ids.slice(0, 3), undefined]);
  assert.match(first.nextCursor!, /^[\w-]+$/);
  for (const other of [`source=x&cursor=${first.nextCursor}`, `cursor=${first.nextCursor}`, "cursor=AAAA"]) {
    const refused = await ask(`GET /assets?limit=3&${other}`);
    assert.equal(refused.status, 400);
    assert.match(refused.error!.message, /^Invalid field - cursor - /);
  }
});

scenario("one asset is read alone in 0.5 and 0.6, and with its subtree in 0.4 or on request", async (ask) => {
  const { plant: root, pump, boiler, motor } = await plant(ask);
  for (const version of [ask.v05, ask.v06]) {
    assert.deepEqual(idsOf(await version(`GET /assets/${pump}`)), [pump]);
    assert.deepEqual(idsOf(await version(`GET /assets/${root}?depth=1`)), [root, pump, boiler]);
    assert.deepEqual(idsOf(await version(`GET /assets/${pump}?limit=10`)), [pump, motor]);
  }
  assert.deepEqual(idsOf(await ask.v04(`GET /assets/${pump}`)), [pump, motor]);
  assert.deepEqual(idsOf(await ask.v04(`GET /assets/${pump}?depth=0`)), [pump]);
  for (const version of [ask.v04, ask.v05, ask.v06]) {
    const path = `/assets/${root}/subtree`;
    assert.deepEqual(idsOf(await version(`GET ${path}`)), [root, pump, motor, boiler]);
    assert.deepEqual(idsOf(await version(`GET ${path}?depth=1`)), [root, pump, boiler]);
    const { nextCursor, items } = await version(`GET ${path}?limit=1`);
    assert.equal(items[0]?.["id"], root);
    assert.ok(nextCursor);
    assert.deepEqual((await pagesOf(ask, `${path}?limit=3`)).flat(), [root, pump, motor, boiler]);
    for (const unknown of ["/assets/1", "/assets/1/subtree"])
      assert.equal((await version(`GET ${unknown}`)).status, 404);
  }
});

scenario("the cursors of a division read every asset exactly once, each its own part", async (ask) => {
  const empty = await ask.v06("GET /assets/cursors?divisions=4");
  const [only, ...more] = empty.items as unknown as string[];
  assert.deepEqual([more, await pagesOf(ask, "/assets", only)], [[], [[]]]);
  const tree = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `asset ${index}`,
      refId: `${index}`,
      ...(index > 0 && { parentRefId: `${index >> 2}` }),
    }));
  const ids = idsOf(await ask("POST /assets", { items: tree(23) }));
  for (const divisions of [1, 2, 3, 7, 22, 23, 24, 100, 5000])
    for (const limit of [2, 100]) {
      const { items } = await ask.v06(`GET /assets/cursors?divisions=${divisions}`);
      assert.ok(items.length <= divisions && items.length <= ids.length);
      const pieces: number[][] = [];
      for (const cursor of items as unknown as string[])
        pieces.push((await pagesOf(ask, `/assets?limit=${limit}`, cursor)).flat());
      assert.deepEqual(
        pieces.flat().toSorted((a, b) => a - b),
        ids,
      );
      if (divisions < 8) assert.ok(Math.max(...pieces.map((one) => one.length)) <= 23 / divisions + 1);
    }
});

scenario("cursors of the whole list serve its filters too, those of a filter no other", async (ask) => {
  const items = Array.from({ length: 9 }, (_, at) => ({ name: `asset ${at}`, source: `${at % 2}` }));
  const ids = idsOf(await ask("POST /assets", { items }));
  const cursors = (await ask.v06("GET /assets/cursors?divisions=3")).items as unknown as string[];
  for (const query of ["source=1&limit=1", "source=1&depth=0"]) {
    const pieces: number[] = [];
    for (const cursor of cursors) pieces.push(...(await pagesOf(ask, `/assets?${query}`, cursor)).flat());
    assert.deepEqual(
      pieces,
      ids.filter((_, at) => at % 2 === 1),
    );
  }
  const { nextCursor: whole } = await ask("GET /assets?limit=4");
  assert.deepEqual(idsOf(await ask(`GET /assets?source=1&cursor=${whole}`)), [ids[5], ids[7]]);
  const { nextCursor: part } = await ask("GET /assets?limit=1&source=1");
  const elsewhere = [
    `/assets?cursor=${part}`,
    `/assets?source=0&cursor=${part}`,
    `/assets?path=${ids[0]}&cursor=${whole}`,
    `/assets/${ids[0]}/subtree?cursor=${whole}`,
    `/timeseries?cursor=${whole}`,
  ];
  for (const path of elsewhere) assert.equal((await ask(`GET ${path}`)).status, 400, path);
});

scenario("Spark of early 2019 walks the cursors first, then reads their pages", async (ask) => {
  const ids = idsOf(await ask("POST /assets", { items: ["a", "b", "c"].map((name) => ({ name })) }));
  for (const path of ["/assets", "/assets/list"]) {
    const first = await ask.v06(`GET ${path}?limit=2&onlyCursors=true`);
    assert.deepEqual([first.status, first.items], [200, []]);
    const page = `GET /assets?limit=2&cursor=${first.nextCursor}`;
    assert.deepEqual(idsOf(await ask.v06(page)), ids.slice(2));
    assert.equal((await ask.v06(`${page}&onlyCursors=true`)).nextCursor, undefined);
  }
});

scenario(
  "of assets made at the same time with one source or one place, exactly one comes to be",
  async (ask) => {
    const race = (item: (at: number) => object) =>
      Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          ask("POST /assets", { items: [{ name: `other ${at}` }, item(at)] }),
        ),
      );
    const { plant: root } = await plant(ask);
    const sources = await race((at) => ({ name: `pump ${at}`, source: "sap", sourceId: "7" }));
    const names = await race(() => ({ name: "fan", parentId: root }));
    for (const responses of [sources, names])
      assert.deepEqual(
        responses.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, ...Array(11).fill(400)],
      );
    const refused = sources.find(({ status }) => status === 400)!;
    assert.deepEqual(refused.error!["duplicates"], [{ source: "sap", sourceId: "7" }]);
    const all = namesOf(await ask("GET /assets?limit=1000")).map(String);
    assert.equal(
      all.filter((name) => name.startsWith("other")).length,
      2,
      "nothing else of a refused request",
    );
  },
);

scenario("byids returns records in the requested order", async (ask) => {
  const { plant: root, pump, motor } = await plant(ask);
  for (const version of [ask.v04, ask.v05, ask.v06]) {
    const response = await version("POST /assets/byids", { items: [motor, root, pump] });
    assert.deepEqual([response.status, idsOf(response)], [200, [motor, root, pump]]);
  }
});

scenario("a search finds words by their beginning and ranks exact matches first", async (ask) => {
  const make = [
    { name: "valve", description: "next to the pump" },
    { name: "big pump" },
    { name: "pump house" },
    { name: "Pump" },
    { name: "pumpkin", metadata: { kind: "fruit" } },
    { name: "tank", description: "pump" },
  ];
  const ids = idsOf(await ask("POST /assets", { items: make }));
  const inOrder = (...positions: number[]) => positions.map((position) => ids[position]!);
  const cases: [query: string, body: object, expected: number[]][] = [
    ["name=PUMP", { search: { name: "PUMP" } }, inOrder(3, 2, 4, 1)],
    ["description=pump", { search: { description: "pump" } }, inOrder(5, 0)],
    ["query=pump&boostName=true", { search: { query: "pump" }, boostName: true }, inOrder(3, 2, 4, 1, 5, 0)],
    [
      "query=pump&boostName=True&limit=3&offset=3",
      { search: { query: "pump" }, boostName: true, limit: 3, offset: 3 },
      inOrder(1, 5, 0),
    ],
    [
      "query=pump&boostName=True&limit=3&offset=5",
      { search: { query: "pump" }, boostName: true, limit: 3, offset: 5 },
      inOrder(0),
    ],
    ["name=pump&description=x", { search: { name: "pump", description: "x" } }, []],
    ["query=pump%20big", { search: { query: "pump big" } }, inOrder(1)],
    ["name=ump", { search: { name: "ump" } }, []],
    [
      "query=pump&sort=createdTime&dir=asc&limit=2",
      { search: { query: "pump" }, sort: "createdTime", dir: "asc", limit: 2 },
      inOrder(0, 1),
    ],
    [`metadata=${json({ kind: "fruit" })}`, { filter: { metadata: { kind: "fruit" } } }, inOrder(4)],
    ["metadata=null&assetIds=[]", {}, ids],
    ["limit=2&offset=1", { limit: 2, offset: 1 }, inOrder(1, 2)],
    [`assetSubtrees=[${ids[1]}, ${ids[4]}]`, { filter: { assetSubtrees: [ids[1], ids[4]] } }, inOrder(1, 4)],
    [
      `assetSubtrees=${ids[1]}&assetSubtrees=${ids[4]}`,
      { filter: { assetSubtrees: [ids[4], ids[1]] } },
      inOrder(1, 4),
    ],
    ["assetSubtrees=[1]", { filter: { assetSubtrees: [1] } }, []],
    ["limit=5000&offset=1000", { limit: 5000, offset: 1000 }, []],
  ];
  for (const [query, body, expected] of cases) {
    assert.deepEqual(idsOf(await ask.v05(`GET /assets/search?${query}`)), expected, query);
    assert.deepEqual(idsOf(await ask.v06("POST /assets/search", body)), expected, JSON.stringify(body));
  }
});

scenario("a search by times includes both ends", async (ask) => {
  const created: number[] = [];
  for (const name of ["a", "b", "c"]) {
    const { items } = await ask("POST /assets", { items: [{ name }] });
    created.push(items[0]?.["createdTime"] as number);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const find = async (query: string) => namesOf(await ask(`GET /assets/search?${query}`));
  assert.deepEqual(await find(`minCreatedTime=${created[1]}&maxCreatedTime=${created[2]}`), ["b", "c"]);
  assert.deepEqual(await find(`maxLastUpdatedTime=${created[1]}`), ["a", "b"]);
  assert.deepEqual(await find(`minLastUpdatedTime=${created[2]! + 1}`), []);
  assert.deepEqual(await find("sort=createdTime"), ["c", "b", "a"]);
  const filter = { createdTime: { min: created[2] }, lastUpdatedTime: { max: created[2] } };
  assert.deepEqual(namesOf(await ask.v06("POST /assets/search", { filter })), ["c"]);
});

scenario("every form of update changes what it names and nothing else", async (ask) => {
  const { boiler, motor } = await plant(ask);
  const read = async (id: number): Promise<Item> => (await ask.v06(`GET /assets/${id}`)).items[0]!;
  const before = await read(boiler);
  const one = await ask(`POST /assets/${boiler}/update`, {
    id: boiler,
    name: { set: "kettle", setNull: false },
  });
  assert.deepEqual([one.status, namesOf(one)], [200, ["kettle"]]);
  assert.ok((one.items[0]!["lastUpdatedTime"] as number) >= (before["lastUpdatedTime"] as number));
  const { name, lastUpdatedTime, ...rest } = await read(boiler);
  assert.deepEqual({ ...rest, name: "boiler", lastUpdatedTime: before["lastUpdatedTime"] }, before);
  const many = await ask("POST /assets/update", {
    items: [
      {
        id: motor,
        description: { setNull: true },
        metadata: { set: { a: "1" } },
        source: { setNull: false },
      },
      { id: boiler, metadata: { setNull: true }, source: { setNull: true }, sourceId: { set: "9" } },
    ],
  });
  assert.deepEqual(idsOf(many), [motor, boiler]);
  const [newMotor, newBoiler] = [await read(motor), await read(boiler)];
  assert.deepEqual(["description" in newMotor, newMotor["metadata"]], [false, { a: "1" }]);
  assert.deepEqual([newBoiler["metadata"], newBoiler["source"], newBoiler["sourceId"]], [{}, undefined, "9"]);
  await ask(`PATCH /assets/${motor}`, { name: "drive", description: { set: "new" }, metadata: { b: "2" } });
  await ask(`PATCH /assets/${motor}`, { source: "s", sourceId: { set: "4" }, metadata: { set: { c: "3" } } });
  const { name: drive, description, metadata, source, sourceId } = await read(motor);
  assert.deepEqual([drive, description, metadata, source, sourceId], ["drive", "new", { c: "3" }, "s", "4"]);
});

scenario("an overwrite replaces every writable field and leaves the asset where it is", async (ask) => {
  const { pump, motor } = await plant(ask);
  const before = (await ask.v06(`GET /assets/${motor}`)).items[0]!;
  const response = await ask("PUT /assets", {
    items: [{ ...before, name: "engine", description: undefined }],
  });
  assert.deepEqual([response.status, response.json], [200, {}]);
  const { lastUpdatedTime, ...after } = (await ask.v06(`GET /assets/${motor}`)).items[0]!;
  const { description, lastUpdatedTime: _, ...kept } = before;
  assert.deepEqual(after, { ...kept, name: "engine" });
  await ask("PUT /assets", { items: [{ id: pump, name: "pump" }] });
  const bare = (await ask.v06(`GET /assets/${pump}`)).items[0]!;
  assert.deepEqual(Object.keys(bare).sort(), [
    ...["createdTime", "depth", "id", "lastUpdatedTime", "metadata", "name", "parentId", "path", "types"],
  ]);
});

scenario("a move takes the whole subtree along, by PATCH or by update", async (ask) => {
  const { plant: root, pump, boiler, motor } = await plant(ask);
  const pathOf = async (id: number) => (await ask(`GET /assets/${id}`)).items[0]!["path"];
  await ask(`PATCH /assets/${pump}`, { parentId: boiler });
  assert.deepEqual(await pathOf(motor), [root, boiler, pump, motor]);
  await ask("POST /assets/update", { items: [{ id: pump, parentId: { setNull: true } }] });
  assert.deepEqual(await pathOf(motor), [pump, motor]);
  assert.deepEqual(idsOf(await ask("GET /assets?depth=0")), [root, pump]);
  await ask(`POST /assets/${pump}/update`, { parentId: { set: `${root}` } });
  assert.deepEqual(await pathOf(motor), [root, pump, motor]);
  assert.deepEqual(idsOf(await ask(`GET /assets/${root}/subtree`)), [root, pump, motor, boiler]);
});

scenario(
  "of moves that together would make a circle the first wins, and the tree stays a tree",
  async (ask) => {
    for (let round = 0; round < 5; round++) {
      const { items } = await ask("POST /assets", { items: [{ name: "a" }, { name: "b" }, { name: "c" }] });
      const [a, b, c] = items.map((item) => item["id"] as number) as [number, number, number];
      const moves = [
        [a, b],
        [b, c],
        [c, a],
      ] as const;
      const responses = await Promise.all(
        moves.map(([id, parentId]) => ask(`PATCH /assets/${id}`, { parentId })),
      );
      assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 200, 400]);
      const tree = (await ask("POST /assets/byids", { items: [a, b, c] })).items;
      const depths = tree.map((item) => item["depth"] as number);
      assert.deepEqual(depths.toSorted(), [0, 1, 2]);
      for (const item of tree) assert.equal((item["path"] as number[]).at(-2), item["parentId"]);
    }
  },
);

scenario("a cursor of a subtree reads the rest of it after a move of its root", async (ask) => {
  const children = Array.from({ length: 6 }, (_, at) => ({ name: `part ${at}`, parentRefId: "r" }));
  const sent = [{ name: "moved", refId: "r" }, { name: "target" }, ...children];
  const [root, target] = idsOf(await ask("POST /assets", { items: sent }));
  const all = idsOf(await ask(`GET /assets/${root}/subtree`));
  assert.equal(all.length, 7);
  const path = `/assets/${root}/subtree?limit=3`;
  const first = await ask(`GET ${path}`);
  await ask(`POST /assets/${root}/update`, { parentId: { set: target } });
  const second = await ask(`GET ${path}&cursor=${first.nextCursor}`);
  await ask(`POST /assets/${root}/update`, { parentId: { setNull: true } });
  const third = await ask(`GET ${path}&cursor=${second.nextCursor}`);
  assert.deepEqual([first, second, third].flatMap(idsOf), all);
  assert.deepEqual(idsOf(await ask(`GET ${path}&cursor=${second.previousCursor}`)), all.slice(0, 3));
});

scenario("a delete returns {} and deletes the whole subtree", async (ask) => {
  const { plant: root, pump, boiler, motor } = await plant(ask);
  for (const version of [ask.v04, ask.v05, ask.v06]) {
    const made = await version("POST /assets", { items: [{ name: "gone" }] });
    const response = await version("POST /assets/delete", { items: idsOf(made) });
    assert.deepEqual([response.status, response.json], [200, {}]);
  }
  assert.equal((await ask("POST /assets/delete", { items: [motor, pump] })).status, 200);
  assert.deepEqual(idsOf(await ask("GET /assets")), [root, boiler]);
  assert.equal((await ask(`GET /assets/${motor}`)).status, 404);
  const again = await ask("POST /assets", {
    items: [{ name: "pump", parentId: root, source: "sap", sourceId: "1" }],
  });
  assert.equal(again.status, 200);
  assert.ok(idsOf(again)[0]! > motor, "an id is never used again");
});

scenario("roots may share a name, siblings may not", async (ask) => {
  const roots = await ask("POST /assets", { items: [{ name: "same" }, { name: "same" }] });
  assert.equal(roots.status, 200);
  const [one, other] = idsOf(roots);
  const child = (parentId: number | undefined) =>
    ask("POST /assets", { items: [{ name: "child", parentId }] });
  assert.equal((await child(one)).status, 200);
  assert.equal((await child(other)).status, 200);
  assert.equal((await child(one)).status, 400);
});

scenario("created records exist after a restart, and their cursors continue", async (ask) => {
  const { plant: root, pump, boiler, motor } = await plant(ask);
  const { nextCursor, text } = await ask("GET /assets?limit=2");
  await server.restart();
  assert.equal((await ask("GET /assets?limit=2")).text, text);
  const rest = await ask(`GET /assets?limit=2&cursor=${nextCursor}`);
  assert.deepEqual([root, pump, ...idsOf(rest)], [root, pump, boiler, motor]);
  const made = await ask("POST /assets", { items: [{ name: "new" }] });
  assert.ok(idsOf(made)[0]! > motor);
});
