// Every refusal of the event operations: exact status, message and members, and proof that nothing changed.
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
/** An asset, three events, a transformer: the values of `{leak}` in the tables below. */
let ids: Record<string, number>;
let refuses: Refuses;

const everything = async () => {
  const paths = ["/events", "/eventtransformers", "/semantictypes"];
  return (await Promise.all(paths.map((path) => server.ask.v06(`GET ${path}`))))
    .map(({ text }) => text)
    .join();
};

before(async () => {
  server = await startTestServer();
  const made = async (path: string, items: object[]) =>
    (await server.ask(`POST ${path}`, { items })).items.map((item) => item["id"] as number);
  const [pump] = await made("/assets", [{ name: "pump" }]);
  const [leak, trip, plain] = await made("/events", [
    { startTime: 1, source: "sap", sourceId: "1", assetIds: [pump] },
    { startTime: 2, source: "sap", sourceId: "2", metadata: { a: "b" } },
    { startTime: 3 },
  ]);
  const [transformer] = await made("/eventtransformers", [{ name: "t" }]);
  ids = { pump: pump!, leak: leak!, trip: trip!, plain: plain!, transformer: transformer! };
  refuses = await refusing({ server, versions: ["0.6"], ids, stored: everything });
});
after(() => server.close());

const none = `${invalid("items")} at least 1 items but got 0`;
const refusedNames = (...names: ("leak" | "trip")[]) => {
  const sourceIds = { leak: "1", trip: "2" };
  const pairs = names.map((one) => `sap ${sourceIds[one]}`);
  return {
    status: 409,
    message: `An event has this source and sourceId already: ${pairs.join(", ")}`,
    members: {
      duplicates: names.map((one) => ({ id: `{${one}}`, source: "sap", sourceId: sourceIds[one] })),
    },
  };
};
const twiceInRequest = (at: number) => {
  const field = invalid(`items[${at}].sourceId`);
  return `${field} an id that no other item has together with the source "s" but got "1"`;
};
const disabled = (filters: string) =>
  `The filters ${filters} are disabled when assetId is used; a search takes them together`;
const tooLong = " at most 10240 characters in its keys and values together but got ";
const latest = limits.eventTimeMsMax;

