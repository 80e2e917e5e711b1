// The bytes of files over signed links: whole, in chunks, aborted, late, forged, and after a restart.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { countStoredBytes, storedBlobs } from "../../../test/support/stored-blobs.ts";
import { fail } from "../../errors.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { deleteExpiredUploads } from "./removals.ts";

let server: TestServer;
let skippedMs = 0;
const storedBytes = new Map<number, number>();
const system = { ...realSystem, nowMs: () => Date.now() + skippedMs };

before(async () => {
  server = await startTestServer({ system });
  countStoredBytes(server, storedBytes);
});
after(() => server.close());

interface Started {
  readonly fileId: number;
  readonly url: string;
}

async function start(fileName: string, query = "", headers = {}): Promise<Started> {
  const response = await server.ask(`POST /files/initupload${query}`, { fileName }, headers);
  assert.equal(response.status, 200, response.text);
  const { fileId, uploadURL } = (response.json as { data: { fileId: number; uploadURL: string } }).data;
  return { fileId, url: uploadURL };
}

/** No credentials: the link is all it takes. */
async function put(url: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: "PUT", body: Buffer.from(body), headers, redirect: "manual" });
  const text = await response.text();
  return {
    status: response.status,
    range: response.headers.get("range"),
    message: response.status < 400 ? "" : (JSON.parse(text) as { error: { message: string } }).error.message,
  };
}

const progressOf = (url: string, total: number | "*" = "*") =>
  put(url, "", { "content-range": `bytes */${total}` });

const linkOf = async (fileId: number): Promise<string> => {
  const response = await server.ask(`GET /files/${fileId}/downloadlink`);
  assert.equal(response.status, 200, response.text);
  return (response.json as { data: string }).data;
};

const textOf = async (fileId: number) => (await fetch(await linkOf(fileId))).text();
const infoOf = async (fileId: number) => (await server.ask(`GET /files/${fileId}`)).items[0]!;

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const endMs = performance.now() + 60_000; !(await holds()); await wait(10))
    assert.ok(performance.now() < endMs, `waited too long for: ${what}`);
}

const isLinux = existsSync("/proc/self/fd");

/** How many files with bytes the server of this process has open. */
const openBlobs = (): number =>
  readdirSync("/proc/self/fd").filter((one) => {
    try {
      return readlinkSync(`/proc/self/fd/${one}`).includes("/blobs/");
    } catch {
      return false; // It was closed meanwhile.
    }
  }).length;

/** A request that has sent the beginning of its body and waits. */
async function beginPut(
  url: string,
  beginning: Uint8Array,
  headers: Record<string, string | number>,
): Promise<{ sending: ClientRequest; status: Promise<number | string> }> {
  const sending = request(url, { method: "PUT", headers, agent: false });
  const status = new Promise<number | string>((resolve) => {
    sending.on("response", (response) => resolve(response.resume().statusCode!));
    sending.on("error", (problem: NodeJS.ErrnoException) => resolve(problem.code!));
  });
  await new Promise<void>((resolve) => sending.write(beginning, () => resolve()));
  return { sending, status };
}

/** Whether the store has just so many bytes of an upload. */
const hasStored = (url: string, bytes: number): boolean =>
  storedBytes.get(Number(/upload-\d+-(\d+)-/.exec(url)![1])) === bytes;

test("a whole file in one request, with nothing but its length", async () => {
  const { fileId, url } = await start("whole.txt");
  assert.equal((await infoOf(fileId))["uploaded"], false);
  assert.deepEqual(await put(url, "hello"), { status: 200, range: null, message: "" });
  const { uploaded, uploadedAt, lastUpdatedTime, createdTime } = await infoOf(fileId);
  assert.equal(uploaded, true);
  assert.ok((uploadedAt as number) >= (createdTime as number));
  assert.equal(lastUpdatedTime, uploadedAt);
  assert.equal(await textOf(fileId), "hello");
});

