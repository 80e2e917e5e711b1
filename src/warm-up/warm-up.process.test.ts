// The warm-up in a server as operators start it: it ends by itself, reports nothing, and delays no stop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, serveMillrace } from "../../test/support/process.ts";

afterEach(endLeftProcesses);

const settings = {
  MILLRACE_ADMIN_KEY: "key-0123456789abcdef0123456789abcdef0123456789",
  MILLRACE_FRONT_THREADS: "0",
  MILLRACE_LOG_LEVEL: "warn",
} as const;
/** A thread without work for so long has ended its warm-up. */
const quietMs = 1_000;
/** The warm-up takes 0.8 s on an idle machine. */
const warmUpMsMax = 60_000;

/** The processor time of the main thread; that of other threads does not count. */
function secondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Waits until the thread is quiet, and returns its processor time. */
async function quietSecondsOf(pid: number): Promise<number> {
  const untilMs = performance.now() + warmUpMsMax;
  for (let before = secondsOf(pid); performance.now() < untilMs; ) {
    await pause(quietMs);
    const now = secondsOf(pid);
    if (now === before) return now;
    before = now;
  }
  return assert.fail("it does not end");
}

const onLinux = { skip: process.platform !== "linux" && "reads /proc" };

test("a server without clients warms up, says nothing, and is quiet afterwards", onLinux, async () => {
  const server = await serveMillrace(settings, temporaryFolder());
  const pid = server.child.pid!;
  const started = secondsOf(pid);
  const warm = await quietSecondsOf(pid);
  assert.ok(warm - started > 0.2, `it took ${warm - started} s of the processor`);
  assert.equal(server.errors(), "");
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  assert.match(metrics, /^millrace_points_written_total 0$/m);
  assert.doesNotMatch(metrics, /^millrace_http_request_seconds_count/m);
  server.child.kill("SIGTERM");
  assert.equal((await server.ended).status, 0);
});

test("a server can stop during its warm-up, and says nothing", async () => {
  for (const afterMs of [0, 100, 400]) {
    const server = await serveMillrace(settings, temporaryFolder());
    await pause(afterMs);
    server.child.kill("SIGTERM");
    const { status, errors } = await server.ended;
    assert.deepEqual({ status, errors }, { status: 0, errors: "" });
  }
});