const creations: readonly Refused[] = [
  { body: {}, ...missing("items") },
  { body: items(), message: none },
  { body: items(5), message: `${invalid("items[0]")} an object but got number` },
  {
    body: items({}, { startTime: "5" }),
    message: `${invalid("items[1].startTime")} integer but got string`,
  },
  {
    body: items({ startTime: 1.5 }),
    message: `${invalid("items[0].startTime")} integer but got 1.5`,
  },
  {
    body: items({ endTime: latest + 1 }),
    message: `${invalid("items[0].endTime")} a value <= ${latest} but got ${latest + 1}`,
  },
  {
    body: items({ startTime: -latest - 1 }),
    message: `${invalid("items[0].startTime")} a value >= -${latest} but got -${latest + 1}`,
  },
  { body: items({ type: 5 }), message: `${invalid("items[0].type")} string but got number` },
  { body: items({ description: "half \ud800 a pair" }), message: `${invalid("items[0].description")} ...` },
  { body: items({ description: "\0" }), message: `${invalid("items[0].description")} ...` },
  {
    body: items({ source: "x".repeat(limits.textLengthMax + 1) }),
    message: `${invalid("items[0].source")} at most 8192 characters but got 8193`,
  },
  {
    body: items({ metadata: { x: [5] } }),
    message: `${invalid("items[0].metadata.x")} string but got array`,
  },
  {
    body: items({ additionalData: ["x"] }),
    message: `${invalid("items[0].additionalData")} an object but got array`,
  },
  { body: items({ additionalData: { x: "\0" } }), message: `${invalid("items[0].additionalData.x")} ...` },
  {
    body: items({ additionalData: { x: ["y".repeat(limits.metadataLengthMax)] } }),
    message: `${invalid("items[0].additionalData")}${tooLong}10245`,
  },
  {
    body: items({ additionalData: { x: "y".repeat(limits.metadataLengthMax) } }),
    message: `${invalid("items[0].additionalData")}${tooLong}10241`,
  },
  { body: items({ assetIds: 5 }), message: `${invalid("items[0].assetIds")} array but got number` },
  {
    body: items({ tagIds: [true] }),
    message: `${invalid("items[0].tagIds[0]")} integer or string but got true`,
  },
  {
    body: items({ assetIds: [0] }),
    message: `${invalid("items[0].assetIds[0]")} a value >= 1 but got 0`,
  },
  {
    body: items({ assetIds: Array(limits.eventAssetsMax + 1).fill(1) }),
    message: "items[0].assetIds may hold at most 1000 items but holds 1001",
  },
  {
    body: items({ assetIds: ["{pump}"] }, { assetIds: ["{pump}", 7, 8] }),
    message: `${invalid("items[1].assetIds")} ids of existing assets but got 7`,
  },
  {
    body: items({}, { id: 5 }),
    message: `${invalid("items[1].id")} none, as the service assigns ids, but got 5`,
  },
  { body: items({ eventTransformerId: "x" }), message: `${invalid("items[0].eventTransformerId")} ...` },
  { body: items({}, { source: "sap", sourceId: "2" }), ...refusedNames("trip") },
  {
    body: items(
      { source: "sap", sourceId: "2" },
      { source: "sap", sourceId: "3" },
      { source: "sap", sourceId: "1" },
    ),
    ...refusedNames("trip", "leak"),
  },
  {
    body: items(
      { source: "s", sourceId: "1" },
      { source: "s", sourceId: "2" },
      { source: "s", sourceId: "1" },
    ),
    message: twiceInRequest(2),
  },
  {
    body: items(
      { source: "s", sourceId: "1" },
      { source: "s", sourceId: "1" },
      { source: "sap", sourceId: "1" },
    ),
    ...refusedNames("leak"),
  },
  {
    body: items(...Array(limits.itemsPerWriteMax + 1).fill({})),
    message: "items may hold at most 10000 items but holds 10001",
  },
  { body: "{", message: "The body is not valid JSON: ..." },
];

test("creations that cannot be, in every version", async () => {
  for (const version of ["0.4", "0.5", "0.6"] as const)
    for (const refused of creations) await refuses("POST /events", { ...refused, version });
});

test("ids that are unknown, repeated or none", async () => {
  for (const path of ["POST /events/byids", "POST /events/delete"]) {
    await refuses(path, { body: items("{leak}", 7, { id: 8 }), ...unknown(7, 8) });
    await refuses(path, {
      body: items("{leak}", "{trip}", { id: "{leak}" }),
      ...repeated("{leak}"),
    });
    await refuses(path, { body: items(), message: none });
    await refuses(path, { body: {}, ...missing("items") });
    const got = `${invalid("items[0]")} integer or an object but got "x"`;
    await refuses(path, { body: items("x"), message: got });
    await refuses(path, { body: items({}), ...missing("items[0].id") });
    await refuses(path, {
      body: items("{pump}"),
      message: "No such ids: {pump}",
      members: { notFound: ["{pump}"] },
    });
  }
  await refuses("GET /events/7", { ...unknown(7), status: 404 });
  for (const path of ["POST /events/7/update", "PATCH /events/7"])
    await refuses(path, { body: { type: { set: "x" } }, ...unknown(7), status: 404 });
});