test("a file without bytes", async () => {
  for (const [name, headers] of [["empty 1"], ["empty 2", { "content-range": "bytes */0" }]] as const) {
    const { fileId, url } = await start(name);
    assert.equal((await put(url, "", headers)).status, 200);
    const response = await fetch(await linkOf(fileId));
    assert.deepEqual([response.status, response.headers.get("content-length")], [200, "0"]);
    assert.equal(await response.text(), "");
    assert.equal((await fetch(await linkOf(fileId), { headers: { range: "bytes=0-" } })).status, 416);
  }
});

test("a download has name and type, and supports ranges", async () => {
  const { fileId, url } = await start(`drawing "7" é(1).pdf`, "", {
    "x-upload-content-type": "application/pdf",
  });
  await put(url, "0123456789", { "content-type": "text/plain" });
  const link = await linkOf(fileId);
  const whole = await fetch(link);
  assert.equal(await whole.text(), "0123456789");
  const header = (name: string) => whole.headers.get(name);
  assert.equal(header("content-type"), "application/pdf");
  assert.equal(
    header("content-disposition"),
    `attachment; filename="drawing _7_ _(1).pdf"; filename*=UTF-8''drawing%20%227%22%20%C3%A9%281%29.pdf`,
  );
  assert.equal(header("content-length"), "10");
  assert.equal(header("x-content-type-options"), "nosniff");
  const ask = async (range: string, more = {}) => {
    const response = await fetch(link, { headers: { range, ...more } });
    return [response.status, response.headers.get("content-range"), await response.text()];
  };
  assert.deepEqual(await ask("bytes=0-0"), [206, "bytes 0-0/10", "0"]);
  assert.deepEqual(await ask("bytes=7-"), [206, "bytes 7-9/10", "789"]);
  assert.deepEqual(await ask("bytes=-3"), [206, "bytes 7-9/10", "789"]);
  assert.deepEqual(await ask("bytes=8-100"), [206, "bytes 8-9/10", "89"]);
  assert.deepEqual(await ask("bytes=0-1,4-5"), [200, null, "0123456789"]);
  assert.deepEqual(await ask("bytes=5-2"), [200, null, "0123456789"]);
  assert.deepEqual(await ask("bytes=1-2", { "if-range": header("etag") }), [206, "bytes 1-2/10", "12"]);
  assert.deepEqual(await ask("bytes=1-2", { "if-range": '"other"' }), [200, null, "0123456789"]);
  const [status, range, text] = await ask("bytes=10-");
  assert.deepEqual([status, range], [416, "bytes */10"]);
  assert.equal(text, '{"error":{"code":416,"message":"The file has only 10 bytes"}}');
  const head = await fetch(link, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, "10"]);
});

test("a download that its reader breaks off is counted, and another one gives all bytes", async () => {
  const { fileId, url } = await start("large.bin");
  const bytes = randomBytes(4 * 2 ** 20);
  await put(url, bytes);
  const link = await linkOf(fileId);
  const leaving = new AbortController();
  const broken = await fetch(link, { signal: leaving.signal });
  await broken.body!.getReader().read();
  leaving.abort();
  assert.ok(Buffer.from(await (await fetch(link)).arrayBuffer()).equals(bytes));
  const counted = async () => {
    const { text } = await server.ask.root("GET /metrics");
    return Number(
      /millrace_http_request_seconds_count\{method="GET",route="\/blobs[^}]+\} (\d+)/.exec(text)?.[1],
    );
  };
  const before = await counted();
  await (await fetch(link)).arrayBuffer();
  assert.equal(await counted(), before + 1);
});

test("a client that goes away before its download begins leaves no open file", {
  skip: !isLinux,
}, async () => {
  const { fileId, url } = await start("gone.bin");
  await put(url, randomBytes(1_000_000));
  const { port, pathname } = new URL(await linkOf(fileId));
  for (let count = 0; count < 30; count++) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.destroy());
    await once(socket, "close");
  }
  await until(() => openBlobs() === 0, "the end of all downloads");
});

