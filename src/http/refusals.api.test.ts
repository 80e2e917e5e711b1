// Requests that the API refuses, with exact status and message; equivalent addresses and methods.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { limits } from "../limits.ts";
import { ensureProject } from "../resources/projects/projects.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

test("an unknown path is 404, a known one with another method 405 with Allow", async () => {
  const { ask } = server;
  const unknown = await ask("GET /nothing");
  assert.equal(unknown.status, 404);
  assert.equal(
    unknown.error?.message,
    "There is no operation GET /api/0.5/projects/demo/nothing; see /api/0.5/openapi.json",
  );
  assert.equal((await ask.root("GET /nothing")).status, 404);
  assert.equal((await ask.root("GET /api/0.7/projects/demo/assets")).status, 404);
  const known = await ask("DELETE /assets");
  assert.equal(known.status, 405);
  assert.equal(known.headers.get("allow"), "GET, HEAD, POST, PUT");
  assert.equal(
    known.error?.message,
    "DELETE is not supported by /api/0.5/projects/demo/assets; use GET, HEAD, POST, PUT",
  );
});

test("each path segment is decoded exactly once", async () => {
  const names = ["a/b", "a+b", "a%2Fb", "100% + ?#[]@!$&'()*,;=:", "blank blank", "Ø-målt 測定 🌡", "a\\b"];
  await server.ask("POST /timeseries", { items: names.map((name) => ({ name })) });
  for (const name of names) {
    const { status, text } = await server.ask(`DELETE /timeseries/${encodeURIComponent(name)}`);
    assert.equal(status, 200, `${name}: ${text}`);
  }
  const plus = await server.ask("DELETE /timeseries/un+known");
  assert.deepEqual(plus.error?.["notFound"], ["un+known"]);
});

test("a project name beyond ASCII is addressed percent-encoded", async () => {
  const nordic = await startTestServer({ ...withFront, project: "Tromsø-anlegg" });
  try {
    assert.equal((await nordic.ask("GET /assets")).status, 200);
    const address = "/api/0.5/projects/Troms%C3%B8-anlegg/assets";
    assert.equal((await nordic.ask.root(`GET ${address}`)).status, 200);
  } finally {
    await nordic.close();
  }
});

test("an address that is not percent-encoded UTF-8 is 400, a segment that is too long 414", async () => {
  const malformed = await raw(`GET /api/0.5/projects/demo/timeseries/%E0%A4 HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.match(malformed.head, /^HTTP\/1.1 400 /);
  assert.equal(
    malformed.message,
    "The request is malformed: its address has %E0 at character 34, which is not UTF-8",
  );
  const long = await server.ask(`DELETE /timeseries/${"x".repeat(limits.pathSegmentBytesMax + 1)}`);
  assert.equal(long.status, 414);
  assert.equal(long.error?.message, "A segment of the path is longer than 12288 bytes");
});

test("what is not HTTP gets the same error body and a request id", async () => {
  const response = await raw("NONSENSE\r\n\r\n");
  assert.match(response.head, /^HTTP\/1.1 400 Bad Request/);
  assert.match(response.head, /X-Request-Id: \S+/);
  assert.equal(response.message, "The request is malformed: it is not valid HTTP/1.1");
  const huge = await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(limits.headBytesMax)}\r\n\r\n`);
  assert.match(huge.head, /^HTTP\/1.1 431 /);
  assert.equal(huge.message, `The request line and the headers are larger than ${limits.headBytesMax} bytes`);
});

test("what Node would refuse without a body is refused or served with one", async () => {
  const path = "/api/0.5/projects/demo/assets";
  const hostless = await raw(`GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`);
  assert.match(hostless.head, /^HTTP\/1.1 400 /);
  assert.equal(hostless.message, "Missing required field - Host");
  const expecting = `Host: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n`;
  const served = await raw(`GET ${path} HTTP/1.1\r\n${expecting}`);
  assert.match(served.head, /^HTTP\/1.1 401 /);
});

