// Every refusal of datapoint operations: exact status, message and members, and proof that nothing
// changed.
import { after, before, test } from "node:test";
import { type RefusedRequest, refusing } from "../../../test/support/refused-requests.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { aggregateNames } from "../../storage/points.ts";

const nowMs = 1_700_000_000_000;
let server: TestServer;

const stored = [
  { timestamp: 1, value: 1 },
  { timestamp: 2, value: 2 },
];

before(async () => {
  server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
  await server.ask("POST /timeseries", { items: [{ name: "n" }, { name: "t", isString: true }] });
  await server.ask("POST /timeseries/data/n", { items: stored });
  await server.ask("POST /timeseries/data/t", { items: [{ timestamp: 1, value: "one" }] });
});
after(() => server.close());

const all = `start=${limits.timeMsMin}&end=${limits.timeMsMax}`;
const everything = async () =>
  (await Promise.all(["n", "t"].map((name) => server.ask(`GET /timeseries/data/${name}?${all}`)))).map(
    ({ items }) => items,
  );

function refused(title: string, cases: readonly RefusedRequest[]): void {
  test(title, async () => {
    const refuses = await refusing({ server, stored: everything });
    for (const { ask, ...expected } of cases) await refuses(ask, expected);
  });
}

const point = (timestamp: unknown, value: unknown) => ({ timestamp, value });
const good = point(9, 9);
const one = (body: unknown, message: string, more: Partial<RefusedRequest> = {}): RefusedRequest => ({
  ask: "POST /timeseries/data/n",
  body,
  message,
  ...more,
});
const items = (...points: unknown[]) => ({ items: [good, ...points] });
const many = (body: unknown, message: string, more: Partial<RefusedRequest> = {}): RefusedRequest =>
  one(body, message, { ask: "POST /timeseries/data", ...more });
const times = `milliseconds from ${limits.timeMsMin} to ${limits.timeMsMax}`;
const longest = limits.stringValueLengthMax;
const textKind = "string, as the series has strings";
const numberKind = "number, as the series has numbers";
const valueKind = "a finite number or a string";

refused("inserts whose body is not what it should be", [
  one("", "Missing required field - items", { members: { missingFields: ["items"] } }),
  one('{"items":[', "The body is not valid JSON: it ends too early"),
  one("[]", "Invalid field - body - expected object but got array"),
  one("null", "Invalid field - body - expected object but got null"),
  one({}, "Missing required field - items", { members: { missingFields: ["items"] } }),
  one({ items: {} }, "Invalid field - items - expected array but got object"),
  one({ items: null }, "Missing required field - items", { members: { missingFields: ["items"] } }),
  one(items(5), "Invalid field - items[1] - expected object but got 5"),
  many({ items: [{ name: "n" }] }, "Missing required field - items[0].datapoints", {
    members: { missingFields: ["items[0].datapoints"] },
  }),
  many({ items: [{ datapoints: [good] }] }, "Missing required field - items[0].name", {
    members: { missingFields: ["items[0].name"] },
  }),
  many({ items: [{ name: 5, datapoints: [] }] }, "Invalid field - items[0].name - expected string but got 5"),
  many(
    { items: [{ tagId: {}, datapoints: [] }] },
    "Invalid field - items[0].tagId - expected string but got object",
  ),
  many(
    { items: [{ id: 1.5, datapoints: [] }] },
    "Invalid field - items[0].id - expected an integer but got 1.5",
  ),
]);

refused("points with times that cannot be", [
  one(items({ value: 1 }), "Missing required field - items[1].timestamp", {
    members: { missingFields: ["items[1].timestamp"] },
  }),
  one(items(point(null, 1)), "Missing required field - items[1].timestamp", {
    members: { missingFields: ["items[1].timestamp"] },
  }),
  one(items(point("5", 1)), `Invalid field - items[1].timestamp - expected ${times} but got string`),
  one(items(point(1.5, 1)), `Invalid field - items[1].timestamp - expected ${times} but got 1.5`),
  one(
    items(point(limits.timeMsMax + 1, 1)),
    `Invalid field - items[1].timestamp - expected ${times} but got ${limits.timeMsMax + 1}`,
  ),
  one(
    items(point(limits.timeMsMin - 1, 1)),
    `Invalid field - items[1].timestamp - expected ${times} but got ${limits.timeMsMin - 1}`,
  ),
]);

