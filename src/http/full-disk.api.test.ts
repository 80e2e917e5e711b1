// An almost full disk: every route that writes is refused with 503, all other routes work.
import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { idsOf, startTestServer, type TestServer } from "../../test/support/server.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { routes } from "../resources.ts";
import { effectOf, pathOf, type Route } from "../rest/route.ts";
import type { WatchedDisk } from "../storage/disk-space.ts";

const roomy = { bytes: 2 ** 40, diskBytes: 2 ** 41, files: 10_000 };
let free = roomy;
let server: TestServer;
before(async () => {
  server = await startTestServer({ system: { ...realSystem, freeDiskAt: async () => free } });
});
after(() => server.close());

interface Health {
  readonly status: string;
  readonly store: string;
  readonly freeBytes?: number;
}

async function health(): Promise<Health & { readonly code: number }> {
  const response = await fetch(`${server.baseUrl}/health`);
  return { code: response.status, ...((await response.json()) as Health) };
}

async function diskBecomes(now: typeof roomy): Promise<void> {
  free = now;
  await (server.app.services.disk as WatchedDisk).look();
}

const urlOf = (route: Route) =>
  server.baseUrl +
  pathOf(route, route.versions.at(-1)!)
    .replace("{project}", server.project)
    .replaceAll(/\{\w+\}/g, "1");

async function send(route: Route): Promise<{ status: number; retryAfter: string | null; text: string }> {
  const { method } = route;
  const body = method === "GET" || method === "DELETE" ? {} : { body: '{"items":[]}' };
  const response = await fetch(urlOf(route), { method, headers: { "api-key": server.key }, ...body });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    text: await response.text(),
  };
}

test("every route that writes is refused with 503 and says so; reads and deletes are not", async () => {
  await diskBecomes({ ...roomy, bytes: limits.diskFreeBytesMin - 1 });
  const counts = { read: 0, write: 0, delete: 0 };
  for (const route of routes) {
    const effect = effectOf(route);
    counts[effect]++;
    const { status, retryAfter, text } = await send(route);
    const named = `${route.method} ${route.path}: ${text}`;
    if (effect !== "write") assert.notEqual(status, 503, named);
    else {
      assert.equal(status, 503, named);
      assert.equal(retryAfter, `${limits.retryAfterSeconds}`);
      assert.match(
        text,
        /Nothing was stored, because the disk is full: 67108863 bytes are free, 67108864 are needed/,
      );
    }
  }
  assert.ok(counts.write > 50 && counts.delete > 20 && counts.read > 50, JSON.stringify(counts));
  const insert = await fetch(`${server.baseUrl}/odata/v1/projects/${server.project}/Raw`, {
    method: "POST",
    headers: { "api-key": server.key, "content-type": "application/json" },
    body: '{"dbName":"x","tableName":"x","key":"x"}',
  });
  assert.equal(insert.status, 503, await insert.text());
  await diskBecomes(roomy);
  assert.equal((await server.ask("GET /assets")).items.length, 0);
  assert.equal((await server.ask("POST /assets", { items: [{ name: "pump" }] })).status, 200);
});

test("a retention rule can be previewed on a full disk, to find what it would free", async () => {
  await diskBecomes({ ...roomy, bytes: 0 });
  const preview = await server.ask.v06("POST /retentionrules/preview", { wholeProject: true, keepDays: 30 });
  assert.equal(preview.status, 200, preview.text);
  await diskBecomes(roomy);
});

test("health says what is free and needed, also when no more files can be made", async () => {
  await diskBecomes({ ...roomy, bytes: 1000 });
  const degraded = await health();
  assert.deepEqual([degraded.code, degraded.freeBytes], [503, 1000]);
  assert.match(degraded.store, /^only reads and deletes: the disk is full: 1000 bytes are free, \d+ are/);
  await diskBecomes({ ...roomy, files: 3 });
  assert.match((await health()).store, /the disk takes only 3 more files/);
  await diskBecomes(roomy);
  assert.equal((await health()).code, 200);
});

test("the reserve is freed for a delete, and written again when there is space", async () => {
  const reserve = join(server.dataFolder, "reserve");
  while (!existsSync(reserve) || statSync(reserve).size < limits.diskReserveBytes) await delay(20);
  const [first, second] = idsOf(
    await server.ask("POST /assets", { items: [{ name: "first to go" }, { name: "second" }] }),
  );
  await diskBecomes({ ...roomy, bytes: limits.diskReserveBytes + 1 });
  assert.equal((await server.ask("POST /assets/delete", { items: [first] })).status, 200);
  assert.ok(existsSync(reserve), "it is kept while there is room for a delete");
  await diskBecomes({ ...roomy, bytes: 0 });
  assert.equal((await server.ask("POST /assets/delete", { items: [second] })).status, 200);
  assert.ok(!existsSync(reserve));
  // Space for all but the reserve.
  await diskBecomes({ ...roomy, bytes: limits.diskFreeBytesMin + 1 });
  assert.equal((await health()).status, "degraded");
  await diskBecomes(roomy);
  while (!existsSync(reserve) || statSync(reserve).size < limits.diskReserveBytes) await delay(20);
});

async function uploadLink(): Promise<string> {
  const newFile = { fileName: `file ${Math.random()}` };
  const response = await server.ask("POST /files/initupload?resumable=true", newFile);
  assert.equal(response.status, 200, response.text);
  return (response.json as { data: { uploadURL: string } }).data.uploadURL;
}

const put = async (url: string, bytes: Uint8Array<ArrayBuffer>, from: number, total: number) => {
  const range = `bytes ${from}-${from + bytes.length - 1}/${total}`;
  const response = await fetch(url, { method: "PUT", body: bytes, headers: { "content-range": range } });
  return { status: response.status, text: await response.text(), range: response.headers.get("range") };
};

test("bytes of files are refused sooner than other writes, and leave what came before", async () => {
  await diskBecomes(roomy);
  const url = await uploadLink();
  const piece = new Uint8Array(1_000_000);
  assert.equal((await put(url, piece, 0, 3_000_000)).status, 308);
  free = { ...roomy, bytes: limits.uploadFreeBytesMin - 1 };
  const refused = await put(url, piece, 1_000_000, 3_000_000);
  assert.equal(refused.status, 503);
  assert.match(refused.text, /1073741823 bytes are free on the disk, 1073741824 are needed/);
  assert.equal((await server.ask("POST /assets", { items: [{ name: "still" }] })).status, 200);
  free = roomy;
  const progress = await fetch(url, { method: "PUT", headers: { "content-range": "bytes */3000000" } });
  assert.deepEqual([progress.status, progress.headers.get("range")], [308, "bytes=0-999999"]);
  assert.equal((await put(url, new Uint8Array(2_000_000), 1_000_000, 3_000_000)).status, 200);
});

test("unfinished uploads together hold no more than half of the disk that is left", async () => {
  await diskBecomes(roomy);
  const first = await uploadLink();
  const chunk = new Uint8Array(20 * 2 ** 20);
  assert.equal((await put(first, chunk, 0, 2 ** 40)).status, 308);
  const second = await uploadLink();
  await diskBecomes({ bytes: 19 * 2 ** 20, diskBytes: 64 * 2 ** 20, files: 1000 });
  const refused = await put(second, chunk, 0, 2 ** 40);
  assert.equal(refused.status, 503);
  assert.match(refused.text, /unfinished uploads hold \d+ bytes, the most for them is \d+/);
  await diskBecomes(roomy);
  assert.equal((await put(await uploadLink(), chunk, 0, chunk.length)).status, 200);
});
