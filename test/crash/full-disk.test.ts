// A server whose disk is full, whose files may not grow, whose folder cannot be written, or whose disk fails
// a sync: responses of refused requests, the data on disk afterwards, and the recovery.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, existsSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryFolder } from "../support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace, withFront } from "../support/process.ts";

const adminKey = "a-key-of-this-test-with-enough-letters";
const environment = { ...withFront, MILLRACE_ADMIN_KEY: adminKey };
const names = ["full.a", "full.b", "full.c"];
const pointsEach = 2000;
type Server = Awaited<ReturnType<typeof serveMillrace>>;
after(endLeftProcesses);

async function ask(server: Server, path: string, body: unknown): Promise<{ status: number; text: string }> {
  const url = `${server.baseUrl}/api/0.5/projects/default${path}`;
  const headers = { "api-key": adminKey };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** Request `n` sets these times in every series, to numbers that cannot be packed. */
const insert = (server: Server, request: number) => {
  const datapoints = Array.from({ length: pointsEach }, (_, i) => ({
    timestamp: request * pointsEach + i,
    value: Math.sin(request * pointsEach + i),
  }));
  return ask(server, "/timeseries/data", { items: names.map((name) => ({ name, datapoints })) });
};

/** Writes until a request is refused; resolves with the first refused one. */
async function fill(server: Server, first: number): Promise<number> {
  for (let request = first; request < first + 2000; request++) {
    const { status, text } = await insert(server, request);
    if (status === 200) continue;
    assert.equal(status, 503, text);
    assert.match(text, /the disk is full|not stored \(.*(ENOSPC|EFBIG|full|of \d+ bytes).*free disk/);
    return request;
  }
  throw new Error("the disk is not full yet");
}

/** So many requests are there as a whole, and nothing else. */
async function check(server: Server, requests: number): Promise<void> {
  const items = names.map((name) => ({ name }));
  const { status, text } = await ask(server, "/timeseries/dataquery", { items, start: 0, limit: 100_000 });
  assert.equal(status, 200, text);
  const { data } = JSON.parse(text) as { data: { items: { datapoints: { timestamp: number }[] }[] } };
  for (const { datapoints } of data.items) {
    assert.equal(datapoints.length, requests * pointsEach);
    assert.ok(datapoints.every(({ timestamp }, index) => timestamp === index));
  }
}

interface Health {
  readonly status: string;
  readonly store: string;
  readonly freeBytes?: number;
}

const health = async (server: Server): Promise<Health> =>
  (await (await fetch(`${server.baseUrl}/health`)).json()) as Health;

async function makeSeries(server: Server): Promise<void> {
  assert.equal((await ask(server, "/timeseries", { items: names.map((name) => ({ name })) })).status, 200);
}

test("files that may not grow: refused writes leave nothing, also at a start without the bound", async () => {
  const folder = temporaryFolder();
  // Blocks of 512 bytes: 2 MB a file.
  const server = await serveMillrace(environment, folder, ["sh", "-c", 'ulimit -f 4000; exec "$@"', "sh"]);
  await makeSeries(server);
  const refused = await fill(server, 0);
  assert.ok(refused > 5);
  const { status, store } = await health(server);
  assert.equal(status, "degraded");
  assert.match(store, /^the disk refused a write: The datapoints were not stored/);
  await check(server, refused);
  // Unless a checkpoint has emptied the journal meanwhile, the next one is refused too.
  const next = (await insert(server, refused)).status;
  assert.ok(next === 200 || next === 503, `${next}`);
  const whole = next === 200 ? refused + 1 : refused;
  server.child.kill("SIGKILL");
  await server.ended;
  const again = await serveMillrace(environment, folder);
  await check(again, whole);
  assert.equal((await insert(again, whole)).status, 200);
  await check(again, whole + 1);
  again.child.kill("SIGTERM");
  assert.equal((await again.ended).status, 0);
});

/** The beginning of a command that runs with a small disk of its own mounted at the folder. */
const onSmallDisk = (folder: string, then = "true") => [
  ...["unshare", "--map-root-user", "--mount", "sh", "-c"],
  `mount -t tmpfs -o size=16m tmpfs "$0" && ${then} && exec "$@"`,
  folder,
];
const canMount = spawnSync("unshare", [...onSmallDisk(temporaryFolder()).slice(1), "true"]).status === 0;
const skip = canMount ? false : "this user may not mount a disk of its own (unshare --map-root-user --mount)";

test("a full disk: reads work, refused writes leave nothing, writes work again when there is space", {
  skip,
}, async () => {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const server = await serveMillrace({ ...environment, MILLRACE_DATA: data }, "/", onSmallDisk(folder));
  const seen = `/proc/${server.child.pid}/root${folder}`;
  await makeSeries(server);
  writeFileSync(join(seen, "ballast"), Buffer.alloc(12 * 2 ** 20));
  const refused = await fill(server, 0);
  assert.ok(refused > 5);
  await check(server, refused);
  assert.equal((await health(server)).status, "degraded");
  const copy = temporaryFolder();
  cpSync(join(seen, "data"), join(copy, "millrace-data"), { recursive: true });
  rmSync(join(seen, "ballast"));
  await until(async () => (await health(server)).status === "ok");
  assert.equal((await insert(server, refused)).status, 200);
  await check(server, refused + 1);
  server.child.kill("SIGKILL");
  await server.ended;
  const again = await serveMillrace(environment, copy);
  await check(again, refused);
  again.child.kill("SIGTERM");
  await again.ended;
  assert.equal((await runMillrace(["doctor"], {}, copy).ended).output, `${copy}/millrace-data is in order\n`);
});

/** A small disk that outlives the servers on it: runs a program there, and reads its files. */
async function smallDisk(): Promise<{ folder: string; seen: string; within: string[] }> {
  const folder = temporaryFolder();
  const mount = 'mount -t tmpfs -o size=48m tmpfs "$0" && echo ready && exec sleep 600';
  const namespaces = ["--map-root-user", "--mount", "sh", "-c", mount, folder];
  const holder = spawn("unshare", namespaces, { stdio: ["ignore", "pipe", "inherit"] });
  after(() => holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  const within = ["nsenter", "-t", `${holder.pid}`, "-U", "-m", "--preserve-credentials"];
  return { folder, seen: `/proc/${holder.pid}/root${folder}`, within };
}

/** Writes until not a byte is left. */
function fillDisk(file: string): void {
  const descriptor = openSync(file, "a");
  try {
    for (let bytes = 2 ** 20; bytes >= 1; ) {
      try {
        if (writeSync(descriptor, Buffer.alloc(bytes)) < bytes) bytes /= 2;
      } catch {
        bytes = Math.floor(bytes / 2);
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(50);
}

const itemsOf = ({ status, text }: { status: number; text: string }) => {
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { data: { items: { id: number }[] } }).data.items;
};

async function uploadLink(server: Server, fileName: string): Promise<{ id: number; url: string }> {
  const { status, text } = await ask(server, "/files/initupload?resumable=true", { fileName });
  assert.equal(status, 200, text);
  const { fileId, uploadURL } = (JSON.parse(text) as { data: { fileId: number; uploadURL: string } }).data;
  return { id: fileId, url: uploadURL };
}

async function put(url: string, bytes: number, range?: string): Promise<number> {
  const headers = range === undefined ? {} : { "content-range": range };
  return (await fetch(url, { method: "PUT", body: new Uint8Array(bytes), headers })).status;
}

const assetNames = async (server: Server): Promise<number> => {
  const url = `${server.baseUrl}/api/0.5/projects/default/assets`;
  const { data } = (await (await fetch(url, { headers: { "api-key": adminKey } })).json()) as {
    data: { items: unknown[] };
  };
  return data.items.length;
};

/** Everything that writes is refused with 503, and nothing of it is there afterwards. */
async function refusesWrites(server: Server, link: string): Promise<void> {
  const before = await assetNames(server);
  assert.equal((await ask(server, "/assets", { items: [{ name: "refused" }] })).status, 503);
  assert.equal((await insert(server, 1)).status, 503);
  assert.equal((await ask(server, "/files/initupload", { fileName: "refused" })).status, 503);
  assert.equal(await put(link.replace(/^http:..[^/]+/, server.baseUrl), 100_000), 503);
  assert.equal(await assetNames(server), before);
}

test("an upload cannot use the last space; on a disk without a free byte deletes and restarts work", {
  skip,
}, async () => {
  const { folder, seen, within } = await smallDisk();
  const settings = { ...environment, MILLRACE_DATA: join(folder, "data") };
  const server = await serveMillrace(settings, "/", within);
  await makeSeries(server);
  assert.equal((await insert(server, 0)).status, 200);
  const assets = itemsOf(
    await ask(server, "/assets", { items: [{ name: "a" }, { name: "b" }, { name: "c" }] }),
  );
  const file = await uploadLink(server, "kept");
  assert.equal(await put(file.url, 1_000_000), 200);

  const waiting = await uploadLink(server, "waiting");
  const endless = await uploadLink(server, "endless");
  const piece = 2 ** 20;
  let [sent, status] = [0, 308];
  for (; status === 308; sent += piece) {
    status = await put(endless.url, piece, `bytes ${sent}-${sent + piece - 1}/*`);
    assert.ok(sent < 48 * 2 ** 20);
  }
  assert.equal(status, 503);
  assert.equal((await health(server)).status, "degraded");
  assets.push(...itemsOf(await ask(server, "/assets", { items: [{ name: "d" }] })));

  fillDisk(join(seen, "ballast"));
  await until(async () => /only reads and deletes/.test((await health(server)).store));
  assert.ok((await health(server)).freeBytes! < 48 * 2 ** 20);
  await refusesWrites(server, waiting.url);
  await check(server, 1);
  assert.equal((await ask(server, "/assets/delete", { items: [assets[0]!.id] })).status, 200);
  assert.equal((await ask(server, "/files/delete", { items: [file.id] })).status, 200);
  server.child.kill("SIGKILL");
  await server.ended;

  const again = await serveMillrace(settings, "/", within);
  assert.match(again.output(), /^Only reads and deletes are served: the disk is full/m);
  assert.equal((await health(again)).status, "degraded");
  assert.equal(await assetNames(again), 3);
  await check(again, 1);
  await refusesWrites(again, waiting.url);
  assert.equal((await ask(again, "/assets/delete", { items: [assets[1]!.id] })).status, 200);
  assert.equal((await ask(again, "/files/delete", { items: [endless.id] })).status, 200);
  rmSync(join(seen, "ballast"));
  await until(async () => (await health(again)).status === "ok");
  assert.equal((await ask(again, "/assets", { items: [{ name: "e" }] })).status, 200);
  assert.equal((await insert(again, 1)).status, 200);
  await check(again, 2);
  assert.equal(await assetNames(again), 3);
  again.child.kill("SIGTERM");
  assert.equal((await again.ended).status, 0);
  const doctor = await runMillrace(["doctor"], settings, "/", within).ended;
  assert.match(doctor.output + doctor.errors, /is in order\n$/);
});

test("the start on a read-only folder is refused with this reason", { skip }, async () => {
  const folder = temporaryFolder();
  const within = onSmallDisk(folder, 'mkdir "$0/data" && mount -o remount,ro "$0"');
  const { status, errors } = await runMillrace(
    ["serve"],
    { MILLRACE_DATA: join(folder, "data") },
    "/",
    within,
  ).ended;
  assert.equal(status, 1);
  assert.match(errors, /^Cannot use the data folder .*: EROFS: read-only file system/);
});

const noProc = existsSync("/proc/self/fd")
  ? false
  : "which file is synced is read from /proc, which Linux has";

test("a sync that fails: health reports it, writes are refused, reads work, a restart recovers", {
  skip: noProc,
}, async () => {
  const folder = temporaryFolder();
  const trigger = join(folder, "fail-the-next-sync");
  const preload = new URL("../support/failing-sync.ts", import.meta.url).href;
  const failing = { ...environment, NODE_OPTIONS: `--import=${preload}`, FAILING_SYNC: trigger };
  const server = await serveMillrace(failing, folder);
  await makeSeries(server);
  for (const request of [0, 1, 2]) assert.equal((await insert(server, request)).status, 200);
  writeFileSync(trigger, "");
  const refusals = [await insert(server, 3)];
  assert.ok(!existsSync(trigger), "the sync failed, once");
  refusals.push(await insert(server, 3), await eraseAll(server));
  for (const { status, text } of refusals) {
    assert.equal(status, 503, text);
    const { error } = JSON.parse(text) as { error: { message: string } };
    assert.match(error.message, /^Datapoints are refused since the disk failed \(EIO.*restart the server$/);
  }
  const health = await fetch(`${server.baseUrl}/health`);
  assert.equal(health.status, 503);
  const { status, store } = (await health.json()) as { status: string; store: string };
  assert.equal(status, "failing");
  assert.match(store, /^takes no datapoints until a restart: EIO/);
  await check(server, 3);
  server.child.kill("SIGKILL");
  await server.ended;
  const again = await serveMillrace(environment, folder);
  assert.equal((await fetch(`${again.baseUrl}/health`)).status, 200);
  await check(again, 3);
  assert.equal((await insert(again, 3)).status, 200);
  await check(again, 4);
  again.child.kill("SIGTERM");
  await again.ended;
});

async function eraseAll(server: Server): Promise<{ status: number; text: string }> {
  const range = "timestampInclusiveBegin=0&timestampExclusiveEnd=100000";
  const url = `${server.baseUrl}/api/0.5/projects/default/timeseries/data/${names[0]}/deleterange?${range}`;
  const response = await fetch(url, { method: "DELETE", headers: { "api-key": adminKey } });
  return { status: response.status, text: await response.text() };
}