refused("values that are none, or not of the series' kind", [
  one(items({ timestamp: 5 }), "Missing required field - items[1].value", {
    members: { missingFields: ["items[1].value"] },
  }),
  one(items(point(5, null)), `Invalid field - items[1].value - expected ${valueKind} but got null`),
  one(items(point(5, true)), `Invalid field - items[1].value - expected ${valueKind} but got boolean`),
  one(items(point(5, [1])), `Invalid field - items[1].value - expected ${valueKind} but got array`),
  one(
    '{"items":[{"timestamp":1,"value":1e999}]}',
    `Invalid field - items[0].value - expected ${valueKind} but got Infinity`,
  ),
  one('{"items":[{"timestamp":1,"value":NaN}]}', 'The body is not valid JSON: unexpected "N" at position 33'),
  one(items(point(5, "5")), `Invalid field - items[1].value - expected ${numberKind} but got string`),
  one(
    { items: [point(5, "a"), point(6, "b")] },
    `Invalid field - items[0].value - expected ${numberKind} but got string`,
  ),
  one(items(point(5, 5)), `Invalid field - items[0].value - expected ${textKind} but got number`, {
    ask: "POST /timeseries/data/t",
  }),
  one(
    { items: [point(5, "a"), point(6, 6)] },
    `Invalid field - items[1].value - expected ${textKind} but got number`,
    {
      ask: "POST /timeseries/data/t",
    },
  ),
  one(
    { items: [point(5, "x".repeat(longest + 1))] },
    `Invalid field - items[0].value - expected at most ${longest} characters but got ${longest + 1}`,
    {
      ask: "POST /timeseries/data/t",
    },
  ),
  one(
    '{"items":[{"timestamp":5,"value":"\\ud800"}]}',
    "Invalid field - items[0].value - expected whole characters but got half a surrogate pair",
    {
      ask: "POST /timeseries/data/t",
    },
  ),
  many(
    {
      items: [
        { name: "n", datapoints: [good] },
        { name: "t", datapoints: [point(5, "x"), good] },
      ],
    },
    `Invalid field - items[1].datapoints[1].value - expected ${textKind} but got number`,
  ),
]);

refused("inserts that are too large", [
  one(
    { items: Array.from({ length: 100_001 }, (_, i) => point(i, 1)) },
    "items may hold at most 100000 items but holds 100001",
  ),
  // The decoder stops before the end, so it does not know how many there are.
  one(
    { items: Array.from({ length: 200_000 }, (_, i) => point(i, 1)) },
    "items may hold at most 100000 items but holds more",
  ),
  many(
    {
      items: [0, 1].map(() => ({
        name: "n",
        datapoints: Array.from({ length: 50_001 }, (_, i) => point(i, 1)),
      })),
    },
    "items may hold at most 100000 items but holds 100002",
  ),
]);

const unknown = (ask: string, key: string | number, body?: unknown): RefusedRequest => ({
  ask,
  body,
  status: 404,
  message: `No such time series: ${key}`,
  members: { notFound: [key] },
});

refused("series that do not exist", [
  unknown("POST /timeseries/data/none", "none", { items: [good] }),
  unknown("POST /timeseries/5/data", 5, { items: [good] }),
  many(
    {
      items: [
        { name: "n", datapoints: [good] },
        { name: "x", datapoints: [good] },
        { name: "y", datapoints: [] },
        { name: "x", datapoints: [] },
      ],
    },
    "No such time series: x, y",
    { status: 404, members: { notFound: ["x", "y"] } },
  ),
  unknown("GET /timeseries/data/none", "none"),
  unknown("GET /timeseries/5/data", 5),
  unknown("GET /timeseries/latest/none", "none"),
  unknown("GET /timeseries/5/latest", 5),
  unknown("POST /timeseries/dataquery", "none", { items: [{ name: "n" }, { name: "none" }] }),
  unknown("POST /timeseries/dataframe", "none", {
    items: [{ name: "none" }],
    aggregates: ["avg"],
    granularity: "d",
  }),
  unknown("DELETE /timeseries/data/none/deletesingle?timestamp=1", "none"),
  unknown("DELETE /timeseries/5/data/deleterange?timestampInclusiveBegin=1&timestampExclusiveEnd=2", 5),
]);

