// Large responses: pages end by length, the rest is streamed, and all of them share bounded memory.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import {
  idsOf,
  startTestServer,
  type TestResponse,
  type TestServer,
  withFront,
} from "../../test/support/server.ts";
import { limits } from "../limits.ts";
import { usualDeadlines } from "./request-lifetime.ts";

const budgetBytes = limits.responsesInFlightBytesMax;
const idleMs = 1_000;
const deadlines = { ...usualDeadlines, idleMs, requestMs: 90_000 };
const eventCount = 1_000;

let server: TestServer;
let ids: readonly number[] = [];

before(async () => {
  server = await startTestServer({ ...withFront, responses: { bytes: budgetBytes, deadlines } });
  const made: number[] = [];
  for (let from = 0; from < eventCount; from += 200) {
    const items = Array.from({ length: 200 }, (_, at) => largeEvent(from + at));
    made.push(...idsOf(await server.ask("POST /events", { items })));
  }
  ids = made;
});
after(() => server.close());

/** About 49 KB: nearly the largest event there can be. */
const largeEvent = (at: number) => ({
  ...{ startTime: at, type: "t".repeat(8_000), subtype: "s".repeat(8_000), source: "o".repeat(8_000) },
  ...{ sourceId: `${at} `.padEnd(8_000, "i"), description: "d".repeat(8_000) },
  metadata: Object.fromEntries(Array.from({ length: 9 }, (_, key) => [`key ${key}`, "v".repeat(1_000)])),
});

const path = (rest: string) => `/api/0.5/projects/${server.project}${rest}`;
const authorized = () => ({ "api-key": server.key });

const metrics = async () => (await fetch(`${server.baseUrl}/metrics`)).text();

async function freeBytes(): Promise<number> {
  return Number(/^millrace_response_memory_free_bytes (\d+)/m.exec(await metrics())![1]);
}

