// Every refusal of the asset operations: exact status, message and members, and proof that nothing changed.
import { after, before, test } from "node:test";
import {
  invalid,
  items,
  missing,
  type Refused,
  type Refuses,
  refusing,
  repeated,
  unknown,
} from "../../../test/support/refused-requests.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
/** `plant > pump > motor` and `plant > boiler`: the values of `{pump}` in the tables below. */
let ids: Record<string, number>;
let refuses: Refuses;

before(async () => {
  server = await startTestServer();
  const { items } = await server.ask("POST /assets", {
    items: [
      { name: "plant", refId: "r" },
      { name: "pump", parentRefId: "r", refId: "p", source: "sap", sourceId: "1" },
      { name: "boiler", parentRefId: "r", source: "sap", sourceId: "2" },
      { name: "motor", parentRefId: "p" },
    ],
  });
  ids = Object.fromEntries(items.map((item) => [item["name"], item["id"] as number]));
  const stored = async () => (await server.ask.v06("GET /assets")).text;
  refuses = await refusing({ server, ids, stored });
});
after(() => server.close());

const a = { name: "a" };

const creations: readonly Refused[] = [
  { body: {}, ...missing("items") },
  { body: items(), message: `${invalid("items")} at least 1 items but got 0` },
  { body: items(5), message: `${invalid("items[0]")} an object but got number` },
  { body: items("{pump}"), message: `${invalid("items[0]")} an object but got number` },
  { body: items(a, {}), ...missing("items[1].name") },
  { body: items({ name: null }), ...missing("items[0].name") },
  {
    body: items({ name: "" }),
    message: `${invalid("items[0].name")} at least 1 characters but got 0`,
  },
  { body: items({ name: 5 }), message: `${invalid("items[0].name")} string but got number` },
  {
    body: items({ name: "x".repeat(limits.nameLengthMax + 1) }),
    message: `${invalid("items[0].name")} at most 255 characters but got 256`,
  },
  { body: items({ name: "half \ud800 a pair" }), message: `${invalid("items[0].name")} ...` },
  {
    body: items({ ...a, metadata: { x: [5] } }),
    message: `${invalid("items[0].metadata.x")} string but got array`,
  },
  {
    body: items({ ...a, metadata: { x: {} } }),
    message: `${invalid("items[0].metadata.x")} string but got object`,
  },
  {
    body: items({ ...a, metadata: ["x"] }),
    message: `${invalid("items[0].metadata")} an object but got array`,
  },
  {
    body: items({ ...a, metadata: { x: "y".repeat(6_000), z: "y".repeat(6_000) } }),
    message:
      `${invalid("items[0].metadata")} a value that holds at most 10240 characters ` +
      "in its keys and values together but got object",
  },
  {
    body: '{"items":[{"name":"a","metadata":{"__proto__":"x"}}]}',
    message: "The body is not valid JSON: a member is named __proto__",
  },
  {
    body: items({ ...a, id: 5 }),
    message: `${invalid("items[0].id")} none, as the service assigns ids, but got 5`,
  },
  { body: items(a, { ...a, parentId: 4 }, { ...a, parentId: 5 }), ...unknown(4, 5) },
  { body: items({ ...a, parentId: "x" }), message: `${invalid("items[0].parentId")} ...` },
  {
    body: items({ ...a, parentId: "9007199254740993" }),
    message:
      `${invalid("items[0].parentId")} a value that is an id in digits, not above 9007199254740991 ` +
      'but got "9007199254740993"',
  },
  {
    body: items({ ...a, parentId: "{plant}", parentRefId: "x" }),
    message: `${invalid("items[0].parentRefId")} the refId of an item of this request but got "x"`,
  },
  {
    body: items({ ...a, parentId: "{plant}", parentName: "x" }),
    message: `${invalid("items[0].parentName")} the name of exactly one asset but got "x"`,
  },
  {
    body: items(a, a, { name: "b", parentName: "a" }),
    message: `${invalid("items[2].parentName")} the name of exactly one asset but got "a"`,
  },
  {
    body: items({ ...a, refId: "1" }, { name: "b", refId: "1" }),
    message: `${invalid("items[1].refId")} a refId that no other item has but got "1"`,
  },
  {
    body: items({ ...a, refId: "1", parentRefId: "1" }),
    message: "An asset cannot be below itself: a below a",
  },
  {
    body: items({ name: "x" }, { ...a, refId: "1", parentName: "b" }, { name: "b", parentRefId: "1" }),
    message: "An asset cannot be below itself: a below b below a",
  },
  {
    body: items(a, { name: "pump", parentId: "{plant}" }),
    message: "Children of one asset must have different names: pump",
  },
  {
    body: items({ ...a, refId: "1" }, { name: "b", parentRefId: "1" }, { name: "b", parentRefId: "1" }),
    message: "Children of one asset must have different names: b",
  },
  {
    body: items(a, { name: "b", source: "sap", sourceId: "2" }, { name: "c", source: "sap", sourceId: "1" }),
    message: "An asset has this source and sourceId already: sap 2, sap 1",
    members: {
      duplicates: [
        { source: "sap", sourceId: "2" },
        { source: "sap", sourceId: "1" },
      ],
    },
  },
  {
    body: items({ ...a, source: "s", sourceId: "2" }, { ...a, source: "s", sourceId: "2" }),
    message: "An asset has this source and sourceId already: s 2",
    members: { duplicates: [{ source: "s", sourceId: "2" }] },
  },
  {
    body: items(...Array(limits.itemsPerWriteMax + 1).fill(a)),
    message: "items may hold at most 10000 items but holds 10001",
  },
  { body: "{", message: "The body is not valid JSON: ..." },
];