test("the type that came with the bytes serves when none was announced; a form's does not", async () => {
  const typeOf = async (name: string, type: string) => {
    const { fileId, url } = await start(name);
    await put(url, "x", { "content-type": type });
    return (await fetch(await linkOf(fileId))).headers.get("content-type");
  };
  assert.equal(await typeOf("type 1", "image/png"), "image/png");
  assert.equal(await typeOf("type 2", "application/x-www-form-urlencoded"), "application/octet-stream");
});

test("chunks with Content-Range, and requests of the progress", async () => {
  const { fileId, url } = await start("pieces");
  const piece = (text: string, range: string) => put(url, text, { "content-range": `bytes ${range}` });
  assert.deepEqual(await progressOf(url, 10), { status: 308, range: null, message: "" });
  assert.deepEqual(await piece("0123", "0-3/10"), { status: 308, range: "bytes=0-3", message: "" });
  assert.equal((await infoOf(fileId))["uploaded"], false);
  assert.deepEqual(await progressOf(url, 10), { status: 308, range: "bytes=0-3", message: "" });
  assert.deepEqual(await piece("xx4567", "2-7/*"), { status: 308, range: "bytes=0-7", message: "" });
  assert.deepEqual(await piece("z", "9-9/10"), { status: 308, range: "bytes=0-7", message: "" });
  assert.equal((await server.ask(`GET /files/${fileId}/downloadlink`)).status, 400);
  assert.equal((await piece("89", "8-9/10")).status, 200);
  assert.equal(await textOf(fileId), "0123456789");
  assert.equal((await progressOf(url, 10)).status, 200);
  const again = await piece("89", "8-9/10");
  assert.deepEqual(
    [again.status, again.message],
    [409, "The file of this link has been uploaded already; request a new link to overwrite it"],
  );
  assert.equal(await textOf(fileId), "0123456789");
});

test("a chunk that states another total than earlier ones is refused, and the upload continues", async () => {
  const { fileId, url } = await start("totals");
  const piece = (text: string, range: string) => put(url, text, { "content-range": `bytes ${range}` });
  const refusal = (expected: string, got: number) => ({
    ...{ status: 400, range: null },
    message: `Invalid field - Content-Range - expected a total ${expected} but got ${got}`,
  });
  await piece("01", "0-1/*");
  assert.deepEqual(await progressOf(url, 1), refusal("of at least 2, which are stored,", 1));
  await piece("23", "2-3/10");
  assert.deepEqual(await piece("45", "4-5/11"), refusal("10, as before,", 11));
  assert.deepEqual(await piece("45", "4-5/6"), refusal("10, as before,", 6));
  assert.deepEqual(await progressOf(url, 4), refusal("10, as before,", 4), "4 bytes are not the whole file");
  assert.deepEqual(await piece("456789ab", "4-11/*"), {
    ...{ status: 400, range: null },
    message: "Invalid field - Content-Range - expected at most 10 bytes in all, as before, but got 12",
  });
  assert.equal((await piece("45", "4-5/*")).range, "bytes=0-5");
  assert.deepEqual(await piece("67", "6-7/11"), refusal("10, as before,", 11));
  assert.equal((await piece("6789", "6-9/*")).status, 200, "all bytes of the total have come");
  assert.equal((await progressOf(url, 10)).status, 200);
  assert.equal(await textOf(fileId), "0123456789");
});

test("the total of a refused chunk does not count, and a corrected chunk completes the upload", async () => {
  for (const sent of ["01234", "012345678"]) {
    const { fileId, url } = await start(`refused total ${sent.length}`);
    const { sending, status } = await beginPut(url, Buffer.from(sent), {
      "content-range": "bytes 0-6/999",
      "transfer-encoding": "chunked",
    });
    sending.end();
    assert.equal(await status, 400, sent);
    const at = (await progressOf(url)).range === null ? 0 : 5;
    const rest = await put(url, "0123456".slice(at), { "content-range": `bytes ${at}-6/7` });
    assert.equal(rest.status, 200, rest.message);
    assert.equal(await textOf(fileId), "0123456");
  }
});