const refusedRead = (query: string, message: string, missing?: string): RefusedRequest => ({
  ask: `GET /timeseries/data/n?${query}`,
  message,
  members: missing ? { missingFields: [missing] } : {},
});
const momentText = "milliseconds since 1970, `now`, or a time ago such as `2h-ago` (units w, d, h, m, s)";
const granularityText =
  "d, h, m or s, or a multiple such as 12h of at most 100000 days; in 0.6 also w, mo or y, " +
  "at most 50000 weeks or 12000 months,";
const aggregateText = `one of ${aggregateNames.join(", ")}`;

refused("reads that ask for what cannot be", [
  refusedRead("start=5&end=4", "Invalid field - start - expected a time not after end (4) but got 5"),
  refusedRead(
    `start=${nowMs + 1}`,
    `Invalid field - start - expected a time not after end (${nowMs}) but got ${nowMs + 1}`,
  ),
  refusedRead("start=yesterday", `Invalid field - start - expected ${momentText} but got yesterday`),
  refusedRead("end=2y-ago", `Invalid field - end - expected ${momentText} but got 2y-ago`),
  refusedRead("limit=-1", "Invalid field - limit - expected an integer of at least 0 but got -1"),
  refusedRead("limit=many", "Invalid field - limit - expected an integer of at least 0 but got many"),
  refusedRead(
    "includeOutsidePoints=maybe",
    "Invalid field - includeOutsidePoints - expected true or false but got maybe",
  ),
  refusedRead("aggregates=avg", "Missing required field - granularity", "granularity"),
  refusedRead("granularity=1h", "Missing required field - aggregates", "aggregates"),
  refusedRead(
    "aggregates=median&granularity=1h",
    `Invalid field - aggregates - expected ${aggregateText} but got median`,
  ),
  ...["30", "dd", "d30", "0d", "1.2d", "1000000d", "60000w"].map((sent) =>
    refusedRead(
      `aggregates=avg&granularity=${sent}`,
      `Invalid field - granularity - expected ${granularityText} but got ${sent}`,
    ),
  ),
  refusedRead(
    "aggregates=avg&granularity=d&includeOutsidePoints=true",
    "Invalid field - includeOutsidePoints - expected false with aggregates but got true",
  ),
  {
    ask: "GET /timeseries/data/t?aggregates=count&granularity=d",
    message: "The time series t has strings, which have no aggregates",
  },
  {
    ask: "GET /timeseries/latest/n?before=then",
    message: `Invalid field - before - expected ${momentText} but got then`,
  },
  {
    ask: "GET /timeseries/x/data",
    message: "Invalid field - id - expected an integer of at least 1 but got x",
  },
]);

test("reads of latest values that cannot be", async () => {
  const refuses = await refusing({ server, versions: ["0.6"], stored: everything });
  const ask = "POST /timeseries/latest";
  const tooMany = Array.from({ length: limits.latestSeriesMax + 1 }, () => ({ name: "n" }));
  await refuses(ask, {
    body: { items: [{ name: "n" }, { name: "none" }, { id: 5 }] },
    message: "No such time series: none, 5",
    ...{ status: 404, members: { notFound: ["none", 5] } },
  });
  await refuses(ask, {
    body: { items: [{ name: "n" }, {}] },
    message: "Missing required field - items[1].name",
    members: { missingFields: ["items[1].name"] },
  });
  await refuses(ask, {
    body: { items: [{ name: "n" }], before: "then" },
    message: `Invalid field - before - expected ${momentText} but got then`,
  });
  await refuses(ask, {
    body: { items: tooMany },
    message: `items may hold at most ${limits.latestSeriesMax} items but holds ${tooMany.length}`,
  });
});

