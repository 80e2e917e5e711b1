// Backups while a disk does not respond: one ends before the data folder, which grows meanwhile, fills its
// own disk, and at a stop of the server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { secretOf } from "../data-folder.ts";
import { secretFor } from "../installation.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { backupsPath, backupToken } from "./backup-routes.ts";
import type { BackupsState } from "./backups.ts";

let server: TestServer | undefined;
after(() => server?.close());

const headersFor = (dataFolder: string) => {
  const token = backupToken(secretFor("backups", secretOf(dataFolder, realSystem)));
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
};

test("while the copy hangs, the backup ends as soon as the disk of the data gets full", async (t) => {
  const roomy = { bytes: 2 ** 40, diskBytes: 2 ** 41, files: 10_000 };
  let free = roomy;
  server = await startTestServer({ system: { ...realSystem, freeDiskAt: async () => free } });
  const { ask, baseUrl, dataFolder } = server;
  const upload = await ask("POST /files/initupload", { fileName: "hanging" });
  const { uploadURL } = (upload.json as { data: { uploadURL: string } }).data;
  assert.equal((await fetch(uploadURL, { method: "PUT", body: "bytes" })).status, 200);
  const headers = headersFor(dataFolder);
  const state = async () => (await fetch(baseUrl + backupsPath, { headers })).json() as Promise<BackupsState>;
  const backups = temporaryFolder();
  const body = JSON.stringify({ place: backups });
  const started = await fetch(baseUrl + backupsPath, { method: "POST", headers, body });
  if (started.status === 400) return t.skip("this run has its data outside of the folder");
  for (let found = await state(); found.running; found = await state()) await delay(10);
  assert.equal((await state()).last?.outcome, "complete");

  // A file that a copy opens for ever, as one of a network disk that does not respond.
  const blobs = readdirSync(join(dataFolder, "blobs"), { recursive: true, encoding: "utf8" });
  const blob = join(dataFolder, "blobs", blobs.find((path) => /^\d+\/\d+$/.test(path))!);
  rmSync(blob);
  execFileSync("mkfifo", [blob]);
  const other = JSON.stringify({ place: temporaryFolder() });
  await fetch(baseUrl + backupsPath, { method: "POST", headers, body: other });
  while ((await state()).running?.phase !== "copying") await delay(10);
  free = { ...roomy, bytes: limits.uploadFreeBytesMin - 1 };
  for (let found = await state(); found.running; found = await state()) await delay(10);
  const { last } = await state();
  assert.ok(last?.outcome === "failed", JSON.stringify(last));
  assert.match(last.problem, /disk of the data folder gets full .*bytes are free on the disk/);
  free = roomy;
  assert.equal((await ask("POST /assets", { items: [{ name: "after the backup" }] })).status, 200);
});

test("a stop of the server ends a backup that starts on a disk that does not respond", async (t) => {
  const { baseUrl, dataFolder } = server!;
  const headers = headersFor(dataFolder);
  const backups = temporaryFolder();
  const description = join(backups, "millrace-backups.json");
  execFileSync("mkfifo", [description]);
  const body = JSON.stringify({ place: backups });
  const started = await fetch(baseUrl + backupsPath, { method: "POST", headers, body });
  if (started.status === 400) return t.skip("this run has its data outside of the folder");
  const writer = await writerOf(description);
  await server!.restart();
  closeSync(writer);
  assert.deepEqual(await (await fetch(server!.baseUrl + backupsPath, { headers })).json(), {});
});

/** Waits until another process reads the pipe. */
async function writerOf(path: string): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      await delay(10); // No process reads it yet.
    }
  }
}
