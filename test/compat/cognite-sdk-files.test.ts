// The Files methods of a published client, @cognite/sdk 1.7.7, unmodified, against the real server.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sdk from "@cognite/sdk";
import { recordReturns } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const { Assets } = sdk;
const calls = recordReturns({ Files: sdk.Files });
const { Files } = calls.recorded;
const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
});
after(() => server.close());

it("upload, download and retrieveMetadata", async () => {
  const options = { contentType: "text/plain", origin: "http://plant.example.com" };
  const { fileId, uploadURL } = await Files.upload({ fileName: "a.txt", directory: "d" }, options);
  await assert.rejects(Files.download(fileId), refused(400));
  const put = await fetch(uploadURL, { method: "PUT", body: "first" });
  assert.equal(put.status, 200);
  const response = await fetch(await Files.download(fileId));
  assert.deepEqual([response.headers.get("content-type"), await response.text()], ["text/plain", "first"]);
  const file = await Files.retrieveMetadata(fileId);
  assert.deepEqual([file.fileName, file.directory, file.uploaded], ["a.txt", "d", true]);
  assert.ok(file.uploadedAt! >= file.createdTime!);
  await assert.rejects(Files.upload({ fileName: "a.txt", directory: "d" }), refused(409));
  const over = await Files.upload(
    { fileName: "a.txt", directory: "d" },
    { overwrite: true, resumable: false },
  );
  assert.equal(over.fileId, fileId);
  await fetch(over.uploadURL, { method: "PUT", body: "second" });
  assert.equal(await (await fetch(await Files.download(fileId))).text(), "second");
});

it("retrieveMultipleMetadata, updateMetadata, updateMultipleMetadata and replaceMetadata", async () => {
  const [pump] = await Assets.create([{ name: "pump" }]);
  const { fileId: one } = await Files.upload({ fileName: "1", metadata: { a: "b" } });
  const { fileId: two } = await Files.upload({ fileName: "2", source: "s", sourceId: "2" });
  const found = await Files.retrieveMultipleMetadata([two, one]);
  assert.deepEqual(
    found.map((file) => file.id),
    [two, one],
  );
  const updated = await Files.updateMetadata(one, { assetIds: { add: [pump!.id] }, fileType: { set: "t" } });
  assert.deepEqual([updated.assetIds, updated.fileType, updated.metadata], [[pump!.id], "t", { a: "b" }]);
  await Files.updateMultipleMetadata([{ id: two, source: { setNull: true }, directory: { set: "x" } }]);
  const second = await Files.retrieveMetadata(two);
  assert.deepEqual([second.source, second.sourceId, second.directory], [undefined, "2", "x"]);
  await Files.replaceMetadata([{ ...second, metadata: { k: "v" } }]);
  const replaced = await Files.retrieveMetadata(two);
  assert.deepEqual([replaced.metadata, replaced.directory, replaced.uploaded], [{ k: "v" }, "x", false]);
});

it("list, search and delete", async () => {
  const [boiler] = await Assets.create([{ name: "boiler" }]);
  const made = [];
  for (const fileName of ["list one.pdf", "list two.pdf", "list three.txt"])
    made.push(
      await Files.upload({ fileName, directory: "list", fileType: "f", assetIds: [boiler!.id], source: "l" }),
    );
  const ids = made.map(({ fileId }) => fileId);
  const idsOf = ({ items }: { readonly items: readonly { readonly id: number }[] }) =>
    items.map(({ id }) => id);
  const all = { assetId: boiler!.id, dir: "list", type: "f", source: "l", isUploaded: false };
  assert.deepEqual(idsOf(await Files.list(all)), ids);
  assert.deepEqual(idsOf(await Files.list({ ...all, sort: "DESC", limit: 1 })), [ids[2]]);
  const page = await Files.list({ dir: "list", limit: 2 });
  assert.deepEqual(idsOf(await Files.list({ dir: "list", limit: 2, cursor: page.nextCursor! })), [ids[2]]);
  assert.deepEqual(idsOf(await Files.list({ name: "list two.pdf" })), [ids[1]]);
  const found = await Files.search({
    ...{ name: "list", directory: "list", type: "f", uploaded: false, minCreatedTime: 1, limit: 10 },
    ...{ assetIds: [boiler!.id], assetSubtrees: [boiler!.id], sort: "createdTime", dir: "asc" },
  });
  assert.deepEqual(idsOf(found), ids);
  assert.deepEqual(await Files.delete([ids[0]!, 5]), { deleted: [ids[0]], failed: [5] });
  await assert.rejects(Files.retrieveMetadata(ids[0]!), refused(404));
});

it("every method has returned", () => calls.assertAllReturned());
