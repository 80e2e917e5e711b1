// Reads of datapoints that stop at their limit: following `Link` gives every row once, and all of them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type AskFunction,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";

const publicUrl = "https://plant.example/data";
const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 1);
/** Ends within the data, so that a point comes after it. */
const endMs = startMs + 900 * 600_000 + 1;

let server: TestServer;
let nowMs = Date.UTC(2026, 5, 1);
let pumpId: number;
let valveId: number;

const walk = (count: number, stepMs: number) =>
  Array.from({ length: count }, (_, i) => ({
    timestamp: startMs + i * stepMs + (i % 7),
    value: Math.round(Math.sin(i / 9) * 1e4 + 5e4) / 100,
  }));

before(async () => {
  server = await startTestServer({ baseUrl: publicUrl, system: { ...realSystem, nowMs: () => nowMs } });
  await server.ask("POST /timeseries", {
    items: [{ name: "pump 1" }, { name: "valve" }, { name: "state", isString: true }, { name: "long" }],
  });
  await server.ask("POST /timeseries/data/pump%201", { items: walk(1_000, 600_000) });
  await server.ask("POST /timeseries/data/valve", { items: walk(300, 1_700_000) });
  const states = walk(600, 60_000).map(({ timestamp }, i) => ({ timestamp, value: `state ${i}` }));
  await server.ask("POST /timeseries/data/state", { items: states });
  for (const [i, items] of [walk(100_000, 1000), walk(101_300, 1000).slice(100_000)].entries())
    assert.equal((await server.ask("POST /timeseries/data/long", { items })).status, 200, String(i));
  const { items } = await server.ask.v06("GET /timeseries");
  const idOf = (name: string) => items.find((one) => one["name"] === name)!["id"] as number;
  [pumpId, valveId] = [idOf("pump 1"), idOf("valve")];
});
after(() => server.close());

function nextOf({ headers }: TestResponse): string | undefined {
  const link = headers.get("link");
  if (link === null) return undefined;
  const [, address] = /^<([^>]+)>; rel="next"$/.exec(link)!;
  assert.ok(address!.startsWith(`${publicUrl}/api/`), link);
  return address!.slice(publicUrl.length);
}

interface Request {
  readonly request: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ask?: AskFunction;
}

/** The response and all that its links lead to. */
async function follow({ request, body, headers, ask = server.ask }: Request): Promise<TestResponse[]> {
  const method = request.slice(0, request.indexOf(" "));
  const responses = [await ask(request, body, headers)];
  for (let next = nextOf(responses[0]!); next !== undefined; next = nextOf(responses.at(-1)!)) {
    assert.ok(responses.length < 2_000, "the links end");
    responses.push(await server.ask.root(`${method} ${next}`, body, headers));
  }
  for (const response of responses) assert.equal(response.status, 200, response.text.slice(0, 300));
  return responses;
}

type Row = Readonly<Record<string, unknown>>;

const rowsOf = (response: TestResponse, item = 0) => response.items[item]!["datapoints"] as readonly Row[];

/** Follows a read with a small limit and compares it with the same read with the largest one. */
async function checkRead(request: string, limit: number | undefined, ask: AskFunction): Promise<void> {
  const whole = await ask(`${request}&limit=10000`);
  assert.equal(nextOf(whole), undefined, "nothing is cut");
  const responses = await follow({
    request: limit === undefined ? request : `${request}&limit=${limit}`,
    ask,
  });
  const size = limit ?? limits.pointsPerReadDefault;
  for (const response of responses.slice(0, -1)) assert.equal(rowsOf(response).length, size);
  assert.ok(responses.length > 1, `${request} is cut`);
  assert.ok(rowsOf(responses.at(-1)!).length > 0, "the last page has rows");
  assert.deepEqual(
    responses.flatMap((response) => rowsOf(response)),
    rowsOf(whole),
    request,
  );
}

