// A client that disconnects at any point of a request is no server error, and no error in the log.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { pino } from "pino";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
}

const lines: Line[] = [];
const errorLevel = 50;
let server: TestServer;

before(async () => {
  const log = pino({ level: "debug" }, { write: (line: string) => lines.push(JSON.parse(line) as Line) });
  server = await startTestServer({ ...withFront, log });
  const columns = { text: "x".repeat(10_000) };
  const items = Array.from({ length: 1_000 }, (_, at) => ({ key: `${at}`, columns }));
  await server.ask("POST /raw/db/t/create?ensureParent=true", { items });
  await server.ask("POST /timeseries", { items: [{ name: "s" }] });
  const points = Array.from({ length: 100_000 }, (_, at) => ({ timestamp: at * 1_000, value: at / 3 }));
  await server.ask("POST /timeseries/data/s", { items: points });
});
after(() => server.close());
beforeEach(() => {
  lines.length = 0;
});

/** Sends the head of a request, and a part of its body. */
async function begin(
  methodAndPath: string,
  { headers = {}, body = "" }: { headers?: object; body?: string },
) {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const all = { host: hostname, "api-key": server.key, ...headers };
  const sent = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${methodAndPath} HTTP/1.1\r\n${sent.join("\r\n")}\r\n\r\n${body}`);
  socket.on("error", () => {});
  return socket;
}

/** Disconnects, and waits until the server has noticed and has responded to another client. */
async function vanish(socket: Socket): Promise<void> {
  socket.resetAndDestroy();
  await wait(100);
  assert.equal((await server.ask("GET /assets")).status, 200);
}

const assertNoErrors = () =>
  assert.deepEqual(
    lines.filter(({ level }) => level >= errorLevel),
    [],
  );

const demo = "/api/0.5/projects/demo";
const half = { headers: { "content-length": 1_000 }, body: '{"items":[' };
const cases: Readonly<Record<string, readonly [path: string, sent: { headers?: object; body?: string }]>> = {
  "in the head of a request": [`GET ${demo}/assets?x=`, { headers: { "x-long": "y".repeat(2_000) } }],
  "in a body": [`POST ${demo}/assets`, half],
  "in the body of a CSV upload": [`POST ${demo}/raw/db/t/csv`, half],
  "in the body of a login": ["POST /login", half],
  "in a body of OData": ["POST /odata/v1/projects/demo/RawRows", half],
  "while a search runs": [`POST ${demo}/assets/search`, { headers: { "content-length": 2 }, body: "{}" }],
  "while points are read": [`GET ${demo}/timeseries/data/s?limit=100000&start=0`, {}],
  "while a page of OData is read": ["GET /odata/v1/projects/demo/RawRows?$top=1000", {}],
  "in a large response": [`GET ${demo}/raw/db/t?limit=1000`, {}],
  "in a packed response": [`GET ${demo}/raw/db/t?limit=1000`, { headers: { "accept-encoding": "gzip" } }],
  "in a response of CSV": [`GET ${demo}/raw/db/t?limit=1000`, { headers: { accept: "text/csv" } }],
};

for (const [when, [path, sent]] of Object.entries(cases))
  test(`${when}: at once, and after the server has begun`, async () => {
    for (const pauseMs of [0, 5, 50]) {
      const socket = await begin(path, sent);
      if (pauseMs > 0) await wait(pauseMs);
      await vanish(socket);
    }
    assertNoErrors();
  });

test("in an upload and in a download of a file", async () => {
  const body = { fileName: "f.bin", directory: "d" };
  const started = await server.ask("POST /files/initupload", body);
  const { fileId, uploadURL } = (started.json as { data: { fileId: number; uploadURL: string } }).data;
  const { pathname, search } = new URL(uploadURL);
  const headers = { "content-length": 10_000_000 };
  await vanish(await begin(`PUT ${pathname}${search}`, { headers, body: "x".repeat(100_000) }));
  const again = await fetch(uploadURL, { method: "PUT", body: "x".repeat(10_000_000) });
  assert.ok(again.ok, String(again.status));
  const link = await server.ask(`GET /files/${fileId}/downloadlink`);
  const address = new URL(JSON.parse(link.text).data.items?.[0]?.downloadUrl ?? JSON.parse(link.text).data);
  const socket = await begin(`GET ${address.pathname}${address.search}`, {});
  await once(socket, "readable");
  await vanish(socket);
  assertNoErrors();
});
