// Relationships over the API: records are stored, found from both ends, or refused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { contextWith } from "../../../test/support/context.ts";
import { refusal } from "../../../test/support/refusal.ts";
import {
  invalid,
  items,
  type Refused,
  type RefusedRequest,
  refusing,
} from "../../../test/support/refused-requests.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import type { Capability } from "../../access/capabilities.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import { projectIds } from "../projects/projects.ts";
import {
  createRelationships,
  deleteRelationships,
  getRelationship,
  listRelationships,
} from "./relationships.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const flow = (externalId: string, more: object = {}) => ({
  externalId,
  sourceType: "asset",
  sourceExternalId: "pump",
  targetType: "asset",
  targetExternalId: "tank",
  ...more,
});

const create = (...items: object[]) => server.ask("POST /relationships", { items });
const externalIds = async (methodAndPath: string) =>
  (await server.ask(methodAndPath)).items.map((item) => item["externalId"]);

test("what is created comes back, also after a restart, in 0.5 and 0.6", async () => {
  const whole = flow("whole/é", {
    targetType: "timeSeries",
    startTime: -5,
    endTime: 5,
    confidence: 0.25,
    dataSetId: 7,
    labels: ["flows to", "flows to", "measured"],
  });
  const { status, items } = await create(whole, flow("bare", { startTime: null, labels: null, id: null }));
  assert.equal(status, 200);
  for (const item of items) assert.equal(item["createdTime"], item["lastUpdatedTime"]);
  const without = items.map(({ id, createdTime, lastUpdatedTime, ...rest }) => rest);
  assert.deepEqual(without, [
    { ...whole, labels: ["flows to", "measured"] },
    { ...flow("bare"), labels: [] },
  ]);
  await server.restart();
  assert.deepEqual((await server.ask.v06("GET /relationships")).items, items);
  assert.deepEqual((await server.ask(`GET /relationships/${encodeURIComponent("whole/é")}`)).items, [
    items[0],
  ]);
  const body = { items: ["bare", { externalId: "whole/é" }] };
  assert.deepEqual((await server.ask("POST /relationships/byids", body)).items, items.toReversed());
});

test("the list is filtered by external id, data set and labels", async () => {
  const { status } = await create(
    flow("f1", { dataSetId: 71, labels: ["x", "y"] }),
    flow("f2", { dataSetId: 71, labels: ["y"] }),
    flow("f3", { dataSetId: 72 }),
  );
  assert.equal(status, 200);
  const cases: readonly (readonly [query: string, expected: readonly string[]])[] = [
    ["externalId=f2", ["f2"]],
    ["externalId=f", []],
    ["dataSetId=71", ["f1", "f2"]],
    ["dataSetId=72&labels=y", []],
    ["labels=y", ["f1", "f2"]],
    ["labels=x&labels=y", ["f1"]],
    ["dataSetId=71&labels=y&externalId=f2&sourceExternalId=pump", ["f2"]],
  ];
  for (const [query, expected] of cases)
    assert.deepEqual(await externalIds(`GET /relationships?${query}`), expected, query);
});

test("they are found from either end, page by page, and only those", async () => {
  const from = (sourceExternalId: string, externalId: string, more: object = {}) =>
    flow(externalId, { sourceExternalId, ...more });
  const { items } = await create(
    from("a", "a-b", { targetExternalId: "b" }),
    from("a", "a-b as a file", { sourceType: "file", targetExternalId: "b" }),
    from("a", "a-c", { targetExternalId: "c", targetType: "sequence" }),
    from("c", "c-b", { targetExternalId: "b", targetType: "event" }),
  );
  const list = (query: string) => externalIds(`GET /relationships?${query}`);
  assert.deepEqual(await list("sourceExternalId=a"), ["a-b", "a-b as a file", "a-c"]);
  assert.deepEqual(await list("sourceExternalId=a&sourceType=Asset"), ["a-b", "a-c"]);
  assert.deepEqual(await list("targetExternalId=b"), ["a-b", "a-b as a file", "c-b"]);
  assert.deepEqual(await list("targetType=SEQUENCE&targetExternalId=c"), ["a-c"]);
  assert.deepEqual(await list("sourceExternalId=c&targetExternalId=c"), []);
  const pages: number[][] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const query: string = cursor && `&cursor=${cursor}`;
    const page = await server.ask(`GET /relationships?sourceExternalId=a&limit=2${query}`);
    pages.push(idsOf(page));
    cursor = page.nextCursor;
  }
  const [first, second, third] = items.map((item) => item["id"]);
  assert.deepEqual(pages, [[first, second], [third]]);
});

