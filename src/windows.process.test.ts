// The server and its commands in an imitation of Windows (test/support/like-windows.ts). Nothing was run on
// Windows itself.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../test/support/process.ts";

after(endLeftProcesses);

const key = "a-key-that-is-long-enough";
const preload = new URL("../test/support/like-windows.ts", import.meta.url).href;
const environment = {
  ...{ MILLRACE_ADMIN_KEY: key, MILLRACE_KEY: key, MILLRACE_LOG_LEVEL: "error" },
  NODE_OPTIONS: `--import=${preload}`,
};

function clientOf(baseUrl: string) {
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${baseUrl}/api/0.6/projects/default${path}`, {
      ...{ method, headers: { "api-key": key, "content-type": "application/json" } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text).data;
  };
}

test("records, datapoints and files survive a kill, and are backed up and restored", async () => {
  const folder = temporaryFolder();
  const first = await serveMillrace(environment, folder);
  const write = clientOf(first.baseUrl);
  await write("POST", "/timeseries", { items: [{ name: "flow" }] });
  await write("POST", "/timeseries/data/flow", { items: [{ timestamp: 1, value: 2.5 }] });
  const { uploadURL } = await write("POST", "/files/initupload", { fileName: 'a: "b"?.txt' });
  assert.equal((await fetch(uploadURL, { method: "PUT", body: "content" })).status, 200);
  // Windows has no other end by a signal than this one.
  first.child.kill("SIGKILL");
  await first.ended;

  const second = await serveMillrace(environment, folder);
  await assertHolds(second.baseUrl);
  const run = async (...words: string[]) => {
    const { status, output, errors } = await runMillrace(words, environment, folder).ended;
    assert.equal(status, 0, output + errors);
  };
  const backups = join(folder, "backups");
  await run("backup", backups, "--server", second.baseUrl);
  await run("verify", backups);
  await run("key", "create");
  await run("export", "--output", join(folder, "plant.tar.zst"), "--server", second.baseUrl);
  second.child.kill("SIGINT");
  assert.equal((await second.ended).status, 0);
  await run("doctor");
  await run("restore", backups, "--to", join(folder, "restored"));
  const restored = await serveMillrace({ ...environment, MILLRACE_DATA: join(folder, "restored") }, folder);
  await assertHolds(restored.baseUrl);
});

test("queries and drawings are refused with the reason", async () => {
  const { baseUrl } = await serveMillrace(environment, temporaryFolder());
  const ask = clientOf(baseUrl);
  const refusal = /it needs a server on Linux or macOS/;
  await assert.rejects(ask("POST", "/transformations/preview", { query: "select 1 as x" }), refusal);
  const drawing = { fileName: "p.svg", contentType: "image/svg+xml" };
  const { fileId, uploadURL } = await ask("POST", "/files/initupload", drawing);
  await fetch(uploadURL, { method: "PUT", body: "<svg xmlns='http://www.w3.org/2000/svg'/>" });
  await assert.rejects(ask("POST", "/suggestions/drawings", { fileId }), refusal);
});

async function assertHolds(baseUrl: string): Promise<void> {
  const read = clientOf(baseUrl);
  const [{ datapoints }] = (await read("GET", "/timeseries/data/flow?start=0")).items;
  assert.deepEqual(datapoints, [{ timestamp: 1, value: 2.5 }]);
  const [file] = (await read("GET", "/files")).items;
  const link = await read("GET", `/files/${file.id}/downloadlink`);
  assert.equal(await (await fetch(link)).text(), "content");
}
