// Clients that announce large bodies and send little or nothing do not block other clients.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { limits } from "../limits.ts";

let server: TestServer;
const sockets: Socket[] = [];
before(async () => {
  server = await startTestServer({ ...withFront, attemptsPerMinute: 3 });
  await server.ask("POST /timeseries", { items: [{ name: "written" }] });
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Starts a request and sends this many bytes of it; resolves with the start of its response. */
function begin(path: string, headers: Readonly<Record<string, string>>, sentBytes: number): Promise<string> {
  const socket = connect(Number(new URL(server.baseUrl).port), "127.0.0.1");
  sockets.push(socket);
  const lines = Object.entries({ Host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  socket.write(Buffer.alloc(sentBytes, 0x20));
  return new Promise((resolve, reject) => {
    socket.once("data", (chunk) => resolve(chunk.toString().split("\r\n", 1)[0]!));
    socket.once("error", reject);
  });
}

const announced = { "Content-Length": `${limits.bulkBodyBytesMax}` };
const inserts = "/api/0.5/projects/demo/timeseries/data";
const largeInsert = () => {
  const points = Array.from({ length: 50_000 }, (_, i) => ({ timestamp: 1.6e12 + i, value: i }));
  return server.ask("POST /timeseries/data", { items: [{ name: "written", datapoints: points }] });
};

test("strangers reserve nothing", async () => {
  assert.match(await begin("/login", announced, 1), /413/);
  for (let idle = 0; idle < 20; idle++) void begin("/login", { "Content-Length": "16384" }, 1);
  assert.match(await begin(inserts, announced, 1), /401/);
  assert.equal((await largeInsert()).status, 200);
});

test("an address that failed too often is refused before its body", async () => {
  for (let failure = 0; failure < 3; failure++)
    await server.ask.root("POST /login", { apiKey: `guess ${failure}` }, { "api-key": undefined });
  assert.match(await begin("/login", { "Content-Length": "100" }, 0), /429/);
});

test("idle bodies of a caller hold what has arrived of them", async () => {
  for (let idle = 0; idle < 20; idle++)
    void begin(inserts, { ...announced, "api-key": server.key }, 100_000).catch(() => {});
  assert.equal((await largeInsert()).status, 200, "the same caller has the rest of its share");
});
