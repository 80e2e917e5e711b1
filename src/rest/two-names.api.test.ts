// A request may name one thing in two ways. Equal values are accepted. Different ones are refused with both
// names, because one of them would have no effect.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../test/support/server.ts";

let server: TestServer;
let [a, b, curve] = [0, 0, 0];
const points = [{ timestamp: 1, value: 1 }];

before(async () => {
  server = await startTestServer();
  [a, b] = idsOf(await server.ask.v06("POST /timeseries", { items: [{ name: "a" }, { name: "b" }] })) as [
    number,
    number,
  ];
  const columns = [{ externalId: "x" }, { externalId: "y" }].map((one) => ({ ...one, valueType: "DOUBLE" }));
  [curve] = idsOf(await server.ask.v06("POST /sequences", { items: [{ name: "curve", columns }] })) as [
    number,
  ];
});
after(() => server.close());

const expected = "Invalid field - ";

async function refuses(ask: string, body: unknown, message: string, send = server.ask.v06): Promise<void> {
  const response = await send(ask, body);
  assert.deepEqual(
    [response.status, response.error?.message],
    [400, message],
    `${ask} ${JSON.stringify(body)}`,
  );
}

async function accepts(ask: string, body?: unknown, send = server.ask.v06): Promise<void> {
  const response = await send(ask, body);
  assert.ok(response.status < 300, `${ask} ${response.text}`);
}

const buckets = { aggregates: ["average"], granularity: "1h" };

test("the name of one series beside the id of another is refused, in inserts and reads", async () => {
  for (const [ask, more, common] of [
    ["POST /timeseries/data", { datapoints: points }, {}],
    ["POST /timeseries/dataquery", {}, {}],
    ["POST /timeseries/dataframe", {}, buckets],
    ["POST /timeseries/latest", {}, {}],
  ] as const) {
    const of = (...keys: object[]) => ({ items: keys.map((key) => ({ ...key, ...more })), ...common });
    const other = `${expected}items[1].id - expected ${a}, the id of the series named a, but got ${b}`;
    await accepts(ask, of({ name: "a", id: a }, { tagId: "a", name: "a" }));
    await refuses(ask, of({ name: "b", id: b }, { name: "a", id: b }), other);
    await refuses(ask, of({ name: "b" }, { tagId: "a", id: b }), other);
    const names = 'items[0].tagId - expected the same value as in items[0].name ("a") but got "b"';
    await refuses(ask, of({ name: "a", tagId: "b" }), expected + names);
  }
  const { items } = await server.ask("GET /timeseries/data/b");
  assert.deepEqual(items[0]!["datapoints"], [], "a refused insert writes nothing");
  const spec = { timeSeries: [{ name: "a", id: b }], start: 0, end: 10 };
  const at = "timeSeriesDataSpec[0].timeSeries[0].id";
  const wrong = `${expected}${at} - expected ${a}, the id of the series named a, but got ${b}`;
  await refuses("POST /analytics/patternsearch/search", { timeSeriesDataSpec: [spec] }, wrong);
});

test("beside a function, a name is that of the result, and the id has none to contradict", async () => {
  await accepts("POST /timeseries/dataquery", { items: [{ name: "a", id: b, function: `[${a}]` }] });
});

test("different aggregates under their two names are refused", async () => {
  const query = { items: [{ name: "a" }], granularity: "1h", aggregates: "avg,max" };
  await accepts("POST /timeseries/dataquery", { ...query, aggregateFunctions: ["average", "max"] });
  const other =
    'aggregateFunctions - expected the same value as in aggregates (["average","max"]) but got ["min"]';
  await refuses("POST /timeseries/dataquery", { ...query, aggregateFunctions: "min" }, expected + other);
});

test("an overwritten series may be sent with its id, not with that of another", async () => {
  await accepts("PUT /timeseries", { items: [{ name: "a", id: a, unit: "bar" }] }, server.ask);
  await accepts("PUT /timeseries", { items: [{ tagId: "a", id: a, unit: "bar" }] }, server.ask.v04);
  const other = `items[0].id - expected ${a}, the id of the series named a, but got ${b}`;
  await refuses("PUT /timeseries", { items: [{ name: "a", id: b }] }, expected + other, server.ask);
});

test("events: different subtypes and different metadata are refused, in creations and changes", async () => {
  const subtypes = { subtype: "s", subType: "s" };
  const metadata = { metadata: { n: "1" }, additionalData: { n: 1 } };
  const created = await server.ask.v06("POST /events", { items: [{ ...subtypes, ...metadata }] });
  const [id] = idsOf(created) as [number];
  assert.deepEqual((await server.ask.v04(`GET /events/${id}`)).items[0]!["additionalData"], { n: 1 });
  const subtype = 'subType - expected the same value as in items[0].subtype ("s") but got "t"';
  const pairs =
    'additionalData - expected the same value as in items[0].metadata ({"n":"1"}) but got {"n":"2"}';
  const [wrongSubtypes, wrongPairs] = [
    { subtype: "s", subType: "t" },
    { metadata: { n: "1" }, additionalData: { n: 2 } },
  ];
  for (const [wrong, message] of [
    [wrongSubtypes, subtype],
    [wrongPairs, pairs],
  ] as const) {
    await refuses("POST /events", { items: [wrong] }, `${expected}items[0].${message}`);
    await refuses(
      "POST /events/update",
      { items: [{ id, ...wrong }] },
      `${expected}items[0].${message}`,
      server.ask,
    );
  }
  const change = { subtype: { set: "s" }, subType: { setNull: true } };
  const other = 'subType - expected the same value as in subtype ({"set":"s"}) but got {"setNull":true}';
  await refuses(`POST /events/${id}/update`, change, expected + other);
  const cleared = { metadata: { set: { n: "1" } }, additionalData: { setNull: true } };
  const none = 'additionalData - expected the same value as in metadata ({"n":"1"}) but got null';
  await refuses(`POST /events/${id}/update`, cleared, expected + none);
});

test("files: different types in one filter are refused", async () => {
  for (const path of ["/files", "/files/search"]) {
    await accepts(`GET ${path}?type=pdf&fileType=pdf`);
    const other = 'fileType - expected the same value as in type ("pdf") but got "txt"';
    await refuses(`GET ${path}?type=pdf&fileType=txt`, undefined, expected + other);
  }
});

test("sequences: the id of one column beside the external id of another is refused", async () => {
  const [sequence] = (await server.ask.v06(`GET /sequences/${curve}`)).items;
  const [x] = sequence!["columns"] as { readonly id: number }[];
  const read = `POST /sequences/${curve}/getdata`;
  await accepts(read, { items: [{ columns: [{ id: x!.id, externalId: "x" }] }] });
  const other = `items[0].columns[0].externalId - expected "x", as column ${x!.id} has, but got "y"`;
  await refuses(read, { items: [{ columns: [{ id: x!.id, externalId: "y" }] }] }, expected + other);
});