test("chunks of unknown total end with a request that states their sum", async () => {
  const { fileId, url } = await start("unknown total");
  await put(url, "abc", { "content-range": "bytes 0-2/*" });
  assert.equal((await progressOf(url, 3)).status, 200);
  assert.equal(await textOf(fileId), "abc");
});

test("Content-Range that cannot be is refused, and nothing of the request counts", async () => {
  const { url } = await start("bad ranges");
  await put(url, "01", { "content-range": "bytes 0-1/10" });
  const invalid = (got: string) =>
    `Invalid field - Content-Range - expected a range such as bytes 0-99/1000 or bytes */1000 but got ${got}`;
  for (const range of [
    "bytes 5-2/10",
    "bytes 2-10/10",
    "2-3/10",
    "bytes 2-/10",
    "bytes a-b/c",
    "items 2-3/10",
  ])
    assert.deepEqual(await put(url, "23", { "content-range": range }), {
      ...{ status: 400, range: null },
      message: invalid(range),
    });
  assert.deepEqual(await put(url, "234", { "content-range": "bytes 2-3/10" }), {
    ...{ status: 400, range: null },
    message:
      "Invalid field - Content-Range - expected a range of 3 bytes, as the body has, but got bytes 2-3/10",
  });
  assert.equal((await put(url, "23", { "content-encoding": "gzip" })).status, 415);
  assert.equal((await progressOf(url)).range, "bytes=0-1");
});

test("an aborted resumable upload shows nothing of the file, and continues at its offset", async () => {
  const { fileId, url } = await start("broken");
  const bytes = randomBytes(300_000);
  const { sending, status } = await beginPut(url, bytes.subarray(0, 200_000), { "content-length": 300_000 });
  await until(() => hasStored(url, 200_000), "the beginning on disk");
  sending.destroy();
  assert.equal(await status, "ECONNRESET");
  await until(async () => (await progressOf(url, 300_000)).range === "bytes=0-199999", "what came is kept");
  assert.equal((await infoOf(fileId))["uploaded"], false);
  const rest = await put(url, bytes.subarray(200_000), { "content-range": "bytes 200000-299999/300000" });
  assert.equal(rest.status, 200);
  const read = Buffer.from(await (await fetch(await linkOf(fileId))).arrayBuffer());
  assert.ok(read.equals(bytes));
});

test("a restart during a resumable upload loses no acknowledged byte", async () => {
  const { fileId, url } = await start("restarted");
  const bytes = randomBytes(100_000);
  await put(url, bytes.subarray(0, 60_000), { "content-range": "bytes 0-59999/100000" });
  const before = server.baseUrl;
  await server.restart();
  countStoredBytes(server, storedBytes);
  const there = url.replace(before, server.baseUrl);
  assert.equal((await progressOf(there, 100_000)).range, "bytes=0-59999");
  assert.equal(
    (await put(there, bytes.subarray(60_000), { "content-range": "bytes 60000-99999/100000" })).status,
    200,
  );
  const hash = createHash("sha256").update(
    Buffer.from(await (await fetch(await linkOf(fileId))).arrayBuffer()),
  );
  assert.equal(hash.digest("hex"), createHash("sha256").update(bytes).digest("hex"));
});

test("a non-resumable upload takes a whole file or leaves nothing", async () => {
  const { fileId, url } = await start("not resumable", "?resumable=false");
  const piece = await put(url, "01", { "content-range": "bytes 0-1/4" });
  assert.deepEqual(
    [piece.status, piece.message],
    [400, "This link accepts the whole file in one request; request a resumable link to send parts"],
  );
  const files = (await storedBlobs(server)).length;
  const { sending } = await beginPut(url, randomBytes(50_000), { "content-length": 90_000 });
  await until(() => hasStored(url, 50_000), "the beginning on disk");
  sending.destroy();
  await until(async () => (await storedBlobs(server)).length === files, "its remains are gone");
  assert.equal((await infoOf(fileId))["uploaded"], false);
  assert.equal((await put(url, "0123")).status, 200);
  assert.equal(await textOf(fileId), "0123");
});