test("creations that cannot be", async () => {
  for (const refused of creations) await refuses("POST /assets", refused);
});

const pumpTwice = {
  body: items("{pump}", "{plant}", "{pump}"),
  ...repeated("{pump}"),
};

test("ids that are unknown, repeated or none", async () => {
  for (const path of ["POST /assets/byids", "POST /assets/delete"]) {
    await refuses(path, { body: items("{plant}", 7, 8), ...unknown(7, 8) });
    await refuses(path, pumpTwice);
    await refuses(path, { body: items(), message: `${invalid("items")} at least 1 items but got 0` });
  }
  const byIds = `${invalid("items[0]")} integer or an object but got "x"`;
  await refuses("POST /assets/byids", { body: items("x"), message: byIds });
  const deleted = `${invalid("items[0]")} integer but got string`;
  await refuses("POST /assets/delete", { body: items("x"), message: deleted });
  for (const path of ["GET /assets/7", "GET /assets/7?depth=1", "GET /assets/7/subtree"])
    await refuses(path, { ...unknown(7), status: 404 });
  for (const path of ["POST /assets/7/update", "PATCH /assets/7"])
    await refuses(path, { body: { name: { set: "x" } }, ...unknown(7), status: 404 });
});

const updates: readonly Refused[] = [
  {
    body: items({ id: "{motor}", name: "x" }),
    message: `${invalid("items[0].name")} an object but got string`,
  },
  { body: items({ id: "{motor}", name: { set: "x" } }, { id: 7, name: { set: "y" } }), ...unknown(7) },
  { body: items({ name: { set: "x" } }), ...missing("items[0].id") },
  {
    body: items({ id: "{motor}", name: { set: "x" } }, { id: "{boiler}", name: { setNull: true } }),
    message: `${invalid("items[1].name")} a name to set but got setNull`,
  },
  {
    body: items({ id: "{boiler}", name: { set: "pump" } }),
    message: "Children of one asset must have different names: pump",
  },
  {
    body: items({ id: "{boiler}", sourceId: { set: "1" } }),
    message: "An asset has this source and sourceId already: sap 1",
    members: { duplicates: [{ source: "sap", sourceId: "1" }] },
  },
  {
    body: items({ id: "{motor}", name: { set: "pump" }, parentId: { set: "{plant}" } }),
    message: "Children of one asset must have different names: pump",
  },
  {
    body: items({ id: "{pump}", parentId: { set: "{motor}" } }),
    message: "An asset cannot be below itself: pump below motor below pump",
  },
  {
    body: items(
      { id: "{pump}", parentId: { set: "{boiler}" } },
      { id: "{boiler}", parentId: { set: "{motor}" } },
    ),
    message: "An asset cannot be below itself: pump below boiler below motor below pump",
  },
  { body: items({ id: "{pump}", parentId: { set: 7 } }), ...unknown(7) },
  {
    body: items({ id: "{pump}", name: { set: "x" } }, { id: "{pump}", name: { set: "y" } }),
    ...repeated("{pump}"),
  },
];