test("reads of one series, in every version, raw and aggregated, by default and with a limit", async () => {
  const { v04, v05, v06 } = server.ask;
  const range = `start=${startMs}&end=${endMs}`;
  for (const limit of [undefined, 37]) {
    await checkRead(`GET /timeseries/data/pump%201?${range}`, limit, v04);
    await checkRead(`GET /timeseries/data/pump%201?${range}`, limit, v05);
    await checkRead(`GET /timeseries/${pumpId}/data?${range}`, limit, v06);
    await checkRead(`GET /timeseries/data/state?${range}`, limit, v05);
    const aggregates = "aggregates=average&aggregates=interpolation,count&granularity=1h";
    await checkRead(`GET /timeseries/data/pump%201?${range}&${aggregates}`, limit, v05);
  }
  const sevenHours = `start=${startMs + 1}&end=${endMs}&aggregates=avg,tv,cv&granularity=7h`;
  await checkRead(`GET /timeseries/${pumpId}/data?${sevenHours}`, 4, v06);
});

test("outside points come once, on whichever page they fall", async () => {
  const range = `start=${startMs + 1}&end=${endMs}&includeOutsidePoints=true`;
  const count = rowsOf(await server.ask(`GET /timeseries/data/pump%201?${range}&limit=10000`)).length;
  assert.equal(count, 901, "one point on either side");
  for (const limit of [1, 100, count - 1])
    await checkRead(`GET /timeseries/data/pump%201?${range}`, limit, server.ask);
});

test("a lowered limit is a cut like any other", async () => {
  const request = "GET /timeseries/data/long?limit=5000000";
  const responses = await follow({ request });
  assert.deepEqual(
    responses.map((response) => rowsOf(response).length),
    [limits.pointsPerReadMax, 1_300],
  );
  assert.deepEqual(
    responses.flatMap((response) => rowsOf(response)),
    walk(101_300, 1000),
  );
});

test("protobuf is linked as JSON is", async () => {
  const headers = { accept: "application/protobuf" };
  const request = "GET /timeseries/data/valve";
  const [pages, whole] = [
    await follow({ request, headers }),
    await follow({ request: `${request}?limit=300`, headers }),
  ];
  assert.deepEqual([pages.length, whole.length], [3, 1]);
  assert.equal(pages[0]!.headers.get("content-type"), "application/protobuf");
  // A message is a tag, a length of two bytes and the points.
  const pointsIn = ({ bytes }: TestResponse) => bytes.subarray(3);
  assert.deepEqual(Buffer.concat(pages.map(pointsIn)), pointsIn(whole[0]!));
});

test("a data frame continues with the same body, as CSV", async () => {
  const body = {
    items: [{ name: "pump 1" }, { name: "valve", aggregates: ["interpolation", "max"] }],
    aggregates: ["avg", "count"],
    granularity: "3h",
    start: startMs - hourMs,
    end: endMs,
  };
  const request = "POST /timeseries/dataframe?escapeFormulas=true";
  const linesOf = ({ text }: TestResponse) => text.split("\n").slice(1, -1);
  const [whole] = await follow({ request, body: { ...body, limit: 10_000 } });
  for (const limit of [undefined, 1, 13]) {
    const responses = await follow({ request, body: { ...body, limit } });
    for (const response of responses.slice(0, -1)) assert.equal(linesOf(response).length, limit ?? 100);
    for (const { text } of responses) assert.match(text, /^timestamp,pump 1\|average,/);
    if (limit !== undefined) assert.ok(responses.length > 1);
    assert.deepEqual(responses.flatMap(linesOf), linesOf(whole!));
  }
});

const queryItems = () => [
  { name: "pump 1" },
  { name: "pump 1", includeOutsidePoints: true, start: startMs + 5, end: endMs },
  { name: "valve", aggregates: "avg,step", granularity: "5h" },
  { name: "state", limit: 41 },
  { name: "pump 1", limit: 0 },
  {
    name: "sum",
    function: "[a] + [b] / 2",
    aliases: [
      { alias: "a", id: pumpId, aggregate: "average", granularity: "7h" },
      { alias: "b", id: valveId },
    ],
  },
  { name: "valve", limit: 1_000 },
];

