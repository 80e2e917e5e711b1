// A server whose front threads cannot get their socket works without them, unless a number was chosen.
// The test changes the temporary folder and the number of cores for its whole process.
import assert from "node:assert/strict";
import { readdir, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { temporaryFolder } from "../../test/support/folder.ts";
import { openApp } from "../app.ts";
import { readSettings } from "../config.ts";
import { realSystem } from "../lib/system.ts";

const canShare = process.platform === "linux";
// A machine with fewer cores has no front threads by default.
os.availableParallelism = () => 3;
syncBuiltinESMExports();

// Temporary folders of the servers below are made in a folder of their own.
process.env["TMPDIR"] = temporaryFolder();

/** A server that is open but does not listen, after its folder for the socket has gone. */
async function openWithoutFolder(frontThreads: string) {
  const data = temporaryFolder();
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => lines.push(line) });
  const address = { MILLRACE_HOST: "127.0.0.1", MILLRACE_PORT: "0" };
  const own = { MILLRACE_DATA: data, MILLRACE_FRONT_THREADS: frontThreads };
  const app = await openApp(readSettings({ ...address, ...own }, data), realSystem, log);
  const [folder, ...others] = (await readdir(tmpdir())).filter((name) => name.startsWith("millrace-front-"));
  assert.deepEqual(others, []);
  await rm(join(tmpdir(), folder!), { recursive: true });
  return { app, lines };
}

test("auto: the main thread serves all, and the log says why", { skip: !canShare }, async () => {
  const { app, lines } = await openWithoutFolder("auto");
  try {
    const { address } = await app.listen();
    await app.frontStarted;
    assert.equal((await fetch(`${address}/health`)).status, 200);
    assert.match(lines.join(""), /"reason":"no socket can be made.*Starts without front threads/);
  } finally {
    await app.close();
  }
});

test("a number is refused", { skip: !canShare }, async () => {
  const { app } = await openWithoutFolder("1");
  try {
    await assert.rejects(app.listen(), /MILLRACE_FRONT_THREADS must be 0: no socket can be made/);
  } finally {
    await app.close();
  }
});
