// Request bodies of real clients, and bodies that must be refused.
import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { limits } from "../limits.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

const packed = (body: unknown) => gzipSync(JSON.stringify(body));

test("a body is read as JSON whatever its Content-Type says", async () => {
  for (const type of ["*/*", "text/plain", "nonsense", "application/json; charset=utf-8", ";", undefined]) {
    const body = JSON.stringify({ items: [{ name: `typed ${type}` }] });
    const { status, text } = await server.ask("POST /assets", Buffer.from(body), { "content-type": type });
    assert.equal(status, 200, `${type}: ${text}`);
  }
  const marked = await server.ask("POST /assets", `\ufeff${JSON.stringify({ items: [{ name: "marked" }] })}`);
  assert.equal(marked.status, 200, "a byte order mark does no harm");
});

test("gzip bodies are read, with DELETE too", async () => {
  const headers = { "content-encoding": "gzip" };
  const { items } = await server.ask("POST /assets", packed({ items: [{ name: "packed" }] }), headers);
  assert.equal(items[0]?.["name"], "packed");
  await server.ask("POST /timeseries", packed({ items: [{ name: "packed" }] }), headers);
  assert.equal((await server.ask("DELETE /timeseries/packed", packed({}), headers)).status, 200);
});

test("unknown members are ignored and null counts as absent", async () => {
  const sent = { items: [{ name: "tolerant", description: null, parentId: null, security_categories: [1] }] };
  const { items } = await server.ask("POST /assets", sent);
  assert.equal(items[0]?.["description"] || undefined, undefined);
  assert.equal(items[0]?.["security_categories"], undefined);
});

test("keys of metadata are taken as they are sent, whatever was sent before", async () => {
  // The first of each pair makes V8's JSON.parse misread later keys (lib/json.ts).
  for (const metadata of [
    { only: "", "\\": "1" },
    { only: "", "\n": "2" },
  ]) {
    const { text } = await server.ask("POST /assets", { items: [{ name: "escaped", metadata }] });
    assert.ok(text.includes(`"metadata":${JSON.stringify(metadata)}`), text);
    const filter = encodeURIComponent(JSON.stringify(metadata));
    assert.equal((await server.ask(`GET /assets?metadata=${filter}`)).items.length, 1);
  }
});

test("a refusal names the part of the body that is not the expected JSON", async () => {
  const deep = `{"items":${"[".repeat(100)}${"]".repeat(100)}}`;
  const cases: [body: string, message: string][] = [
    ["", "Missing required field - items"],
    ["[]", "Invalid field - body - expected an object but got array"],
    ["null", "Invalid field - body - expected an object but got null"],
    ['{"items":{}}', "Invalid field - items - expected array but got object"],
    ['{"items":[{}]}', "Missing required field - items[0].name"],
    ['{"items":[{"name":1}]}', "Invalid field - items[0].name - expected string but got number"],
    [
      '{"items":[{"name":"x","metadata":{"a":{}}}]}',
      "Invalid field - items[0].metadata.a - expected string but got object",
    ],
    ['{"items":[{"name":""}]}', "Invalid field - items[0].name - expected at least 1 characters but got 0"],
    [deep, "The body is not valid JSON: it is nested deeper than 64 levels"],
    [
      '{"items":[{"name":"x","__proto__":{"polluted":1}}]}',
      "The body is not valid JSON: a member is named __proto__",
    ],
  ];
  for (const [body, message] of cases) {
    const { status, error } = await server.ask("POST /assets", body);
    assert.equal(status, 400, body.slice(0, 100));
    assert.equal(error?.message, message);
  }
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  for (const body of ["{", "items", '{"items":[NaN]}']) {
    const { status, error } = await server.ask("POST /assets", body);
    assert.equal(status, 400);
    assert.match(error!.message, /^The body is not valid JSON: /);
  }
  assert.equal((await server.ask("GET /assets?name=x")).items.length, 0, "nothing was created");
});

