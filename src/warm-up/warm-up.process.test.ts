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
/** It takes 0.8 s on an idle machine. */
const warmUpMs = 4_000;

/** The processor time of the main thread; that of other threads does not count. */
function secondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const onLinux = { skip: process.platform !== "linux" && "reads /proc" };

test("a server without clients warms up, says nothing, and is quiet afterwards", onLinux, async () => {
  const server = await serveMillrace(settings, temporaryFolder());
  const pid = server.child.pid!;
  const started = secondsOf(pid);
  await pause(warmUpMs);
  const warm = secondsOf(pid);
  assert.ok(warm - started > 0.2, `it took ${warm - started} s of the processor`);
  await pause(1_000);
  assert.ok(secondsOf(pid) - warm < 0.1, "it has ended");
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