test("while a backup keeps all bytes of files, a request that is taken over is told so", async () => {
  const { fileId, url } = await start("held", "?resumable=false");
  const { blobs } = server.app.services;
  const remove = blobs.remove.bind(blobs);
  Object.assign(blobs, {
    remove: async () => {
      throw fail("file-store-away", { problem: "a backup copies it" });
    },
  });
  try {
    const first = await beginPut(url, randomBytes(1_000), { "content-length": 2_000 });
    await until(() => hasStored(url, 1_000), "the beginning on disk");
    assert.equal((await put(url, "second")).status, 200);
    assert.equal(await first.status, 409);
    assert.equal(await textOf(fileId), "second");
  } finally {
    Object.assign(blobs, { remove });
  }
});

test("a body shorter or longer than its Content-Range, of no announced length, does not count", async () => {
  const { url } = await start("lengths");
  const send = async (text: string, range: string) => {
    const { sending, status } = await beginPut(url, Buffer.from(text), { "content-range": `bytes ${range}` });
    sending.end();
    return status;
  };
  assert.equal(await send("0123", "0-7/8"), 400);
  assert.equal((await progressOf(url)).range, "bytes=0-3");
  assert.equal(await send("456789", "4-7/8"), 400);
  assert.equal((await progressOf(url)).range, "bytes=0-3");
});

test("two requests to one link at once: the later ends the earlier", async () => {
  const { fileId, url } = await start("contested");
  const first = await beginPut(url, Buffer.from("first, but slo"), { "content-length": 15 });
  await until(() => hasStored(url, 14), "the beginning on disk");
  const second = await put(url, "second");
  assert.equal(second.status, 200);
  first.sending.end("w");
  assert.equal(await first.status, 409);
  assert.equal(await textOf(fileId), "second");
});

test("many requests to one link at once: exactly one succeeds, with its own bytes whole", async () => {
  const { fileId, url } = await start("crowded");
  const bodies = Array.from({ length: 8 }, (_, at) => new Uint8Array(200_000).fill(65 + at));
  const statuses = await Promise.all(bodies.map(async (body) => (await put(url, body)).status));
  const winner = statuses.indexOf(200);
  assert.deepEqual(
    statuses.filter((_, at) => at !== winner),
    Array(7).fill(409),
  );
  assert.equal(await textOf(fileId), Buffer.from(bodies[winner]!).toString());
});

test("a link that is forged, for something else, or for another file opens nothing", async () => {
  const { fileId, url } = await start("guarded");
  await put(url, "secret");
  const link = await linkOf(fileId);
  const invalid = "This link is not valid; request a new one";
  const later = link.replace(/(\d+)(-[\w-]+)$/, (_, expires: string, mac: string) => `${+expires + 1}${mac}`);
  for (const forged of [
    later,
    link.slice(0, -1),
    link.replace("download", "upload"),
    `${server.baseUrl}/blobs/x`,
  ]) {
    const response = await fetch(forged);
    assert.equal(response.status, 403, forged);
    assert.deepEqual(await response.json(), { error: { code: 403, message: invalid } });
  }
  assert.equal((await fetch(url)).status, 403);
  assert.deepEqual(await put(link, "x"), { status: 403, range: null, message: invalid });
  assert.equal((await fetch(link, { method: "DELETE" })).status, 405);
  assert.equal(await textOf(fileId), "secret");
});

