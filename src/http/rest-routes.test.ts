// Rules of the pipeline for any REST route: server errors, streams, disconnected clients, creation.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get } from "node:http";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { Type } from "typebox";
import { noAudit } from "../../test/support/audit.ts";
import { ApiKeys } from "../access/api-keys.ts";
import type { RequestSource } from "../access/authenticator.ts";
import { KeyUses } from "../access/key-limits.ts";
import { Rights } from "../access/rights.ts";
import { accountTable, apiKeyTable, groupTable } from "../access/schema.ts";
import type { Services } from "../context.ts";
import { fail } from "../errors.ts";
import { FairTurns } from "../lib/fair-turns.ts";
import { ClockIds } from "../lib/ids.ts";
import { realSystem as system } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { cursorSigner } from "../query/cursor.ts";
import { dataSchema } from "../rest/envelope.ts";
import { JsonDecoders } from "../rest/json.ts";
import { apiVersions, type Route, type RouteResponse, route } from "../rest/route.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { NaivePointsStore } from "../storage/conformance/naive-points.ts";
import { boundlessDisk } from "../storage/disk-space.ts";
import { noTracing } from "../tracing/tracing.ts";
import { bodyBuffers } from "./body.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { createMetrics } from "./metrics.ts";
import { usualDeadlines } from "./request-lifetime.ts";
import { addRoutes } from "./rest-routes.ts";
import { SendBatch } from "./send-batch.ts";
import { createHttp } from "./server.ts";

let streaming = new Readable();
let waitedFor: AbortSignal | undefined;

const csvOf = (length: number) => ({ contentType: "text/csv", bytes: Buffer.alloc(length, "a") });

let other: (() => void) | undefined;

/**
 * Responds when a second request has come, so that both responses are ready in one turn of the event loop.
 */
async function respondInPairs(response: RouteResponse): Promise<RouteResponse> {
  if (other) other();
  else await new Promise<void>((resolve) => (other = resolve));
  other = undefined;
  return response;
}

/** Whether each of the short responses waited for others. */
const waits: boolean[] = [];
/** Runs while a response waits. */
let whileWaiting: (() => Promise<void>) | undefined;
/** How often the memory of a response was released. */
let releases = 0;
/** The bytes of responses that were sent. */
const sentBytes: unknown[] = [];

class RecordingBatch extends SendBatch {
  override turnToSend(): Promise<void> | undefined {
    const waiting = whileWaiting ? whileWaiting() : super.turnToSend();
    waits.push(waiting !== undefined);
    return waiting;
  }
}
const sendBatch = new RecordingBatch();

const probe = (
  path: string,
  handle: (signal: AbortSignal) => Promise<RouteResponse>,
  more: Partial<Route> = {},
) =>
  route({
    method: "GET",
    path,
    versions: apiVersions,
    summary: path,
    capability: "member",
    response: () => ({ schema: dataSchema(Type.Unknown()) }),
    ...more,
    handle: (ctx) => handle(ctx.signal),
  });

const routes = [
  probe("/fault", async () => {
    throw new Error("the secret of the house");
  }),
  probe("/thrown", async () => {
    throw fail("deadline", { limitMs: 1, retryAfterSeconds: 1 });
  }),
  probe("/created", async () => ({ data: { items: [{ id: 7 }] } }), { method: "POST", created: ["0.6"] }),
  probe("/endless", async () => {
    streaming = new Readable({ read: () => {} });
    streaming.push(randomBytes(200_000));
    return { contentType: "text/csv", stream: streaming };
  }),
  probe("/rows", async () => ({
    contentType: "text/csv",
    stream: Readable.from(["a\n".repeat(5_000), "b\n"]),
  })),
  probe("/bytes", async () => ({ contentType: "application/protobuf", bytes: Buffer.from([1, 2, 3]) })),
  probe("/pair", () => respondInPairs({ contentType: "text/csv", bytes: Buffer.from("a") })),
  probe("/longest-short", async () => csvOf(limits.sendTogetherBytesMax)),
  probe("/long", async () => csvOf(limits.sendTogetherBytesMax + 1)),
  probe("/compressible", async () => csvOf(limits.compressionBytesMin)),
  probe("/incompressible", async () => csvOf(limits.compressionBytesMin - 1)),
  probe("/held", async (signal) => {
    waitedFor = signal;
    return { ...csvOf(1), release: () => (releases += 1) };
  }),
  probe("/waiting", async (signal) => {
    waitedFor = signal;
    await once(signal, "abort");
    throw signal.reason;
  }),
];