test("those of an asset are found by its id at either end, unless it is hidden", async () => {
  const { items: assets } = await server.ask.v06("POST /assets", {
    items: [
      { name: "with an id", externalId: "ext-1" },
      { name: "with a source", source: "erp", sourceId: "ext-2" },
      { name: "nameless" },
    ],
  });
  const [first, second, nameless] = assets.map(({ id }) => id as number) as [number, number, number];
  await create(
    flow("from it", { sourceExternalId: "ext-1" }),
    flow("to it", { targetExternalId: "ext-1" }),
    flow("to a file of its name", { targetType: "file", targetExternalId: "ext-1" }),
    flow("by source", { sourceExternalId: "ext-2" }),
  );
  const of = (query: string) => externalIds(`GET /relationships?${query}`);
  assert.deepEqual(await of(`assetId=${first}`), ["from it", "to it"]);
  assert.deepEqual(await of(`assetId=${first}&targetExternalId=ext-1`), ["to it"]);
  assert.deepEqual(await of(`assetId=${second}`), ["by source"]);
  for (const id of [nameless, 5]) assert.deepEqual(await of(`assetId=${id}`), []);
  assert.equal((await server.ask("GET /relationships?assetId=pump")).status, 400);
  const page = await server.ask(`GET /relationships?assetId=${first}&limit=1`);
  const next = await externalIds(`GET /relationships?assetId=${first}&limit=1&cursor=${page.nextCursor}`);
  assert.deepEqual(next, ["to it"]);

  const capabilities: Capability[] = [
    { acl: "relationshipsAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "assetsAcl", actions: ["READ"], scope: { kind: "subtrees", assetIds: [second] } },
  ];
  const [projectId] = await projectIds(server.app.services);
  const hidden = contextWith(server.app.services, capabilities, projectId);
  const everyLink = { filter: everything, page: { limit: 10 } };
  assert.deepEqual((await listRelationships(hidden, { ...everyLink, assetId: first })).items, []);
  assert.equal((await listRelationships(hidden, { ...everyLink, assetId: second })).items.length, 1);
});

test("they are deleted one by one or together", async () => {
  await create(flow("gone 1"), flow("gone 2"), flow("gone 3"), flow("stays"));
  assert.equal((await server.ask("DELETE /relationships/gone%201")).text, "{}");
  const { text } = await server.ask("POST /relationships/delete", {
    items: ["gone 2", { externalId: "gone 3" }],
  });
  assert.equal(text, "{}");
  const left = await externalIds("GET /relationships");
  assert.deepEqual(
    left.filter((one) => /^gone|^stays/.test(one as string)),
    ["stays"],
  );
  assert.equal((await create(flow("gone 1"))).status, 200);
});

const { sourceType: _, ...withoutSourceType } = flow("x");
const aKind = "one of asset, timeSeries, event, file, sequence";
const { timeMsMax } = limits;
const taken = (...all: string[]) => ({
  status: 409,
  message: `A relationship has this externalId already: ${all.join(", ")}`,
  members: { duplicates: all.map((externalId) => ({ externalId })) },
});
const unknown = (...all: string[]) => ({
  message: `No relationship has this externalId: ${all.join(", ")}`,
  members: { notFound: all },
});

const creations: readonly Refused[] = [
  { body: items(), message: `${invalid("items")} at least 1 items but got 0` },
  {
    body: items(withoutSourceType),
    message: "Missing required field - items[0].sourceType",
    members: { missingFields: ["items[0].sourceType"] },
  },
  {
    body: items(flow("x"), flow("y", { targetType: "pump" })),
    message: `${invalid("items[1].targetType")} ${aKind} but got "pump"`,
  },
  {
    body: items(flow("x", { id: 5 })),
    message: `${invalid("items[0].id")} none, as the service assigns ids, but got 5`,
  },
  { body: items(flow("")), message: `${invalid("items[0].externalId")} at least 1 characters but got 0` },
  {
    body: items(flow("x", { confidence: 1.5 })),
    message: `${invalid("items[0].confidence")} a value <= 1 but got 1.5`,
  },
  {
    body: items(flow("x", { startTime: 5, endTime: 4 })),
    message: `${invalid("items[0].endTime")} a time not before startTime 5 but got 4`,
  },
  {
    body: items(flow("x", { startTime: timeMsMax + 1 })),
    message: `${invalid("items[0].startTime")} a value <= ${timeMsMax} but got ${timeMsMax + 1}`,
  },
  {
    body: items(flow("x", { labels: Array(limits.labelsMax + 1).fill("l") })),
    message: "items[0].labels may hold at most 100 items but holds 101",
  },
  { body: items(flow("x"), flow("held")), ...taken("held") },
  { body: items(flow("x"), flow("y"), flow("x")), ...taken("x") },
];

const others: readonly RefusedRequest[] = [
  ...["POST /relationships/byids", "POST /relationships/delete"].flatMap((ask) => [
    { ask, body: items("held", "x", { externalId: "y" }), ...unknown("x", "y") },
    {
      ask,
      body: items("held", { externalId: "held" }),
      message: "items names the same externalId more than once: held",
      members: { notFound: ["held"] },
    },
    { ask, body: items(), message: `${invalid("items")} at least 1 items but got 0` },
    { ask, body: items(5), message: `${invalid("items[0]")} string or an object but got 5` },
  ]),
  { ask: "GET /relationships/x", ...unknown("x"), status: 404 },
  { ask: "DELETE /relationships/x", ...unknown("x"), status: 404 },
  {
    ask: "GET /relationships?sourceType=pump",
    message: `${invalid("sourceType")} ${aKind} but got pump`,
  },
  { ask: "GET /relationships?limit=-1", message: `${invalid("limit")} an integer of at least 0 but got -1` },
  {
    ask: "GET /relationships?cursor=x",
    message: `${invalid("cursor")} a cursor returned by this same query`,
  },
];

test("what cannot be is refused, and nothing changes", async () => {
  await create(flow("held"));
  const stored = async () => (await server.ask("GET /relationships")).text;
  const refuses = await refusing({ server, stored });
  for (const refused of creations) await refuses("POST /relationships", refused);
  for (const { ask, ...refused } of others) await refuses(ask, refused);
});

test("who may only read does not write, and who may nothing sees nothing", async () => {
  const [created] = (await create(flow("right"))).items;
  const contextOf = (...actions: readonly "READ"[]) =>
    contextWith(server.app.services, [{ acl: "relationshipsAcl", actions, scope: { kind: "all" } }]);
  const forbidden = refusal("forbidden");
  const reader = contextOf("READ");
  await assert.rejects(createRelationships(reader, []), forbidden);
  await assert.rejects(deleteRelationships(reader, ["right"]), forbidden);
  const everyLink = { filter: everything, page: { limit: 1 } };
  await assert.rejects(listRelationships(contextOf(), everyLink), forbidden);
  await assert.rejects(getRelationship(contextOf(), "right"), forbidden);
  assert.deepEqual((await server.ask("GET /relationships/right")).items, [created]);
});