test("links expire, and what an expired upload has left is taken away", async () => {
  const { fileId, url } = await start("kept");
  await put(url, "kept");
  const link = await linkOf(fileId);
  const files = await storedBlobs(server);
  const single = await start("late 1", "?resumable=false");
  const pieces = await start("late 2");
  await put(pieces.url, "01", { "content-range": "bytes 0-1/4" });
  const expired = { status: 403, range: null, message: "This link has expired; request a new one" };
  try {
    skippedMs += limits.uploadLinkMs + 1;
    assert.deepEqual(await put(single.url, "x"), expired);
    await deleteExpiredUploads(server.app.services);
    assert.equal((await put(pieces.url, "2", { "content-range": "bytes 2-2/4" })).range, "bytes=0-2");
    assert.equal((await fetch(link)).status, 200);
    skippedMs += limits.downloadLinkMs;
    assert.equal((await fetch(link)).status, 403);
    skippedMs += limits.resumableLinkMs;
    assert.deepEqual(await progressOf(pieces.url), expired);
    await deleteExpiredUploads(server.app.services);
    assert.ok((await storedBlobs(server)).every((name) => files.includes(name) && !name.endsWith(".part")));
    assert.equal(await textOf(fileId), "kept");
  } finally {
    skippedMs = 0;
  }
});

test("overwriting keeps the id and the old bytes until the new ones have all come", async () => {
  const first = await start("report");
  await put(first.url, "old");
  const refused = await server.ask("POST /files/initupload", { fileName: "report" });
  assert.equal(refused.status, 409);
  assert.equal(refused.error!.message, "A file of this name exists in the directory already: report");
  const elsewhere = await server.ask("POST /files/initupload", { fileName: "report", directory: "b" });
  assert.equal(elsewhere.status, 200);

  const second = await start("report", "?overwrite=true");
  assert.equal(second.fileId, first.fileId);
  await put(second.url, "ne", { "content-range": "bytes 0-1/3" });
  assert.equal(await textOf(first.fileId), "old");
  const oldLink = await linkOf(first.fileId);
  const files = (await storedBlobs(server)).length;
  assert.equal((await put(second.url, "w", { "content-range": "bytes 2-2/3" })).status, 200);
  assert.equal(await textOf(first.fileId), "new");
  assert.equal((await storedBlobs(server)).length, files - 1, "the old bytes are gone");
  assert.equal((await fetch(oldLink)).status, 404);
});

/** Starts to overwrite `described`, which comes back as it is before. */
async function startDescribed(members: object) {
  const asset = (await server.ask("POST /assets", { items: [{ name: "pump" }] })).items[0]!["id"] as number;
  const old = {
    fileName: "described",
    source: "old",
    sourceId: "1",
    metadata: { a: "old" },
    assetIds: [asset],
  };
  const first = await server.ask("POST /files/initupload?overwrite=true", old);
  const { fileId, uploadURL } = (first.json as { data: { fileId: number; uploadURL: string } }).data;
  await put(uploadURL, "old bytes", { "content-type": "text/plain" });
  const before = await infoOf(fileId);
  assert.deepEqual([before["metadata"], before["assetIds"]], [{ a: "old" }, [asset]]);
  const other = (await server.ask("POST /assets", { items: [{ name: "tank" }] })).items[0]!["id"] as number;
  const sent = { fileName: "described", assetIds: [asset, other], ...members };
  const response = await server.ask("POST /files/initupload?overwrite=true", sent);
  assert.equal(response.status, 200, response.text);
  const url = (response.json as { data: { uploadURL: string } }).data.uploadURL;
  return { fileId, url, before, assets: [asset, other] as const };
}