const logged: string[] = [];
let http: FastifyInstance;
let base: string;
let headers: { "api-key": string };

before(async () => {
  const catalog = openNaiveCatalog([apiKeyTable, accountTable, groupTable]);
  const secret = system.randomBytes(32);
  const ids = new ClockIds(system, 0);
  const points = new NaivePointsStore();
  const unused = {
    blobs: undefined as never,
    ...{ disk: boundlessDisk, catalogPlace: "" },
    uploads: undefined as never,
    rowDeletions: undefined as never,
    models: undefined as never,
    transformations: undefined as never,
    drawings: undefined as never,
    sessions: undefined as never,
    computing: undefined as never,
    jobs: undefined as never,
    audit: noAudit,
    lease: undefined as never,
    demos: undefined as never,
    generations: undefined as never,
    seriesCache: undefined as never,
    influx: undefined as never,
    insertBuffers: undefined as never,
    responseBuffers: undefined as never,
  };
  const rights = new Rights({
    catalog,
    system,
    defaultGroupOf: async () => undefined,
    ancestorsOf: async () => new Map(),
  });
  const keys = new ApiKeys({ catalog, ids, system, secret, rights });
  const cursors = cursorSigner(secret);
  const services: Services = { system, ids, catalog, points, ...unused, cursors, keys, rights };
  const { key } = await keys.create({ id: 1, urlName: "demo" }, "tester");
  const log = pino({}, { write: (line: string) => logged.push(line) });
  http = await createHttp({
    log,
    tracing: noTracing,
    metrics: createMetrics(),
    recordRefusal: () => undefined,
    protocols: [],
    settings: { trustedProxies: [] },
  });
  const authenticator = {
    authenticate: async (sender: RequestSource) => {
      const caller = await keys.callerOf(String(sender.headers["api-key"]));
      return { ...(caller && { caller }) };
    },
  };
  const sizes = { sharedBytes: 2 ** 20, clientBytes: 2 ** 20, reserveBytes: 2 ** 20, uncountedBytes: 1024 };
  const bodies = { budget: new MemoryBudget(sizes), buffers: bodyBuffers() };
  const [readTurns, responses] = [new FairTurns(Number.POSITIVE_INFINITY), new MemoryBudget(sizes)];
  const sharing = { keyUses: new KeyUses(system), decoders: new JsonDecoders(), bodies, responses };
  const kernel = { services, authenticator, ...sharing, readTurns, sendBatch, deadlines: usualDeadlines };
  recordSentBytes();
  addRoutes(http, kernel, routes);
  base = `${await http.listen({ port: 0, host: "127.0.0.1" })}/api/0.5/projects/demo`;
  headers = { "api-key": key };
});
after(() => http.close());

function recordSentBytes(): void {
  http.addHook("onSend", async (_request, _reply, payload) => {
    if (Buffer.isBuffer(payload)) sentBytes.push(payload);
  });
}

test("a server error tells the caller only the request id, and the log everything", async () => {
  const response = await fetch(`${base}/fault`, { headers });
  assert.equal(response.status, 500);
  const id = response.headers.get("x-request-id");
  const message = `Unexpected fault in the server; its log has details for request ${id}`;
  assert.deepEqual(await response.json(), { error: { code: 500, message } });
  const line = logged.find((one) => one.includes(id!));
  assert.match(line!, /the secret of the house/);
});

test("a request that is aborted at its deadline gets 503", async () => {
  const response = await fetch(`${base}/thrown`, { headers });
  assert.equal(response.status, 503);
});

test("a creation is 201 with its address where the version says so", async () => {
  const older = await fetch(`${base}/created`, { method: "POST", headers });
  assert.deepEqual([older.status, older.headers.get("location")], [200, null]);
  const newer = await fetch(`${base.replace("0.5", "0.6")}/created?x=1`, { method: "POST", headers });
  assert.equal(newer.status, 201);
  assert.equal(newer.headers.get("location"), "/api/0.6/projects/demo/created/7");
});