const changes: readonly Refused[] = [
  {
    body: items({ id: "{plain}", startTime: 5 }),
    message: "Invalid field - items[0].startTime - expected an object but got number",
  },
  {
    body: items({ id: "{plain}", type: "x" }),
    message: `${invalid("items[0].type")} an object but got string`,
  },
  {
    body: items({ id: "{plain}", assetIds: ["{pump}"] }),
    message: `${invalid("items[0].assetIds")} an object but got array`,
  },
  {
    body: items({ id: "{plain}", assetIds: { add: "{pump}" } }),
    message: `${invalid("items[0].assetIds.add")} array or null but got {pump}`,
  },
  { body: items({ type: { set: "x" } }), ...missing("items[0].id") },
  { body: items({ id: "{plain}", type: { set: "x" } }, { id: 7, type: { set: "x" } }), ...unknown(7) },
  {
    body: items({ id: "{plain}", type: { set: "x" } }, { id: "{plain}", type: { set: "y" } }),
    ...repeated("{plain}"),
  },
  {
    body: items({ id: "{plain}", type: { set: "x" } }, { id: "{leak}", assetIds: { add: [7] } }),
    message: `${invalid("items[1].assetIds")} ids of existing assets but got 7`,
  },
  {
    body: items({ id: "{plain}", source: { set: "sap" }, sourceId: { set: "1" } }, { id: "{trip}" }),
    ...refusedNames("leak"),
  },
  {
    body: items(
      { id: "{plain}", source: { set: "s" }, sourceId: { set: "1" } },
      { id: "{trip}", source: { set: "s" }, sourceId: { set: "1" } },
    ),
    message: twiceInRequest(1),
  },
];

test("changes of many that cannot be", async () => {
  for (const refused of changes) await refuses("POST /events/update", refused);
});

test("changes of one that cannot be, by POST and by PATCH", async () => {
  for (const path of ["POST /events/{plain}/update", "PATCH /events/{plain}"]) {
    await refuses(path, {
      body: { source: { set: "sap" }, sourceId: { set: "2" } },
      ...refusedNames("trip"),
    });
    const asset = `${invalid("assetIds")} ids of existing assets but got 7`;
    await refuses(path, { body: { assetIds: { set: [7] } }, message: asset });
    const path7 = `${invalid("id")} {plain} as in the path but got 7`;
    await refuses(path, { body: { id: 7, type: { set: "x" } }, message: path7 });
    await refuses(path, { body: { startTime: { set: "x" } }, message: `${invalid("startTime.set")} ...` });
  }
  const plain = `${invalid("startTime")} an object but got number`;
  await refuses("POST /events/{plain}/update", { body: { startTime: 5 }, message: plain });
  await refuses("PATCH /events/{plain}", {
    body: { startTime: "x" },
    message: `${invalid("startTime.set")} integer but got string`,
  });
  await refuses("PATCH /events/{plain}", {
    body: { metadata: { x: [5] } },
    message: `${invalid("metadata.set.x")} string but got array`,
  });
  await refuses("PATCH /events/{plain}", {
    body: { additionalData: { set: [1, 2] } },
    message: `${invalid("additionalData.set")} an object but got array`,
  });
  const asset = `${invalid("assetIds")} ids of existing assets but got 7`;
  await refuses("PATCH /events/{plain}", { body: { assetIds: [7] }, message: asset });
});

test("overwrites that cannot be", async () => {
  const path = "POST /events/update";
  for (const version of ["0.4", "0.5"] as const) {
    const ask = (refused: Refused) => refuses(path, { ...refused, version });
    await ask({ body: items({ type: "x" }), ...missing("items[0].id") });
    await ask({ body: items({ id: "{plain}", type: "x" }, { id: 7 }), ...unknown(7) });
    await ask({ body: items({ id: "{plain}", source: "sap", sourceId: "1" }), ...refusedNames("leak") });
    const setter = `${invalid("items[0].startTime")} integer but got object`;
    await ask({ body: items({ id: "{plain}", startTime: { set: 5 } }), message: setter });
    const asset = `${invalid("items[0].assetIds")} ids of existing assets but got 7`;
    await ask({ body: items({ id: "{plain}", assetIds: [7] }), message: asset });
  }
});