test("a list that is too long is refused with both lengths", async () => {
  const items = Array.from({ length: limits.itemsPerWriteMax + 1 }, () => ({ name: "many" }));
  const { status, error } = await server.ask("POST /assets", { items });
  assert.equal(status, 400);
  assert.equal(error?.message, "items may hold at most 10000 items but holds 10001");
});

test("damaged and unknown packing is refused", async () => {
  const body = packed({ items: [{ name: "damaged" }] });
  const damaged = await server.ask("POST /assets", body.subarray(0, -10), { "content-encoding": "gzip" });
  assert.equal(damaged.status, 400);
  assert.equal(damaged.error?.message, "The body cannot be inflated: it is not valid gzip data");
  const unknown = await server.ask("POST /assets", body, { "content-encoding": "br" });
  assert.equal(unknown.status, 415);
  assert.equal(unknown.error?.message, "Content-Encoding br is not supported; use gzip or none");
});

test("a body that inflates too far is stopped", async () => {
  const headers = { "content-encoding": "gzip" };
  const words = Array.from({ length: 9_000 }, (_, i) => i.toString(36).padStart(8)).join("");
  const long = gzipSync(words.repeat(Math.ceil(limits.bulkBodyBytesMax / words.length)), { level: 1 });
  const { status, error } = await server.ask("POST /assets", long, headers);
  assert.equal(status, 413);
  assert.equal(error?.message, `The body as unpacked is larger than ${limits.bulkBodyBytesMax} bytes`);
  const tight = gzipSync(Buffer.alloc(2 * limits.inflationFreeBytes, 0x20));
  const refused = await server.ask("POST /assets", tight, headers);
  assert.equal(refused.status, 413);
  assert.equal(
    refused.error?.message,
    `The body inflates to more than ${limits.inflationRatioMax} bytes for each byte sent`,
  );
  const blanks = gzipSync(`${" ".repeat(limits.inflationFreeBytes - 2)}{}`);
  assert.equal(
    (await server.ask("POST /assets", blanks, headers)).status,
    400,
    "small ones may be of blanks",
  );
});

test("a body that is announced as too large is refused before it is sent", async () => {
  const { status, message } = await announce(limits.bulkBodyBytesMax + 1);
  assert.equal(status, 413);
  assert.equal(message, `The body as sent is larger than ${limits.bulkBodyBytesMax} bytes`);
});

test("a body of unannounced length is stopped at the limit", async () => {
  const piece = Buffer.alloc(2 ** 20, 0x20);
  const pieces = function* () {
    for (let sent = 0; sent <= limits.bulkBodyBytesMax; sent += piece.length) yield piece;
  };
  const response = await fetch(`${server.baseUrl}/api/0.5/projects/demo/assets`, {
    method: "POST",
    headers: { "api-key": server.key },
    body: ReadableStream.from(pieces()),
    duplex: "half",
  });
  assert.equal(response.status, 413);
  const { error } = (await response.json()) as { error: { message: string } };
  assert.equal(error.message, `The body as sent is larger than ${limits.bulkBodyBytesMax} bytes`);
});

test("a body that ends before its announced length changes nothing", async () => {
  const body = JSON.stringify({ items: [{ name: "cut short" }] });
  const cut = connect(Number(new URL(server.baseUrl).port), "127.0.0.1");
  cut.end(
    `POST /api/0.5/projects/demo/assets HTTP/1.1\r\nHost: x\r\napi-key: ${server.key}\r\n` +
      `Content-Length: ${body.length + 1}\r\n\r\n${body}`,
  );
  let result = "";
  for await (const chunk of cut) result += chunk;
  assert.match(result, /^(HTTP\/1.1 400 |$)/);
  assert.equal((await server.ask("GET /assets?name=cut%20short")).items.length, 0);
});

function announce(contentLength: number): Promise<{ status: number; message: string }> {
  return new Promise((resolve, reject) => {
    const address = `${server.baseUrl}/api/0.5/projects/demo/assets`;
    const headers = { "api-key": server.key, "content-length": contentLength };
    const sent = request(address, { method: "POST", headers }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      sent.destroy();
      resolve({ status: response.statusCode!, message: JSON.parse(text).error.message });
    });
    sent.on("error", reject);
    sent.flushHeaders();
  });
}
