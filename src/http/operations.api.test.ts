// Endpoints for operators, browsers and tools: health, metrics, descriptions, CORS, compressed responses.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { Agent, get, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { usesS3 } from "../../test/support/s3-store.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

const at = (path: string, init?: RequestInit) => fetch(server.baseUrl + path, init);

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

test("health needs no credentials and tells what is quarantined", async () => {
  const response = await at("/health");
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: "ok", version, store: "open", quarantined: [] });
});

test("health fails while the folder of files is not there", { skip: usesS3 }, async () => {
  const [folder, aside] = ["blobs", "aside"].map((name) => join(server.dataFolder, name)) as [string, string];
  renameSync(folder, aside);
  const failing = await at("/health");
  renameSync(aside, folder);
  assert.equal(failing.status, 503);
  const expected = { status: "failing", version, store: "not answering", quarantined: [] };
  assert.deepEqual(await failing.json(), expected);
  assert.equal((await at("/health")).status, 200);
  assert.deepEqual(readdirSync(folder), ["identity.json"]);
});

test("metrics count requests by route and status, and points", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "measured" }] });
  await server.ask("POST /timeseries/data/measured", { items: [{ timestamp: 1, value: 1 }] });
  await server.ask("GET /nothing");
  const response = await at("/metrics");
  assert.match(response.headers.get("content-type")!, /^text\/plain/);
  const text = await response.text();
  const route = 'route="/api/0.5/projects/:project/timeseries/data/:name"';
  assert.ok(
    text.includes(`millrace_http_request_seconds_count{method="POST",${route},status="200"} 1`),
    text,
  );
  assert.match(text, /millrace_http_request_seconds_count\{method="GET",route="none",status="404"\} 1/);
  assert.match(text, /^millrace_points_written_total 1$/m);
  assert.ok(text.includes(`\nmillrace_build_info{version="${version}"} 1\n`));
  assert.match(text, /^process_resident_memory_bytes \d+$/m);
  assert.ok(!text.includes("/nothing"), "addresses as sent are no labels");
});

test("metrics count the inserts that used a write plan, and the plans made", async () => {
  const names = Array.from({ length: 8 }, (_, i) => `planned ${i}`);
  await server.ask("POST /timeseries", { items: names.map((name) => ({ name })) });
  // One connection goes to one thread; a thread may close it, so that another one gets the next.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "api-key": server.key, "content-type": "application/json" };
  const insert = async (items: unknown) => {
    const url = `${server.baseUrl}/api/0.5/projects/${server.project}/timeseries/data`;
    const sent = request(url, { method: "POST", agent, headers });
    sent.end(JSON.stringify({ items }));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await once(response.resume(), "end");
    assert.equal(response.statusCode, 200);
  };
  const threads = 1 + withFront.frontThreads;
  for (let timestamp = 1; timestamp <= threads + 3; timestamp++) {
    const items = names.map((name) => ({ name, datapoints: [{ timestamp, value: 1 }] }));
    await insert(items);
  }
  agent.destroy();
  for (const name of names)
    await server.ask(`POST /timeseries/data/${name}`, { items: [{ timestamp: 9, value: 1 }] });
  const text = await (await at("/metrics")).text();
  const [made, used] = ["made", "used"].map((result) =>
    Number(new RegExp(`^millrace_write_plans_total\\{result="${result}"\\} (\\d+)$`, "m").exec(text)![1]),
  );
  assert.equal(made! + used!, threads + 3);
  assert.ok(made! >= 1 && made! <= threads, `${made} plans`);
});

test("each version describes itself to everyone", async () => {
  for (const version of ["0.4", "0.5", "0.6"]) {
    const response = await at(`/api/${version}/openapi.json`);
    assert.equal(response.status, 200);
    const { openapi, info } = (await response.json()) as { openapi: string; info: { version: string } };
    assert.deepEqual([openapi, info.version], ["3.1.0", version]);
  }
});

test("browsers of any origin may ask, with a key, and read the request id", async () => {
  const origin = "https://plant.example.com";
  const path = `/api/0.5/projects/${server.project}/assets`;
  const preflight = await at(path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "api-key,authorization,content-type,x-upload-content-type,x-cdp-sdk",
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), origin);
  assert.equal(preflight.headers.get("access-control-allow-credentials"), "true");
  assert.match(preflight.headers.get("access-control-allow-methods")!, /PUT/);
  assert.match(preflight.headers.get("access-control-allow-headers")!, /api-key,.*x-upload-content-type/);
  const refused = await at(path, { headers: { origin } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("access-control-allow-origin"), origin);
  assert.equal(refused.headers.get("access-control-expose-headers")?.split(", ")[0], "X-Request-Id");
});

test("HEAD responds as GET does, without a body", async () => {
  const { status, text, headers } = await server.ask("HEAD /assets");
  assert.equal(status, 200);
  assert.equal(text, "");
  assert.match(headers.get("content-type")!, /^application\/json/);
});

test("large responses are compressed when requested, small ones never", async () => {
  const description = "x".repeat(4_000);
  await server.ask("POST /assets", { items: [{ name: "wordy", description }] });
  const path = `/api/0.5/projects/${server.project}/assets`;
  const large = await getRaw(`${path}?name=wordy`, "gzip, deflate");
  assert.equal(large.headers["content-encoding"], "gzip");
  assert.ok(large.bytes.length < 1_000);
  assert.ok(gunzipSync(large.bytes).toString().includes(description));
  assert.equal((await getRaw(`${path}?name=wordy`, "identity")).headers["content-encoding"], undefined);
  assert.equal((await getRaw(`${path}?name=none`, "gzip")).headers["content-encoding"], undefined);
});

function getRaw(path: string, encoding: string) {
  return new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const headers = { "api-key": server.key, "accept-encoding": encoding };
    get(server.baseUrl + path, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ headers: response.headers, bytes: Buffer.concat(chunks) });
    }).on("error", reject);
  });
}
