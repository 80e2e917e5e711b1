// The limits of an API key: requests, datapoints and bytes of one second, over every protocol.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import type { KeyLimits } from "../../access/key-limits.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";

/** The part of the monotonic clock that has not passed in reality. */
let aheadMs = 0;
let server: TestServer;
before(async () => {
  const monotonicMs = () => realSystem.monotonicMs() + aheadMs;
  server = await startTestServer({ system: { ...realSystem, monotonicMs } });
  await server.ask("POST /timeseries", { items: [{ name: "flow" }] });
  const datapoints = Array.from({ length: 1_000 }, (_, i) => ({ timestamp: i + 1, value: i }));
  await server.ask("POST /timeseries/data/flow", { items: datapoints });
});
after(() => server.close());

const project = () => `/api/0.6/projects/${server.project}`;
let count = 0;

/** A key of a new account that may do everything, and the client that uses it. */
async function limitedKey(keyLimits: KeyLimits) {
  const capabilities = ["timeSeriesAcl", "assetsAcl"].map((acl) => ({
    [acl]: { actions: ["READ", "WRITE"], scope: { all: {} } },
  }));
  capabilities.push({ apikeysAcl: { actions: ["LIST", "CREATE", "DELETE"], scope: { all: {} } } });
  const groups = idsOf(await server.ask("POST /groups", { items: [{ name: "all", capabilities }] }));
  const user = { uniqueName: `dashboard ${++count}`, groups };
  const [userId] = idsOf(await server.ask("POST /users", { items: [user] }));
  const { items } = await server.ask("POST /apikeys", { items: [{ userId, limits: keyLimits }] });
  const { value, id, limits: shown } = items[0] as { value: string; id: number; limits: KeyLimits };
  assert.deepEqual(shown, keyLimits);
  const ask = (methodAndPath: string, body?: unknown) =>
    server.ask(methodAndPath, body, { "api-key": value });
  return { id, value, userId: userId!, ask };
}

/** Sends the requests at once; returns how many had each status. */
async function statuses(count: number, request: () => Promise<{ readonly status: number }>) {
  const all = await Promise.all(Array.from({ length: count }, request));
  const counts = Object.groupBy(all, ({ status }) => status);
  return Object.fromEntries(Object.entries(counts).map(([status, group]) => [status, group!.length]));
}

test("requests beyond those of one second wait up to a second, and more are refused", async () => {
  const { ask } = await limitedKey({ requestsPerSecond: 10 });
  const startMs = performance.now();
  const counts = await statuses(40, () => ask("GET /timeseries?limit=1"));
  const tookMs = performance.now() - startMs;
  // Ten at once, and ten for each second of the whole.
  assert.ok(
    counts[200]! >= 20 && counts[200]! <= 11 + tookMs / 100,
    `${JSON.stringify(counts)} in ${tookMs} ms`,
  );
  assert.equal(counts[429] ?? 0, 40 - counts[200]!);
  assert.ok(tookMs > limits.keyLimitWaitMsMax * 0.8, `${tookMs} ms`);
  assert.equal((await ask("GET /timeseries?limit=1")).status, 200, "it waits again");
});

test("a request that uses much is served whole, and the next ones wait until it is made up for", async () => {
  const { ask } = await limitedKey({ pointsPerSecond: 100 });
  const read = await ask("GET /timeseries/data/flow?limit=1000&start=0");
  assert.ok(read.text.includes("999"), "the last point is there");
  const refused = await ask("GET /timeseries/data/flow?limit=1");
  assert.equal(refused.status, 429);
  const seconds = Number(refused.headers.get("retry-after"));
  assert.ok(seconds > 0 && seconds <= 9, `${seconds} s`);
  assert.equal(
    refused.error!.message,
    `The limit of this API key is 100 points a second; try again in ${seconds} s`,
  );
  assert.equal((await ask("GET /assets")).status, 429, "also requests that read no points");
  aheadMs += 9_000;
  assert.equal((await ask("GET /timeseries/data/flow?limit=1")).status, 200);
});

test("written points, aggregates and latest points count as well", async () => {
  const uses = {
    "POST /timeseries/data/flow": Array.from({ length: 300 }, (_, i) => ({ timestamp: i + 1, value: i })),
    "GET /timeseries/data/flow?aggregates=max&granularity=1s&start=0&end=300000&limit=300": undefined,
  };
  await server.ask("POST /timeseries/data/flow", {
    items: Array.from({ length: 300 }, (_, i) => ({ timestamp: i * 1_000, value: i })),
  });
  for (const [request, items] of Object.entries(uses)) {
    const { ask } = await limitedKey({ pointsPerSecond: 10 });
    assert.equal((await ask(request, items && { items })).status, 200);
    const seconds = Number((await ask("GET /assets")).headers.get("retry-after"));
    assert.ok(seconds > 0 && seconds <= 29, `${request}: ${seconds} s`);
  }
  const { ask } = await limitedKey({ pointsPerSecond: 1 });
  for (const status of [200, 200]) assert.equal((await ask("GET /timeseries/latest/flow")).status, status);
});

