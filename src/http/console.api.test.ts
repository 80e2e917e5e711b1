// The files of the console: which addresses get its page, with which headers, and which are never served.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

const script = `export const text = ${JSON.stringify("console ".repeat(1_000))};\n`;

/** A build of the console with a page, two files, and two links to files outside of it. */
function makeBuild(): string {
  const folder = temporaryFolder();
  const files = join(folder, "static");
  mkdirSync(join(files, "folder-AbCd1234.js"), { recursive: true });
  writeFileSync(
    join(folder, "index.html"),
    "<!doctype html><html><head><title>Console</title></head></html>",
  );
  writeFileSync(join(folder, "secret.txt"), "secret");
  writeFileSync(join(files, "main-u0hJzu6m.js"), script);
  writeFileSync(join(files, "icon.svg"), "<svg/>");
  symlinkSync(join(folder, "secret.txt"), join(files, "link-u0hJzu6m.js"));
  symlinkSync(folder, join(files, "up"));
  return folder;
}

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
let server: TestServer;
before(async () => {
  server = await startTestServer({ ...withFront, consoleFolder: makeBuild() });
});
after(() => server.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  fetch(server.baseUrl + path, { method, headers, redirect: "manual" });

/** Sends a path as it is, which `fetch` would normalize, and returns the response undecoded. */
function getRaw(path: string, accepted = "identity"): Promise<Buffer> {
  const { hostname, port } = new URL(server.baseUrl);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const socket = connect(Number(port), hostname);
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("end", () => resolve(Buffer.concat(chunks))).on("error", reject);
  const headers = `Host: x\r\nAccept-Encoding: ${accepted}\r\nConnection: close`;
  socket.write(`GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`);
  return promise;
}

function splitRaw(response: Buffer): [head: string, body: Buffer] {
  const end = response.indexOf("\r\n\r\n");
  return [response.subarray(0, end).toString(), response.subarray(end + 4)];
}

describe("the page of the console", () => {
  it("is sent for every address that no route has, when a browser navigates to it", async () => {
    for (const path of [
      "/",
      "/sign-in",
      "/assets/12?tab=events",
      "/raw/plant%20a/tags",
      "/files",
      "/series/",
    ]) {
      const response = await get(path, html);
      assert.equal(response.status, 200, path);
      assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8", path);
      const page = await response.text();
      assert.match(page, /<head><base href="\/"><meta property="csp-nonce" nonce="[\w-]{22}"><title>/, path);
      const head = await get(path, html, "HEAD");
      assert.deepEqual([head.status, await head.text()], [200, ""], path);
    }
    assert.equal((await get("/", { accept: "*/*" })).status, 200);
  });

  it("is not sent in place of a response of the server's own", async () => {
    const statuses = { "/api/0.5/nothing": 404, "/odata/x": 404, "/login": 405, "/static/none.js": 404 };
    for (const [path, status] of Object.entries(statuses)) {
      const response = await get(path, html);
      assert.equal(response.status, status, path);
      assert.match(response.headers.get("content-type")!, /^application\/json/, path);
    }
    const below = await get("/api/0.5/projects/demo/nothing", html);
    assert.equal(below.status, 401, "a stranger learns nothing");
    assert.equal((await get("/assets/12", { accept: "application/json" })).status, 404);
    assert.equal((await get("/assets/12", html, "POST")).status, 404);
  });

  it("has a policy that allows scripts of the server alone, and no frame around it", async () => {
    const [one, other] = await Promise.all([get("/", html), get("/", html)]);
    const policy = one.headers.get("content-security-policy")!;
    const nonce = /nonce="([^"]+)"/.exec(await one.text())![1]!;
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'self'",
    ])
      assert.ok(policy.split("; ").includes(part), part);
    assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.ok(!other.headers.get("content-security-policy")!.includes(nonce), "each response has its own");
    assert.equal(one.headers.get("cache-control"), "no-store");
    assert.equal(one.headers.get("x-content-type-options"), "nosniff");
    assert.equal(one.headers.get("referrer-policy"), "same-origin");
  });

  it("has the base path of the public address", async () => {
    const proxied = await startTestServer({
      ...withFront,
      consoleFolder: makeBuild(),
      baseUrl: "https://plant.example/millrace",
    });
    const page = await (await fetch(`${proxied.baseUrl}/assets`, { headers: html })).text();
    assert.match(page, /<base href="\/millrace\/">/);
    await proxied.close();
  });

  it("says how to build the console when there is no build, while the API works", async () => {
    const folder = temporaryFolder();
    const bare = await startTestServer({ ...withFront, consoleFolder: join(folder, "none") });
    const response = await fetch(`${bare.baseUrl}/`, { headers: html });
    assert.equal(response.status, 200);
    assert.match(await response.text(), /npm run build/);
    assert.equal((await fetch(`${bare.baseUrl}/static/main-u0hJzu6m.js`)).status, 404);
    assert.equal((await bare.ask("GET /assets")).status, 200);
    await bare.close();
  });
});