test("a query of many series continues where each of them stopped", async () => {
  const body = { items: queryItems(), start: startMs + 1, end: endMs };
  const request = "POST /timeseries/dataquery";
  const unlimited = body.items.map((item) => (item.limit === 0 ? item : { ...item, limit: 10_000 }));
  const [whole] = await follow({ request, body: { ...body, items: unlimited } });
  const responses = await follow({ request, body: { ...body, limit: 90 } });
  assert.ok(responses.length > 5);
  for (const [i, { name }] of body.items.entries()) {
    for (const response of responses) assert.equal(response.items[i]!["name"], name);
    const rows = responses.flatMap((response) => rowsOf(response, i));
    assert.deepEqual(rows, rowsOf(whole!, i), `${i}: ${name}`);
  }
  assert.ok(rowsOf(whole!, 5).length > 200, "the function has results");
});

test("a response that is too long for memory has its link as well", async () => {
  const aggregates = "avg,max,min,count,sum,int,step,cv,dv,tv";
  const long = { name: "long", limit: 60_000 };
  const buckets = { name: "long", aggregates, granularity: "20s", limit: 5_000 };
  const body = { items: [long, long, buckets, long], end: startMs + 101_300_000 };
  const responses = await follow({ request: "POST /timeseries/dataquery", body });
  assert.ok(responses[0]!.bytes.length > limits.datapointsBufferedBytesMax);
  const all = walk(101_300, 1000);
  for (const i of [0, 1, 3])
    assert.deepEqual(
      responses.flatMap((response) => rowsOf(response, i)),
      all,
    );
  const found = responses.flatMap((response) => rowsOf(response, 2));
  assert.equal(found.length, 5_065);
  assert.equal(
    found.reduce((sum, bucket) => sum + Number(bucket["count"]), 0),
    all.length,
  );
});

test("the end of a read stays where it was, and relative times count from the first response", async () => {
  const request = "GET /timeseries/data/valve?start=300d-ago&limit=200";
  const [first] = [await server.ask(request)];
  nowMs += 86_400_000;
  await server.ask("POST /timeseries/data/valve", { items: [{ timestamp: nowMs - 1, value: 7 }] });
  const rest = await server.ask.root(`GET ${nextOf(first!)}`);
  assert.deepEqual(rowsOf(rest), walk(300, 1_700_000).slice(200));
  assert.equal(nextOf(rest), undefined);
  await server.ask(`DELETE /timeseries/data/valve/deletesingle?timestamp=${nowMs - 1}`);
});

test("no link when nothing is left, and a cursor serves its own request only", async () => {
  for (const query of ["limit=0", "limit=300", "end=0"])
    assert.equal(nextOf(await server.ask(`GET /timeseries/data/valve?${query}`)), undefined, query);
  const next = nextOf(await server.ask("GET /timeseries/data/valve?limit=10"))!;
  const cursor = new URLSearchParams(next.split("?")[1]).get("cursor")!;
  for (const request of [`valve?limit=11&cursor=${cursor}`, `pump%201?limit=10&cursor=${cursor}`]) {
    const { status, error } = await server.ask(`GET /timeseries/data/${request}`);
    assert.deepEqual([status, error!.message.includes("cursor")], [400, true]);
  }
  const body = { items: [{ name: "valve" }] };
  const other = await server.ask(`POST /timeseries/dataquery?cursor=${cursor}`, body);
  assert.equal(other.status, 400);
});

test("scripts of other origins may read the link", async () => {
  const response = await server.ask("GET /timeseries/data/valve", undefined, {
    origin: "https://screen.example",
  });
  assert.match(response.headers.get("access-control-expose-headers")!, /\bLink\b.*\bX-Next-Cursor\b/);
});