/** The number of responses that were not sent whole. */
async function brokenOff(): Promise<number> {
  const counts = (await metrics()).matchAll(/^millrace_http_request_seconds_count\{.*"499"\} (\d+)$/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + 90_000;
  while (!(await condition())) {
    assert.ok(performance.now() < endMs, what);
    await setTimeout(50);
  }
}

/** Sends a request and reads nothing of the response. */
async function askWithoutReading(methodAndPath: string, body = "", to = server): Promise<Socket> {
  const { hostname, port } = new URL(to.baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {}).pause();
  await once(socket, "connect");
  const [method, target] = methodAndPath.split(" ") as [string, string];
  const head = [`${method} ${path(target)} HTTP/1.1`, "Host: millrace", `api-key: ${to.key}`];
  socket.write(`${[...head, `Content-Length: ${body.length}`].join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

test("events of the largest size are paged through completely, forwards and backwards", async () => {
  const get = (query: string) => server.ask(`GET /events?limit=10000${query}`);
  const pages: TestResponse[] = [await get("")];
  while (pages.at(-1)!.nextCursor !== undefined) pages.push(await get(`&cursor=${pages.at(-1)!.nextCursor}`));
  assert.ok(pages.length > 1, "49 MB are more than one page");
  assert.deepEqual(pages.flatMap(idsOf), ids);
  for (const page of pages) assert.ok(page.bytes.length < limits.pageLengthMax + 200_000);
  const back: number[][] = [];
  for (let cursor = pages.at(-1)!.previousCursor; cursor !== undefined; ) {
    const page = await get(`&cursor=${cursor}`);
    back.unshift(idsOf(page));
    cursor = page.previousCursor;
  }
  assert.deepEqual(back.flat(), ids.slice(0, ids.length - idsOf(pages.at(-1)!).length));
});

test("a page of small records has all that its limit allows", async () => {
  const items = Array.from({ length: 3_000 }, (_, at) => ({ name: `small ${at}` }));
  const made = idsOf(await server.ask("POST /assets", { items }));
  const page = await server.ask("GET /assets?limit=10000");
  assert.deepEqual(idsOf(page), made);
  assert.equal(page.nextCursor, undefined);
});

test("entities over OData are paged through completely", async () => {
  const seen: number[] = [];
  const root = `${server.baseUrl}/odata/v1/projects/${server.project}`;
  let pages = 0;
  for (
    let url: string | undefined = `${root}/Events?$filter=StartTime ge 1970-01-01T00:00:00Z`;
    url;
    pages++
  ) {
    const response: Response = await fetch(url, { headers: authorized() });
    const page = (await response.json()) as { value: { Id: number }[]; "@odata.nextLink"?: string };
    seen.push(...page.value.map(({ Id }) => Number(Id)));
    url = page["@odata.nextLink"];
  }
  assert.ok(pages > 1);
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    ids.toSorted((a, b) => a - b),
  );
});

test("expansions that are too long together are fewer, and links lead to the rest", async () => {
  const [asset] = idsOf(await server.ask("POST /assets", { items: [{ name: "with series" }] }));
  const text = { description: "d".repeat(8_000), metadata: { key: "v".repeat(10_000) } };
  const names = Array.from({ length: 600 }, (_, at) => `series ${1_000 + at}`);
  const items = names.map((name) => ({ name, assetId: asset, ...text }));
  await server.ask("POST /timeseries", { items });
  interface Series {
    readonly Name: string;
  }
  interface Expanded {
    readonly Timeseries: Series[];
    readonly "Timeseries@odata.nextLink"?: string;
  }
  const root = `${server.baseUrl}/odata/v1/projects/${server.project}`;
  const first = await fetch(`${root}/Assets('${asset}')?$expand=Timeseries`, { headers: authorized() });
  assert.equal(first.status, 200, await first.clone().text());
  const entity = (await first.json()) as Expanded;
  const seen = entity.Timeseries.map(({ Name }) => Name);
  assert.ok(seen.length > 0 && seen.length < names.length, `${seen.length}`);
  for (let url = entity["Timeseries@odata.nextLink"]; url; ) {
    const page = (await (await fetch(url, { headers: authorized() })).json()) as {
      readonly value: Series[];
      readonly "@odata.nextLink"?: string;
    };
    seen.push(...page.value.map(({ Name }) => Name));
    url = page["@odata.nextLink"];
  }
  assert.deepEqual(seen, names);
});

test("a response without cursor is streamed whole and in order, also packed", async () => {
  const expected = ids.toReversed();
  const plain = await server.ask(
    "POST /events/byids",
    { items: expected },
    { "accept-encoding": "identity" },
  );
  assert.deepEqual(idsOf(plain), expected);
  assert.equal(plain.headers.get("content-length"), null);
  const packed = await server.ask("POST /events/byids", { items: expected }, { "accept-encoding": "gzip" });
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  assert.deepEqual(idsOf(packed), expected);
  const small = await server.ask(
    "POST /events/byids",
    { items: ids.slice(0, 2) },
    { "accept-encoding": "identity" },
  );
  assert.equal(Number(small.headers.get("content-length")), small.bytes.length);
});

test("unknown and repeated ids among many are refused before anything is sent", async () => {
  const unknown = await server.ask("POST /events/byids", { items: [...ids, 1] });
  assert.equal(unknown.status, 400);
  const repeated = await server.ask("POST /events/byids", { items: [...ids, ids[0]] });
  assert.equal(repeated.status, 400);
});

test("HEAD tells what GET does and sends nothing", async () => {
  const url = `${server.baseUrl}${path("/events?limit=10000")}`;
  const head = await fetch(url, { method: "HEAD", headers: authorized() });
  assert.equal(head.status, 200);
  assert.equal((await head.arrayBuffer()).byteLength, 0);
  assert.match(head.headers.get("content-type")!, /^application\/json/);
});

test("an update of records that are too long together is refused, with nothing changed", async () => {
  const items = Array.from({ length: 500 }, (_, at) => largeEvent(10_000 + at));
  const more: number[] = [];
  for (let at = 0; at < 500; at += 100)
    more.push(...idsOf(await server.ask("POST /events", { items: items.slice(at, at + 100) })));
  const all = [...ids, ...more];
  const change = all.map((id) => ({ id, subtype: { set: "changed" } }));
  const result = await server.ask.v06("POST /events/update", { items: change });
  assert.equal(result.status, 413);
  assert.match(result.error!.message, /items .*67108864/);
  const gone = await server.ask("POST /events/delete", { items: more });
  assert.equal(gone.status, 200, "what is only removed is not read");
  const [first] = (await server.ask(`GET /events/${ids[0]}`)).items;
  assert.notEqual(first!["subtype"], "changed");
});

test("a slow reader gets everything", async () => {
  const response = await fetch(`${server.baseUrl}${path("/events?limit=10000")}`, { headers: authorized() });
  const pieces: Uint8Array[] = [];
  let pauses = 0;
  for await (const piece of response.body!) {
    pieces.push(piece);
    if (pauses < 8 && pieces.length % 20 === 0) {
      pauses += 1;
      await setTimeout(idleMs / 2);
    }
  }
  assert.equal(pauses, 8, "longer together than one may do nothing");
  const page = JSON.parse(Buffer.concat(pieces).toString()) as { data: { items: { id: number }[] } };
  assert.deepEqual(
    page.data.items.map(({ id }) => id),
    ids.slice(0, page.data.items.length),
  );
});

test("clients that do not read hold no more than the budget, and are cut off", async () => {
  await until(async () => (await freeBytes()) === budgetBytes, "nothing is held before");
  const before = await brokenOff();
  const body = JSON.stringify({ items: ids });
  const sockets = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      at < 8 ? askWithoutReading("GET /events?limit=10000") : askWithoutReading("POST /events/byids", body),
    ),
  );
  await until(async () => (await freeBytes()) < budgetBytes / 2, "they hold memory");
  const patient = fetch(`${server.baseUrl}${path("/events?limit=500")}`, { headers: authorized() });
  assert.ok((await freeBytes()) >= 0);
  const page = (await (await patient).json()) as { data: { items: unknown[] } };
  assert.equal(page.data.items.length, 500, "a client that reads waits for them, and is served");
  // The budget may be free for an instant while some have not begun.
  await until(async () => (await brokenOff()) >= before + sockets.length, "each is cut off");
  assert.equal(await freeBytes(), budgetBytes, "all of it is free again");
  for (const socket of sockets) socket.resume();
  await until(() => sockets.every(({ closed }) => closed), "each connection is closed");
  for (const { bytesRead } of sockets) assert.ok(bytesRead < 20_000_000, "nobody got the whole response");
});

test("who waits for memory longer than the deadline gets 503 and hears when to come again", async () => {
  const tight = await startTestServer({
    ...withFront,
    responses: { bytes: 8 * 2 ** 20, deadlines: { ...usualDeadlines, requestMs: 3_000 } },
  });
  try {
    // Each within the deadline, also on a slow machine.
    for (let from = 0; from < 400; from += 10) {
      const items = Array.from({ length: 10 }, (_, at) => largeEvent(from + at));
      const created = await tight.ask("POST /events", { items });
      assert.equal(created.status, 200, created.text);
    }
    const small = await tight.ask("GET /events?limit=5");
    assert.equal(small.items.length, 5);
    const idle = await askWithoutReading("GET /events?limit=10000", "", tight);
    await once(idle, "readable");
    const refused = await tight.ask("GET /events?limit=10000");
    idle.destroy();
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "10");
  } finally {
    await tight.close();
  }
});

test("a failure after the response has begun breaks the transfer off", async () => {
  const gone = ids.at(-1)!;
  const response = await fetch(`${server.baseUrl}${path("/events/byids")}`, {
    method: "POST",
    headers: { ...authorized(), "accept-encoding": "identity" },
    body: JSON.stringify({ items: ids }),
  });
  assert.equal(response.status, 200);
  await server.ask("POST /events/delete", { items: [gone] });
  await assert.rejects(response.text(), "the client must not take a part for the whole");
});