describe("a file of the console", () => {
  it("with a hash in its name is cached for ever, and compressed as the browser accepts it", async () => {
    const cases: [accepted: string, encoding: string | null, unpack: (bytes: Buffer) => Buffer][] = [
      ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
      ["gzip;q=0.8, br;q=0", "gzip", gunzipSync],
      ["identity", null, (bytes) => bytes],
    ];
    for (const [accepted, encoding, unpack] of cases) {
      const [head, body] = splitRaw(await getRaw("/static/main-u0hJzu6m.js", accepted));
      assert.match(head, /^HTTP\/1.1 200 /);
      assert.match(head, /cache-control: public, max-age=31536000, immutable/);
      assert.match(head, /content-type: text\/javascript; charset=utf-8/);
      assert.match(head, /vary: Origin, Accept-Encoding/);
      assert.match(head, /x-content-type-options: nosniff/);
      assert.equal(/content-encoding: (\w+)/.exec(head)?.[1] ?? null, encoding);
      assert.equal(unpack(body).toString(), script);
    }
  });

  it("without a hash in its name is cached for a short time", async () => {
    const response = await get("/static/icon.svg");
    assert.equal(response.headers.get("content-type"), "image/svg+xml");
    assert.equal(response.headers.get("cache-control"), "public, max-age=300");
  });

  it("of a build that was made while the server runs is served", async () => {
    const folder = makeBuild();
    const running = await startTestServer({ ...withFront, consoleFolder: folder });
    assert.equal((await fetch(`${running.baseUrl}/static/late-u0hJzu6m.js`)).status, 404);
    writeFileSync(join(folder, "static", "late-u0hJzu6m.js"), script);
    assert.equal(await (await fetch(`${running.baseUrl}/static/late-u0hJzu6m.js`)).text(), script);
    await running.close();
  });

  it("is never a link, a folder, or a file outside of the folder", async () => {
    const paths = [
      "/static/link-u0hJzu6m.js",
      "/static/up",
      "/static/up/secret.txt",
      "/static/folder-AbCd1234.js",
      "/static/",
      "/static/..",
      "/static/../secret.txt",
      "/static/../index.html",
      "/static/%2e%2e/secret.txt",
      "/static/..%2fsecret.txt",
      "/static/%2e%2e%2fsecret.txt",
      "/static/..%5csecret.txt",
      "/static//etc/passwd",
      "/static/%2fetc%2fpasswd",
      "/static/main-u0hJzu6m.js%00",
      "/static/MAIN-u0hJzu6m.js",
    ];
    for (const path of paths) {
      const [head, body] = splitRaw(await getRaw(path));
      assert.match(head, /^HTTP\/1.1 (400|404) /, path);
      assert.equal(Object.keys(JSON.parse(body.toString())).join(), "error", path);
    }
  });

  it("is a page neither, when the page itself is a link", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "secret.txt"), "secret");
    symlinkSync(join(folder, "secret.txt"), join(folder, "index.html"));
    const linked = await startTestServer({ ...withFront, consoleFolder: folder });
    assert.doesNotMatch(await (await fetch(`${linked.baseUrl}/`, { headers: html })).text(), /secret/);
    await linked.close();
  });
});