test("streams and bytes are sent unchanged, streams compressed when requested", async () => {
  const bytes = await fetch(`${base}/bytes`, { headers });
  assert.equal(bytes.headers.get("content-type"), "application/protobuf");
  assert.deepEqual([...new Uint8Array(await bytes.arrayBuffer())], [1, 2, 3]);
  const [response] = (await once(
    get(`${base}/rows`, { headers: { ...headers, "accept-encoding": "gzip" } }),
    "response",
  )) as [Readable & { headers: Record<string, string> }];
  assert.equal(response.headers["content-encoding"], "gzip");
  const packed = Buffer.concat(await response.toArray());
  assert.equal(gunzipSync(packed).toString(), `${"a\n".repeat(5_000)}b\n`);
});

test("a client that disconnects ends the stream, and the work for the response", async () => {
  for (const encoding of ["identity", "gzip"]) {
    const request = get(`${base}/endless`, { headers: { ...headers, "accept-encoding": encoding } });
    const [response] = (await once(request, "response")) as [Readable];
    response.on("error", () => {});
    assert.equal(streaming.destroyed, false);
    const closed = once(streaming, "close").catch(() => {});
    request.destroy();
    await closed;
    assert.equal(streaming.destroyed, true);
  }
  const waiting = get(`${base}/waiting`, { headers });
  waiting.on("error", () => {});
  while (waitedFor === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  waiting.destroy();
  if (!waitedFor.aborted) await once(waitedFor, "abort");
  assert.match(String(waitedFor.reason), /client went away/);
});

test("HEAD of a stream ends it", async () => {
  const response = await fetch(`${base}/endless`, { method: "HEAD", headers });
  assert.equal(response.status, 200);
  if (!streaming.destroyed) await once(streaming, "close");
});

/** Requests a path without gzip, or with. Returns the length of the response. */
async function lengthOf(path: string, encoding = "identity"): Promise<number> {
  const response = await fetch(base + path, { headers: { ...headers, "accept-encoding": encoding } });
  return (await response.arrayBuffer()).byteLength;
}

/** Whether each short response waits that these requests get. */
async function waitsOf(request: () => Promise<unknown>): Promise<readonly boolean[]> {
  waits.length = 0;
  await request();
  return [...waits];
}

test("short responses of one turn wait for each other, and a longer one for none", async () => {
  const pair = () => Promise.all([lengthOf("/pair"), lengthOf("/pair")]);
  assert.deepEqual(await waitsOf(pair), [false, true]);
  assert.deepEqual(await waitsOf(pair), [true, true]);
  assert.deepEqual(await waitsOf(() => lengthOf("/longest-short")), [true]);
  await pair();
  assert.deepEqual(await waitsOf(() => lengthOf("/long")), []);
  assert.equal(await lengthOf("/long"), limits.sendTogetherBytesMax + 1);
});

test("a response that gzip compresses does not wait", async () => {
  assert.deepEqual(await waitsOf(() => lengthOf("/compressible", "gzip")), []);
  assert.equal((await waitsOf(() => lengthOf("/compressible"))).length, 1);
  assert.equal((await waitsOf(() => lengthOf("/incompressible", "gzip"))).length, 1);
});

test("a client that leaves while its response waits frees the memory of the response once", async () => {
  const begun = Promise.withResolvers<void>();
  const sending = Promise.withResolvers<void>();
  whileWaiting = () => {
    begun.resolve();
    return sending.promise;
  };
  const faults = logged.length;
  const request = get(`${base}/held`, { headers });
  request.on("error", () => {});
  request.on("response", () => begun.reject(new Error("the response did not wait")));
  await begun.promise;
  const left = once(waitedFor!, "abort");
  request.destroy();
  await left;
  whileWaiting = undefined;
  sentBytes.length = 0;
  sending.resolve();
  await turnOfTheLoop();
  assert.equal(releases, 1);
  assert.deepEqual(sentBytes, [], "other responses may use the memory");
  assert.deepEqual(
    logged.slice(faults).filter((line) => line.includes('"level":50')),
    [],
  );
});