test("an overwritten file gets its new description together with its bytes, or not at all", async () => {
  const { fileId, url, before, assets } = await startDescribed({ source: "new", metadata: { a: "new" } });
  assert.deepEqual(await infoOf(fileId), before);
  await put(url, "ne", { "content-range": "bytes 0-1/3" });
  assert.deepEqual(await infoOf(fileId), before);
  const baseUrl = server.baseUrl;
  await server.restart();
  countStoredBytes(server, storedBytes);
  const there = url.replace(baseUrl, server.baseUrl);
  assert.deepEqual(await infoOf(fileId), before);
  assert.equal(await textOf(fileId), "old bytes");
  assert.equal((await put(there, "w", { "content-range": "bytes 2-2/3" })).status, 200);
  const { source, sourceId, metadata, assetIds, lastUpdatedTime } = await infoOf(fileId);
  assert.deepEqual([source, sourceId, metadata, assetIds], ["new", undefined, { a: "new" }, [...assets]]);
  assert.ok((lastUpdatedTime as number) >= (before["lastUpdatedTime"] as number));
  assert.equal(await textOf(fileId), "new");

  const abandoned = await startDescribed({ source: "never" });
  skippedMs = limits.resumableLinkMs + 1;
  try {
    await deleteExpiredUploads(server.app.services);
    assert.deepEqual(await infoOf(abandoned.fileId), abandoned.before);
    assert.equal(await textOf(abandoned.fileId), "old bytes");
  } finally {
    skippedMs = 0;
  }
});

test("a source taken meanwhile refuses the upload, and links to deleted assets are left out", async () => {
  const clash = { source: "cad", sourceId: "7" };
  const taken = await startDescribed(clash);
  await server.ask("POST /files/initupload", { fileName: "quicker", ...clash });
  const late = await put(taken.url, "new");
  assert.deepEqual([late.status, late.message], [409, "A file has this source and sourceId already: cad 7"]);
  assert.deepEqual(await infoOf(taken.fileId), taken.before);
  assert.equal(await textOf(taken.fileId), "old bytes");
  assert.equal((await put(taken.url, "new")).status, 404);
  const early = await server.ask("POST /files/initupload?overwrite=true", {
    fileName: "described",
    ...clash,
  });
  assert.equal(early.status, 409);
  assert.deepEqual(await infoOf(taken.fileId), taken.before);

  const { fileId, url, assets } = await startDescribed({});
  await server.ask("POST /assets/delete", { items: [assets[1]] });
  assert.equal((await put(url, "new")).status, 200);
  assert.deepEqual((await infoOf(fileId))["assetIds"], [assets[0]]);
});

test("of two uploads to a new name only one becomes the file, unless the other may overwrite", async () => {
  const one = await start("twice");
  const two = await start("twice");
  assert.equal(one.fileId, two.fileId);
  assert.equal((await put(two.url, "two")).status, 200);
  const late = await put(one.url, "one");
  assert.deepEqual(
    [late.status, late.message],
    [409, "A file of this name exists in the directory already: twice"],
  );
  assert.equal(await textOf(one.fileId), "two");
  assert.equal((await put(one.url, "one")).status, 404);
});

test("deleting a file ends the upload under way and takes all bytes away", async () => {
  const { fileId, url } = await start("doomed");
  await put(url, "old");
  const again = await start("doomed", "?overwrite=true");
  const link = await linkOf(fileId);
  const { sending, status } = await beginPut(again.url, Buffer.from("ne"), { "content-length": 3 });
  await until(() => hasStored(again.url, 2), "the beginning on disk");
  const ids = [url, again.url].map((one) => /upload-\d+-(\d+)-/.exec(one)![1]!);
  await server.ask("POST /files/delete", { items: [fileId] });
  sending.end("w");
  assert.equal(await status, 409);
  const left = await storedBlobs(server);
  assert.ok(!left.some((name) => ids.includes(name.replace(".part", ""))));
  assert.equal((await fetch(link)).status, 404);
  assert.equal((await put(again.url, "new")).status, 404);
});

test("links begin with the public address of the settings, else with that of the request", async () => {
  const { fileId, url } = await start("addresses");
  await put(url, "x");
  assert.ok(url.startsWith(`${server.baseUrl}/blobs/upload-`), url);
  const { port } = new URL(server.baseUrl);
  const address = `http://localhost:${port}/api/0.4/projects/demo/storage/${fileId}`;
  const linkResponse = await fetch(address, { headers: { "api-key": server.key } });
  const { data } = (await linkResponse.json()) as { data: string };
  assert.ok(data.startsWith(`http://localhost:${port}/blobs/download-`), data);
});