const atLeast0 = " an integer of at least 0 but got -1";
const questions: readonly [methodAndPath: string, message: string][] = [
  ["GET /events/x", `${invalid("eventId")} an integer of at least 1 but got x`],
  ["GET /events?limit=-1", `${invalid("limit")}${atLeast0}`],
  ["GET /events?limit=x", `${invalid("limit")} ...`],
  ["GET /events?sort=up", `${invalid("sort")} one of ASC, DESC but got up`],
  ["GET /events?hasDescription=1", `${invalid("hasDescription")} true or false but got 1`],
  ["GET /events?minStartTime=x", `${invalid("minStartTime")} an integer but got x`],
  ["GET /events?assetId=x", `${invalid("assetId")} ...`],
  ["GET /events?assetSubtrees=x", `${invalid("assetSubtrees")} ...`],
  ["GET /events?cursor=x", `${invalid("cursor")} a cursor returned by this same query`],
  ["GET /events/cursors?divisions=0", `${invalid("divisions")} ...`],
  ["GET /events/search?offset=1001", `${invalid("offset")} ...`],
  ["GET /events/search?limit=-1", `${invalid("limit")}${atLeast0}`],
  ["GET /events/search?sort=type", `${invalid("sort")} ...`],
  ["GET /events/search?dir=up", `${invalid("dir")} ...`],
  ["GET /events/search?assetIds=x", `${invalid("assetIds")} ...`],
  ["GET /events/search?maxEndTime=x", `${invalid("maxEndTime")} ...`],
];

test("invalid queries are refused", async () => {
  for (const [methodAndPath, message] of questions) await refuses(methodAndPath, { message });
  await refuses("GET /events/cursors", missing("divisions"));
});

test("filters beside assetId are disabled, in every version", async () => {
  const filters = [
    "type=a",
    "subtype=a",
    "hasDescription=false",
    "minStartTime=0",
    "maxStartTime=0",
    "source=a",
  ];
  for (const version of ["0.4", "0.5", "0.6"] as const)
    for (const filter of filters) {
      const message = disabled(filter.split("=")[0]!);
      await refuses(`GET /events?assetId={pump}&${filter}`, { message, version });
      await refuses(`GET /events?assetId=0&${filter}`, { message, version });
    }
  await refuses("GET /events?assetId={pump}&source=a&type=b", {
    message: disabled("type, source"),
  });
});

test("references that cannot be", async () => {
  const path = "POST /events/byreference";
  await refuses(path, { body: { eventReferenceKeys: ["k"] }, ...missing("transformerId") });
  await refuses(path, { body: { transformerId: 1 }, ...missing("eventReferenceKeys") });
  const key = `${invalid("eventReferenceKeys[0]")} string but got number`;
  await refuses(path, { body: { transformerId: 1, eventReferenceKeys: [5] }, message: key });
  await refuses(path, {
    body: { transformerId: 1, eventReferenceKeys: Array(limits.itemsPerWriteMax + 1).fill("k") },
    message: "eventReferenceKeys may hold at most 10000 items but holds 10001",
  });
});

test("event transformers and semantic types that cannot be", async () => {
  for (const path of ["/eventtransformers", "/semantictypes"]) {
    await refuses(`POST ${path}`, { body: items(), message: none });
    await refuses(`POST ${path}`, { body: items({ name: "a" }, {}), ...missing("items[1].name") });
    const long = `${invalid("items[0].name")} at most 255 characters but got 256`;
    await refuses(`POST ${path}`, { body: items({ name: "x".repeat(256) }), message: long });
    await refuses(`POST ${path}/delete`, { body: items(7), ...unknown(7) });
    await refuses(`GET ${path}?limit=-1`, { message: `${invalid("limit")}${atLeast0}` });
    await refuses(`GET ${path}?cursor=x`, { message: `${invalid("cursor")} ...` });
  }
  await refuses("POST /eventtransformers/delete", {
    body: items("{transformer}", "{transformer}"),
    ...repeated("{transformer}"),
  });
  await refuses("POST /semantictypes/delete", {
    body: items("{transformer}"),
    message: "No such ids: {transformer}",
    members: { notFound: ["{transformer}"] },
  });
  const { nextCursor } = await server.ask("GET /events?limit=1");
  await refuses(`GET /eventtransformers?cursor=${nextCursor}`, { message: `${invalid("cursor")} ...` });
});

test("methods that a path does not have", async () => {
  for (const [methodAndPath, message] of [
    ["PUT /events", "PUT is not supported by..."],
    ["PUT /events/7", "PUT is not supported by..."],
    ["PUT /eventtransformers", "PUT is not supported by..."],
  ] as const)
    await refuses(methodAndPath, { message, status: 405 });
});
