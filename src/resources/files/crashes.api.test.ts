// The state of files after a crash between two steps, and its repair by the next start or request.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { storedBlobs } from "../../../test/support/stored-blobs.ts";
import { oneOf } from "../../query/filter.ts";
import { recordRemovals } from "./removals.ts";
import { fileTable } from "./schema.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

async function start(fileName: string) {
  const response = await server.ask("POST /files/initupload", { fileName });
  const { fileId, uploadURL } = (response.json as { data: { fileId: number; uploadURL: string } }).data;
  const [projectId, id] = /upload-(\d+)-(\d+)-/.exec(uploadURL)!.slice(1).map(Number) as [number, number];
  return { fileId, url: uploadURL, key: { project: projectId, id } };
}

test("a record that is gone takes its bytes along at the next start", async () => {
  const { fileId, url, key } = await start("deleted");
  await fetch(url, { method: "PUT", body: "x" });
  assert.ok((await storedBlobs(server)).includes(`${key.id}`));
  await server.app.services.catalog.write(key.project, async (tx) => {
    await tx.remove(fileTable, oneOf("id", [fileId]));
    await recordRemovals(tx, [key.id]);
  });
  await server.restart();
  assert.deepEqual(await storedBlobs(server), []);
});

test("complete bytes become the file's when the client requests their progress", async () => {
  const { fileId, url, key } = await start("sealed");
  await fetch(url, { method: "PUT", body: "who", headers: { "content-range": "bytes 0-2/5" } });
  const { blobs } = server.app.services;
  async function* rest() {
    yield Buffer.from("le");
  }
  await blobs.put({ key, offset: 3, bytes: rest() });
  await blobs.complete(key);
  const headers = { "content-range": "bytes */5" };
  assert.equal((await fetch(url, { method: "PUT", headers })).status, 200);
  const link = (await server.ask(`GET /files/${fileId}/downloadlink`)).json as { data: string };
  assert.equal(await (await fetch(link.data)).text(), "whole");
});