test("bytes of bodies and of responses count", async () => {
  const items = Array.from({ length: 200 }, (_, i) => ({ name: `asset ${i}`, description: "x".repeat(500) }));
  const { ask } = await limitedKey({ bytesPerSecond: 10_000 });
  assert.equal((await ask("POST /assets", { items: items.slice(0, 100) })).status, 200);
  const afterWrite = Number((await ask("GET /assets?limit=1")).headers.get("retry-after"));
  assert.ok(afterWrite > 0 && afterWrite <= 14, `${afterWrite} s for about 60 to 130 kB`);
  const reader = await limitedKey({ bytesPerSecond: 1_000 });
  assert.equal((await reader.ask("GET /timeseries/data/flow?limit=1000&start=0")).status, 200);
  assert.equal((await reader.ask("GET /assets")).status, 429);
});

test("one large request blocks a key for a minute at most", async () => {
  const { ask } = await limitedKey({ pointsPerSecond: 1 });
  assert.equal((await ask("GET /timeseries/data/flow?limit=1000&start=0")).status, 200);
  const seconds = Number((await ask("GET /assets")).headers.get("retry-after"));
  assert.ok(seconds > 50 && seconds <= limits.keyLimitDebtMsMax / 1_000, `${seconds} s`);
});

test("OData and InfluxQL count too, with errors in their own formats", async () => {
  const { ask, value } = await limitedKey({ requestsPerSecond: 1, pointsPerSecond: 1 });
  assert.equal((await ask("GET /timeseries/data/flow?limit=1000&start=0")).status, 200);
  const odata = await fetch(`${server.baseUrl}/odata/v1/projects/${server.project}/Assets`, {
    headers: { "api-key": value },
  });
  assert.equal(odata.status, 429);
  const { error } = (await odata.json()) as { error: { message: string } };
  assert.match(error.message, /The limit of this API key is 1 points a second; try again in \d+ s$/);
  const influx = await fetch(
    `${server.baseUrl}/influx/${server.project}/query?q=${encodeURIComponent("SHOW DATABASES")}`,
    { headers: { authorization: `Token ${value}` } },
  );
  assert.equal(influx.status, 429);
  await influx.text();
});

test("sessions and tokens of a key count for it, and so do refused requests", async () => {
  const { ask, value, userId } = await limitedKey({ requestsPerSecond: 1, pointsPerSecond: 1 });
  const signedIn = await server.ask.root("POST /session", { apiKey: value }, { origin: server.baseUrl });
  const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
  const form = { grant_type: "client_credentials", client_id: await nameOf(userId), client_secret: value };
  const body = new URLSearchParams(form);
  const token = await fetch(`${server.baseUrl}/oauth2/token`, { method: "POST", body });
  const { access_token } = (await token.json()) as { access_token: string };
  assert.equal((await ask("GET /timeseries/data/flow?limit=1000&start=0")).status, 200);
  const credentials = [{ cookie }, { authorization: `Bearer ${access_token}` }, { "api-key": value }];
  for (const headers of credentials) {
    const stranger = { "api-key": undefined, ...headers };
    for (const path of ["GET /timeseries", "GET /events"])
      assert.equal((await server.ask(path, undefined, stranger)).status, 429, JSON.stringify(headers));
  }
});

async function nameOf(userId: number): Promise<string> {
  return (await server.ask(`GET /users/${userId}`)).items[0]!["uniqueName"] as string;
}

test("limits can be changed and removed, by a key without limits alone", async () => {
  const { ask, id, userId } = await limitedKey({ pointsPerSecond: 1 });
  assert.equal((await ask("GET /timeseries/data/flow?limit=1000&start=0")).status, 200);
  assert.equal((await ask("GET /assets")).status, 429);
  const raised = await server.ask.v06(`PUT /apikeys/${id}/limits`, { pointsPerSecond: 1_000_000 });
  assert.deepEqual(raised.items[0]!["limits"], { pointsPerSecond: 1_000_000 });
  assert.deepEqual((await server.ask(`GET /apikeys/${id}`)).items[0]!["limits"], raised.items[0]!["limits"]);
  assert.equal((await ask("GET /assets")).status, 200, "the use begins again");
  for (const [request, body] of [
    ["POST /apikeys", { items: [{ userId }] }],
    [`PUT /apikeys/${id}/limits`, {}],
  ] as const) {
    const refused = await fetch(server.baseUrl + project() + request.split(" ")[1], {
      method: request.split(" ")[0]!,
      headers: {
        "api-key": await keyValue(userId, { pointsPerSecond: 5 }),
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /An API key with limits cannot create keys or change limits/);
  }
  const { items } = await server.ask.v06(`PUT /apikeys/${id}/limits`, {});
  assert.equal(items[0]!["limits"], undefined);
  assert.equal((await server.ask.v06("PUT /apikeys/1/limits", {})).status, 404);
});

async function keyValue(userId: number, keyLimits: KeyLimits): Promise<string> {
  const { items } = await server.ask("POST /apikeys", { items: [{ userId, limits: keyLimits }] });
  return items[0]!["value"] as string;
}

test("a limit that is no whole number in range is refused by name", async () => {
  const { id } = await limitedKey({});
  for (const pointsPerSecond of [0, -1, 1.5, "5", limits.keyLimitMax + 1]) {
    const { status, error } = await server.ask.v06(`PUT /apikeys/${id}/limits`, { pointsPerSecond });
    assert.equal(status, 400, String(pointsPerSecond));
    assert.match(error!.message, /pointsPerSecond/);
  }
  const unknown = await server.ask.v06(`PUT /apikeys/${id}/limits`, { eventsPerSecond: 1 });
  assert.equal(unknown.status, 400);
});