test("updates of many that cannot be", async () => {
  for (const refused of updates) await refuses("POST /assets/update", refused);
});

const updatesOfPump: readonly Refused[] = [
  { body: { parentId: { set: "{pump}" } }, message: "An asset cannot be below itself: pump below pump" },
  { body: { parentId: { set: 7 } }, ...unknown(7) },
  { body: { name: { setNull: true } }, message: `${invalid("name")} a name to set but got setNull` },
  { body: { name: { set: "" } }, message: `${invalid("name.set")} ...` },
  {
    body: { id: "{motor}", name: { set: "x" } },
    message: `${invalid("id")} {pump} as in the path but got {motor}`,
  },
];

test("updates of one that cannot be, by POST and by PATCH", async () => {
  for (const refused of updatesOfPump) {
    await refuses("POST /assets/{pump}/update", refused);
    await refuses("PATCH /assets/{pump}", refused);
  }
  const plain = { body: { name: "x" }, message: `${invalid("name")} an object but got string` };
  await refuses("POST /assets/{pump}/update", plain);
  await refuses("PATCH /assets/{pump}", { body: { parentId: 7 }, ...unknown(7) });
  await refuses("PATCH /assets/{pump}", { body: { name: 5 }, message: `${invalid("name")} ...` });
  await refuses("PATCH /assets/{pump}", {
    body: { metadata: { x: [5] } },
    message: `${invalid("metadata.x")} string but got array`,
  });
});

test("overwrites that cannot be", async () => {
  await refuses("PUT /assets", { body: items({ id: "{motor}" }), ...missing("items[0].name") });
  await refuses("PUT /assets", { body: items({ name: "x" }), ...missing("items[0].id") });
  await refuses("PUT /assets", {
    body: items({ id: "{motor}", name: "x" }, { id: 7, name: "y" }),
    ...unknown(7),
  });
});

const questions: readonly [methodAndPath: string, message: string][] = [
  ["GET /assets/x", `${invalid("assetId")} an integer of at least 1 but got x`],
  ["GET /assets?limit=-1", `${invalid("limit")} an integer of at least 0 but got -1`],
  ["GET /assets?limit=x", `${invalid("limit")} ...`],
  ["GET /assets/{pump}?limit=-1", `${invalid("limit")} ...`],
  ["GET /assets?depth=-1", `${invalid("depth")} ...`],
  ["GET /assets?depth=1.5", `${invalid("depth")} ...`],
  ["GET /assets?fuzziness=x", `${invalid("fuzziness")} ...`],
  ["GET /assets?path=x", `${invalid("path")} ...`],
  ["GET /assets?cursor=x", `${invalid("cursor")} a cursor returned by this same query`],
  ["GET /assets/cursors?divisions=0", `${invalid("divisions")} ...`],
  ["GET /assets/search?offset=1001", `${invalid("offset")} ...`],
  ["GET /assets/search?limit=-1", `${invalid("limit")} ...`],
  ["GET /assets/search?sort=name", `${invalid("sort")} ...`],
  ["GET /assets/search?minCreatedTime=x", `${invalid("minCreatedTime")} ...`],
];

test("invalid queries are refused", async () => {
  for (const [methodAndPath, message] of questions) await refuses(methodAndPath, { message });
  await refuses("GET /assets/cursors", missing("divisions"));
  await refuses("POST /assets/search", {
    body: { filter: { createdTime: { min: "x" } } },
    message: `${invalid("filter.createdTime.min")} integer but got string`,
  });
  await refuses("POST /assets/search", { body: { offset: 1001 }, message: `${invalid("offset")} ...` });
  const fields = Array.from({ length: 3 }, (_, id) => ({ id: id + 1, min: 1 }));
  const types = Array.from({ length: 67 }, (_, id) => ({ id: id + 1, fields }));
  await refuses("POST /assets/search", {
    body: { filter: { types } },
    message: "filter.types[].fields may hold at most 200 items but holds 201",
  });
});
