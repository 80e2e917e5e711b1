// The memory of the server during large loads and reads: it does not depend on their size.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { temporaryFolder } from "../support/folder.ts";
import { endLeftProcesses, serveMillrace, withFront } from "../support/process.ts";

const adminKey = "a-key-of-this-test-with-enough-letters";
const seriesCount = 10;
const pointsEach = 100_000;
const pointsPerRequest = 10_000;
const openBrace = "{".charCodeAt(0);
/** So many that their own memory counts, beside the garbage that is left between two collections. */
const readers = 16;
/** The whole response has 48 MiB. */
const readerMiBMax = 24;
const residentMiBMax = 512;
/** Three times the budget of responses: a page that is read has copies, in two threads. */
const responseMiBMax = 768;
const names = Array.from({ length: seriesCount }, (_, i) => `memory.${i}`);
const skip = existsSync("/proc/self/status") ? false : "resident memory is read from /proc, which Linux has";

const folder = temporaryFolder();
let server: Awaited<ReturnType<typeof serveMillrace>>;

before(async () => {
  if (skip) return;
  server = await serveMillrace(
    { ...withFront, MILLRACE_DATA: join(folder, "data"), MILLRACE_ADMIN_KEY: adminKey },
    folder,
  );
});
after(endLeftProcesses);

async function post(path: string, body: string): Promise<Response> {
  const url = `${server.baseUrl}/api/0.5/projects/default${path}`;
  const response = await fetch(url, { method: "POST", headers: { "api-key": adminKey }, body });
  assert.equal(response.status, 200);
  return response;
}

/** Of the process, in MiB: now, or the most it ever was. */
async function resident(which: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${server.child.pid}/status`, "latin1");
  return Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(status)![1]) / 1024;
}

/** Restarts the measurement of the maximum. */
const forgetPeak = () => writeFile(`/proc/${server.child.pid}/clear_refs`, "5");

test("a load of 1 M points stays within the bound", { skip }, async () => {
  await post("/timeseries", JSON.stringify({ items: names.map((name) => ({ name })) }));
  const load = async (name: string) => {
    for (let from = 0; from < pointsEach; from += pointsPerRequest)
      await post(`/timeseries/data/${name}`, JSON.stringify({ items: points(from) }));
  };
  for (let at = 0; at < names.length; at += 2) await Promise.all(names.slice(at, at + 2).map(load));
  const peak = await resident("VmHWM");
  assert.ok(peak < residentMiBMax, `${peak} MiB`);
});

const points = (from: number) =>
  Array.from({ length: pointsPerRequest }, (_, i) => ({
    timestamp: (from + i) * 1000,
    value: Math.sin(from + i),
  }));

test("a read of 1 M points is streamed: readers who are slow take little memory", { skip }, async () => {
  const items = names.map((name) => ({ name }));
  const question = JSON.stringify({ items, start: 0, limit: pointsEach });
  const before = await resident("VmRSS");
  await forgetPeak();
  const responses = await Promise.all(
    Array.from({ length: readers }, () => post("/timeseries/dataquery", question)),
  );
  await setTimeout(2000);
  const grown = (await resident("VmHWM")) - before;
  assert.ok(grown < readers * readerMiBMax, `${grown} MiB for ${readers} readers who wait`);
  const [last, ...others] = responses;
  for (const other of others) await other.body!.cancel();
  assert.equal(await countPoints(last!), seriesCount * pointsEach);
});

async function countPoints(response: Response): Promise<number> {
  let braces = 0;
  for await (const piece of response.body!) for (const byte of piece) if (byte === openBrace) braces++;
  return braces - 2 - seriesCount;
}

test("sixty clients that do not read pages of long events take no more than the budget", {
  skip,
}, async () => {
  const long = (at: number) => ({
    ...{ startTime: at, type: "t".repeat(8_000), subtype: "s".repeat(8_000), source: "o".repeat(8_000) },
    ...{ sourceId: `${at} `.padEnd(8_000, "i"), description: "d".repeat(8_000) },
  });
  for (let from = 0; from < 1_000; from += 100)
    await post("/events", JSON.stringify({ items: Array.from({ length: 100 }, (_, at) => long(from + at)) }));
  const before = await resident("VmRSS");
  await forgetPeak();
  const url = new URL(`${server.baseUrl}/api/0.5/projects/default/events?limit=10000`);
  const sockets = Array.from({ length: 60 }, () => connect(Number(url.port), url.hostname));
  for (const socket of sockets) {
    socket.on("error", () => {}).pause();
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\napi-key: ${adminKey}\r\n\r\n`);
  }
  await setTimeout(10_000);
  const grown = (await resident("VmHWM")) - before;
  for (const socket of sockets) socket.destroy();
  assert.ok(grown < responseMiBMax, `${grown} MiB for ${sockets.length} clients that do not read`);
  const page = (await (await fetch(url, { headers: { "api-key": adminKey } })).json()) as {
    data: { items: unknown[]; nextCursor?: string };
  };
  assert.ok(page.data.items.length > 500 && page.data.nextCursor !== undefined);
});