test("parameters of the wrong kind are named", async () => {
  const cases: [string, string][] = [
    ["GET /assets?limit=ten", "Invalid field - limit - expected an integer of at least 0 but got ten"],
    ["GET /assets?limit=-1", "Invalid field - limit - expected an integer of at least 0 but got -1"],
    ["GET /assets?depth=1.5", "Invalid field - depth - expected an integer of at least 0 but got 1.5"],
    ["GET /assets?path=[x]", "Invalid field - path - expected ids such as [123,456] but got [x]"],
    [
      "GET /assets/9007199254740993",
      "Invalid field - assetId - expected an integer of at most 9007199254740991 but got 9007199254740993",
    ],
    ["GET /assets/pump", "Invalid field - assetId - expected an integer of at least 1 but got pump"],
    ["GET /assets?cursor=forged", "Invalid field - cursor - expected a cursor returned by this same query"],
    [
      "GET /timeseries?includeMetadata=maybe",
      "Invalid field - includeMetadata - expected true or false but got maybe",
    ],
  ];
  for (const [requestLine, message] of cases) {
    const { status, error } = await server.ask(requestLine);
    assert.equal(status, 400, requestLine);
    assert.equal(error?.message, message);
  }
});

test("a cursor serves the query that it came from, and no other", async () => {
  const { ask } = server;
  await ask("POST /assets", { items: [{ name: "a" }, { name: "b" }, { name: "c" }] });
  const { nextCursor } = await ask("GET /assets?depth=0&limit=1");
  assert.ok(nextCursor);
  assert.match(nextCursor, /^[\w-]+$/);
  assert.equal((await ask(`GET /assets?depth=0&limit=2&cursor=${nextCursor}`)).items.length, 2);
  const changed = `${nextCursor.slice(0, -2)}${nextCursor.at(-2) === "A" ? "B" : "A"}${nextCursor.at(-1)}`;
  for (const requestLine of [
    `GET /assets?name=a&cursor=${nextCursor}`,
    `GET /timeseries?cursor=${nextCursor}`,
    `GET /assets?depth=0&cursor=${changed}`,
  ])
    assert.equal(
      (await ask(requestLine)).error?.message,
      "Invalid field - cursor - expected a cursor returned by this same query",
    );
});

test("a cursor of one project serves no other", async () => {
  const { ask, app } = server;
  await ask("POST /assets", { items: [{ name: "d" }, { name: "e" }] });
  const { nextCursor } = await ask("GET /assets?limit=1");
  const { project } = await ensureProject(app.services, "neighbour");
  const { key } = await app.services.keys.create(project, "neighbour");
  const requestLine = `GET /api/0.5/projects/neighbour/assets?limit=1&cursor=${nextCursor}`;
  const { status, error } = await ask.root(requestLine, undefined, { "api-key": key });
  assert.equal(status, 400);
  assert.equal(error?.message, "Invalid field - cursor - expected a cursor returned by this same query");
});

test("every response has its own request id", async () => {
  const requestLine = ["GET /assets", "GET /nothing", "PUT /assets/search", "POST /assets"];
  const ids = await Promise.all(
    requestLine.map(async (one) => (await server.ask(one)).headers.get("x-request-id")),
  );
  assert.equal(new Set(ids).size, requestLine.length);
});

/** Sends bytes unchanged and reads the response until the connection ends. */
function raw(bytes: string): Promise<{ head: string; message: string }> {
  const { hostname, port } = new URL(server.baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    socket.setTimeout(2_000, () => socket.destroy(new Error("no answer")));
    socket.on("data", (chunk) => {
      text += chunk;
      const [head = "", body = ""] = text.split("\r\n\r\n");
      if (!body.endsWith("}}")) return;
      socket.destroy();
      const { error } = JSON.parse(body) as { error: { message: string } };
      resolve({ head, message: error.message });
    });
    socket.on("error", reject);
  });
}
