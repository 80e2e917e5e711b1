// kill -9 of a server with files in an S3 store: another server continues; the doctor examines the store.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { S3Bucket } from "../../src/storage/s3-blobs/s3-bucket.ts";
import { temporaryFolder } from "../support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../support/process.ts";
import { testS3 } from "../support/s3-store.ts";

after(endLeftProcesses);

const adminKey = "a-key-of-this-test-with-enough-letters";
const mebibyte = 2 ** 20;
const { location, credentials } = (await testS3()).place();
const environment = {
  MILLRACE_ADMIN_KEY: adminKey,
  MILLRACE_BLOBS: `s3://${location.bucket}/${location.prefix}?endpoint=${location.endpoint}`,
  AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
};

const bytes = randomBytes(22 * mebibyte);
const rangeOf = (from: number, to: number) => ({
  "content-range": `bytes ${from}-${to - 1}/${bytes.length}`,
});

const put = (url: string, from: number, to: number) =>
  fetch(url, {
    method: "PUT",
    body: Buffer.from(bytes.subarray(from, to)),
    headers: rangeOf(from, to),
    redirect: "manual",
  });

/** Sends some bytes of the rest and leaves the request open. */
async function beginPut(url: string, from: number, to: number): Promise<void> {
  const sending = request(url, { method: "PUT", headers: rangeOf(from, bytes.length), agent: false });
  sending.on("error", () => {}); // The server is killed.
  await new Promise<void>((resolve) => sending.write(bytes.subarray(from, to), () => resolve()));
}

async function callApi(baseUrl: string, methodAndPath: string, body?: unknown) {
  const [method = "", path = ""] = methodAndPath.split(" ");
  const response = await fetch(`${baseUrl}/api/0.5/projects/default${path}`, {
    method,
    headers: { "api-key": adminKey },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.equal(response.status, 200);
  return ((await response.json()) as { data: never }).data;
}

test("an upload whose server is killed continues at another server", async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const first = await serveMillrace(environment, folder);
  const started: { fileId: number; uploadURL: string } = await callApi(
    first.baseUrl,
    "POST /files/initupload",
    { fileName: "drawing" },
  );
  assert.equal((await put(started.uploadURL, 0, 9 * mebibyte)).status, 308);
  await beginPut(started.uploadURL, 9 * mebibyte, 19 * mebibyte);
  first.child.kill("SIGKILL");
  await first.ended;
  assert.deepEqual(readdirSync(join(folder, "millrace-data", "spool")), []);
  assert.ok(!existsSync(join(folder, "millrace-data", "blobs")), "no file is in the data folder");

  cpSync(folder, other, { recursive: true });
  const second = await serveMillrace(environment, other);
  const url = started.uploadURL.replace(first.baseUrl, second.baseUrl);
  const headers = { "content-range": `bytes */${bytes.length}` };
  const progress = await fetch(url, { method: "PUT", headers, redirect: "manual" });
  assert.equal(progress.headers.get("range"), `bytes=0-${9 * mebibyte - 1}`);
  assert.equal((await put(url, 9 * mebibyte, bytes.length)).status, 200);
  const link: string = await callApi(second.baseUrl, `GET /files/${started.fileId}/downloadlink`);
  const received = new Uint8Array(await (await fetch(link)).arrayBuffer());
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  assert.equal(sha256(received), sha256(bytes));
  second.child.kill("SIGTERM");
  await second.ended;
  assert.ok(!second.output().includes(credentials!.secretAccessKey));

  await examine(other);
});

async function examine(folder: string): Promise<void> {
  const doctor = () => runMillrace(["doctor"], environment, folder).ended;
  const sound = await doctor();
  assert.deepEqual([sound.status, sound.errors], [0, ""], sound.output);
  const bucket = await S3Bucket.open(location, credentials);
  for await (const { key } of bucket.list(`${location.prefix}files/`)) await bucket.delete(key);
  bucket.close();
  const damaged = await doctor();
  assert.equal(damaged.status, 3);
  assert.match(damaged.output, /^s3:\/\/.*\/files\/\d+\/\d+ at 0: expected 23068672 bytes, found no file$/m);
}

test("a start refuses the store of another data folder, and files that are still in the folder", async () => {
  const refused = await runMillrace(["serve"], { ...environment, MILLRACE_PORT: "0" }, temporaryFolder())
    .ended;
  assert.equal(refused.status, 1);
  assert.match(
    refused.errors,
    /has files of another data folder or catalog \(\d+\) under .* not of this one/,
  );

  const folder = temporaryFolder();
  const local = await serveMillrace({ MILLRACE_ADMIN_KEY: adminKey }, folder);
  const { uploadURL }: { uploadURL: string } = await callApi(local.baseUrl, "POST /files/initupload", {
    fileName: "local",
  });
  await fetch(uploadURL, { method: "PUT", body: "x" });
  local.child.kill("SIGTERM");
  await local.ended;
  const moved = await runMillrace(["serve"], { ...environment, MILLRACE_PORT: "0" }, folder).ended;
  assert.equal(moved.status, 1);
  assert.match(moved.errors, /has files, but MILLRACE_BLOBS names an S3 store/);
});