const query = (body: unknown, message: string, members = {}): RefusedRequest => ({
  ask: "POST /timeseries/dataquery",
  body,
  message,
  members,
});
const frame = (body: object, message: string, members = {}): RefusedRequest => ({
  ask: "POST /timeseries/dataframe",
  body: { items: [{ name: "n" }], aggregates: ["avg"], granularity: "d", ...body },
  message,
  members,
});

refused("queries and frames that ask for what cannot be", [
  query({}, "Missing required field - items", { missingFields: ["items"] }),
  query({ items: [{}] }, "Missing required field - items[0].name", { missingFields: ["items[0].name"] }),
  query({ items: Array(101).fill({ name: "n" }) }, "items may hold at most 100 items but holds 101"),
  query(
    { items: [{ name: "n", limit: -1 }] },
    "Invalid field - items[0].limit - expected a value >= 0 but got -1",
  ),
  query(
    { items: [{ name: "n", start: 5 }], end: 4 },
    "Invalid field - items[0].start - expected a time not after items[0].end (4) but got 5",
  ),
  query(
    { items: [{ name: "n", start: "x" }] },
    `Invalid field - items[0].start - expected ${momentText} but got x`,
  ),
  query({ items: [{ name: "n", aggregates: "avg" }] }, "Missing required field - items[0].granularity", {
    missingFields: ["items[0].granularity"],
  }),
  query(
    { items: [{ name: "n", aggregates: ["avg", "x"] }], granularity: "d" },
    `Invalid field - items[0].aggregates - expected ${aggregateText} but got x`,
  ),
  query({ items: [{ name: "n" }], granularity: "d" }, "Missing required field - items[0].aggregates", {
    missingFields: ["items[0].aggregates"],
  }),
  query(
    { items: [{ name: "n" }, { name: "t" }], aggregates: "avg", granularity: "d" },
    "The time series t has strings, which have no aggregates",
  ),
  frame({ granularity: undefined }, "Missing required field - granularity", {
    missingFields: ["granularity"],
  }),
  frame({ aggregates: [] }, "Missing required field - aggregates", { missingFields: ["aggregates"] }),
  frame({ granularity: "1f" }, `Invalid field - granularity - expected ${granularityText} but got 1f`),
  frame(
    { granularity: "1w" },
    "Invalid field - granularity - expected weeks, months and time zones in version 0.6 only but got 0.5",
  ),
  frame({ start: 2, end: 1 }, "Invalid field - start - expected a time not after end (1) but got 2"),
  frame({ items: [{ name: "t" }] }, "The time series t has strings, which have no aggregates"),
  frame(
    { aggregates: Array(1001).fill("avg") },
    "items and aggregates: 1001 columns were sent, one for each aggregate of each of 1 series; " +
      "a data frame may have at most 1000",
  ),
]);

const removal = (path: string, message: string, missing?: string): RefusedRequest => ({
  ask: `DELETE /timeseries/data/n/${path}`,
  message,
  members: missing ? { missingFields: [missing] } : {},
});

refused("removals that do not say what", [
  removal("deletesingle", "Missing required field - timestamp", "timestamp"),
  removal("deletesingle?timestamp=x", `Invalid field - timestamp - expected ${momentText} but got x`),
  removal(
    "deleterange?timestampInclusiveBegin=1",
    "Missing required field - timestampExclusiveEnd",
    "timestampExclusiveEnd",
  ),
  removal(
    "deleterange?timestampExclusiveEnd=5",
    "Missing required field - timestampInclusiveBegin",
    "timestampInclusiveBegin",
  ),
  removal(
    "deleterange?timestampInclusiveBegin=2&timestampExclusiveEnd=1",
    "Invalid field - timestampInclusiveBegin - expected a time not after timestampExclusiveEnd (1) but got 2",
  ),
]);

refused("messages that are none", [
  one(
    Buffer.from([0x12, 0x05, 0x0a]),
    "The body is not a valid protobuf message: it ends in the middle of a field",
    {
      headers: { "content-type": "application/protobuf" },
    },
  ),
  one(
    Buffer.from([0x12, 0x0b, 0x0a, 0x09, 0x11, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f]),
    "Invalid field - series 0, point 0, value - expected a finite number but got NaN",
    {
      headers: { "content-type": "application/protobuf" },
    },
  ),
]);
