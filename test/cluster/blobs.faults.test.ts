// Faults of the S3 store while a server receives, completes and sends files.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { testS3 } from "../support/s3-store.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { storedBlobs } from "../support/stored-blobs.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

let server: TestServer;
let proxy: TcpProxy;
before(async () => {
  const store = await testS3();
  proxy = await TcpProxy.start(store.endpoint);
  server = await startTestServer({ blobs: store.place(proxy.endpoint) });
});
after(async () => {
  proxy.set("pass");
  await server.close();
  proxy.close();
});

const mebibyte = 2 ** 20;

async function start(fileName: string): Promise<{ fileId: number; url: string }> {
  const response = await server.ask("POST /files/initupload", { fileName });
  const { fileId, uploadURL } = (response.json as { data: { fileId: number; uploadURL: string } }).data;
  return { fileId, url: uploadURL };
}

async function put(url: string, bytes: Uint8Array, headers: Record<string, string> = {}) {
  const body = Buffer.from(bytes);
  const response = await fetch(url, { method: "PUT", body, headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const rangeOf = (from: number, to: number, total: number) => ({
  "content-range": `bytes ${from}-${to - 1}/${total}`,
});

async function linkOf(fileId: number): Promise<string> {
  return ((await server.ask(`GET /files/${fileId}/downloadlink`)).json as { data: string }).data;
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function download(fileId: number): Promise<string> {
  return sha256(new Uint8Array(await (await fetch(await linkOf(fileId))).arrayBuffer()));
}

async function health(): Promise<{ status: number; store: string }> {
  const response = await fetch(`${server.baseUrl}/health`);
  return { status: response.status, store: ((await response.json()) as { store: string }).store };
}

/**
 * Runs `work` in this mode of the proxy. Reports the seconds from the end of the fault to a healthy server.
 */
async function during(mode: "refuse" | "drop", work: () => Promise<void>): Promise<void> {
  proxy.set(mode);
  await work().finally(() => proxy.set("pass"));
  const startedMs = performance.now();
  while ((await health()).status !== 200) {
    assert.ok(performance.now() - startedMs < 60_000, "the server is healthy again by itself");
    await wait(100);
  }
  console.log(`  healthy again after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}

function assertAway({ status, headers, text }: Awaited<ReturnType<typeof put>>): void {
  assert.equal(status, 503, text);
  assert.equal(headers.get("retry-after"), "10");
  assert.match(text, /The store of files is not available \([\w ,]+\); try again later/);
  assert.ok(!text.includes("127.0.0.1"), "no address of the store in a message");
}

test("the store is away: uploads and downloads get 503, all else is served, /health names it", async () => {
  const stored = await start("stored");
  await put(stored.url, Buffer.from("stored before"));
  const link = await linkOf(stored.fileId);
  const { fileId, url } = await start("later");
  await during("refuse", async () => {
    assertAway(await put(url, Buffer.from("refused")));
    const response = await fetch(link);
    assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "10"]);
    await response.text();
    const { status, store } = await health();
    assert.equal(status, 503);
    assert.match(store, /^The store of files is not available \(/);
    assert.equal((await server.ask("POST /timeseries", { items: [{ name: "s" }] })).status, 200);
    assert.equal(
      (await server.ask("POST /timeseries/data/s", { items: [{ timestamp: 1, value: 2 }] })).status,
      200,
    );
    assert.equal((await server.ask(`GET /files/${fileId}`)).items[0]!["uploaded"], false);
  });
  assert.equal(await (await fetch(link)).text(), "stored before");
  assert.equal((await put(url, Buffer.from("accepted"))).status, 200);
  assert.equal(await download(fileId), sha256(Buffer.from("accepted")));
});

test("the network drops everything: requests end with 503, and the service is back by itself", async () => {
  const { fileId, url } = await start("dropped");
  await during("drop", async () => {
    const startedMs = performance.now();
    assertAway(await put(url, Buffer.from("refused")));
    console.log(`  503 after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    assert.equal((await health()).status, 503);
  });
  assert.equal((await put(url, Buffer.from("accepted"))).status, 200);
  assert.equal(await download(fileId), sha256(Buffer.from("accepted")));
});

test("the store goes away in an upload: acknowledged chunks stay, and the upload continues", async () => {
  const bytes = randomBytes(20 * mebibyte);
  const { fileId, url } = await start("interrupted");
  assert.equal(
    (await put(url, bytes.subarray(0, 9 * mebibyte), rangeOf(0, 9 * mebibyte, bytes.length))).status,
    308,
  );
  await during("refuse", async () => {
    assertAway(
      await put(url, bytes.subarray(9 * mebibyte), rangeOf(9 * mebibyte, bytes.length, bytes.length)),
    );
  });
  const progress = await put(url, Buffer.from(""), { "content-range": `bytes */${bytes.length}` });
  assert.equal(progress.headers.get("range"), `bytes=0-${9 * mebibyte - 1}`);
  assert.equal((await server.ask(`GET /files/${fileId}`)).items[0]!["uploaded"], false);
  const rest = await put(
    url,
    bytes.subarray(9 * mebibyte),
    rangeOf(9 * mebibyte, bytes.length, bytes.length),
  );
  assert.equal(rest.status, 200);
  assert.equal(await download(fileId), sha256(bytes));
});

test("connections that break every 3 MB delay a download, and change no byte", async () => {
  const bytes = randomBytes(20 * mebibyte);
  const { fileId, url } = await start("broken connections");
  assert.equal((await put(url, bytes)).status, 200);
  proxy.set(3_000_000);
  try {
    assert.equal(await download(fileId), sha256(bytes));
  } finally {
    proxy.set("pass");
  }
});

test("the store is away for 300 ms in a download: the client gets all bytes", async () => {
  const bytes = randomBytes(20 * mebibyte);
  const { fileId, url } = await start("away for 300 ms");
  await put(url, bytes);
  const response = await fetch(await linkOf(fileId));
  const hash = createHash("sha256");
  let received = 0;
  for await (const chunk of response.body!) {
    if (received < 2 * mebibyte && received + chunk.length >= 2 * mebibyte) {
      proxy.set("refuse");
      setTimeout(() => proxy.set("pass"), 300);
    }
    received += chunk.length;
    hash.update(chunk);
  }
  assert.equal(hash.digest("hex"), sha256(bytes));
});

test("a store that stays away in a download breaks the transfer; the client sees it", async () => {
  const bytes = randomBytes(30 * mebibyte);
  const { fileId, url } = await start("cut off");
  await put(url, bytes);
  const response = await fetch(await linkOf(fileId));
  const body = response.body!.getReader();
  await body.read();
  await during("refuse", async () => {
    const readAll = async () => {
      while (!(await body.read()).done);
    };
    await assert.rejects(readAll(), "a transfer that ends early is an error");
  });
  assert.equal(await download(fileId), sha256(bytes));
});

test("a slow store delays requests and loses nothing", async () => {
  const bytes = randomBytes(mebibyte);
  const { fileId, url } = await start("slow");
  proxy.delayMs = 20;
  try {
    assert.equal((await put(url, bytes)).status, 200);
    assert.equal(await download(fileId), sha256(bytes));
  } finally {
    proxy.delayMs = 0;
  }
});

test("a file that is deleted while the store is away is gone at once, its bytes later", async () => {
  const { fileId, url } = await start("deleted");
  assert.equal((await put(url, Buffer.from("x"))).status, 200);
  const before = (await storedBlobs(server)).length;
  await during("refuse", async () => {
    assert.equal((await server.ask("POST /files/delete", { items: [fileId] })).status, 200);
    assert.equal((await server.ask(`GET /files/${fileId}`)).status, 404);
  });
  await server.restart();
  assert.equal((await storedBlobs(server)).length, before - 1);
});

test("a server starts while the store is away, and serves files when it is back", async () => {
  const { fileId, url } = await start("before the start");
  assert.equal((await put(url, Buffer.from("kept"))).status, 200);
  await during("refuse", async () => {
    await server.restart();
    assert.equal((await health()).status, 503);
    assert.equal((await server.ask(`GET /files/${fileId}`)).status, 200);
  });
  assert.equal(await download(fileId), sha256(Buffer.from("kept")));
});

test("a store that responds 500 and 503 gets a few more attempts, then the client gets 503", async () => {
  const statuses: number[] = [];
  const failing = createServer((request, response) => {
    statuses.push(statuses.length % 2 === 0 ? 500 : 503);
    request.resume().on("end", () => response.writeHead(statuses.at(-1)!).end());
  });
  await new Promise<void>((resolve) => failing.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`;
  const other = await startTestServer({ blobs: (await testS3()).place(endpoint) });
  statuses.length = 0;
  const started = await other.ask("POST /files/initupload", { fileName: "b" });
  const { uploadURL } = (started.json as { data: { uploadURL: string } }).data;
  assertAway(await put(uploadURL, Buffer.from("x")));
  assert.ok(statuses.length >= 3 && statuses.length <= 10, `${statuses.length} attempts`);
  await other.close();
  failing.closeAllConnections();
  failing.close();
});
