// The S3 store keeps the contract of the port on a real S3 server.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { testS3 } from "../../../test/support/s3-store.ts";
import { realSystem } from "../../lib/system.ts";
import type { BlobStore } from "../blobs.ts";
import { blobsConformance } from "../conformance/blobs.ts";
import { removeLeftovers } from "./leftovers.ts";
import { ForeignBucket } from "./owner.ts";
import { partAt } from "./part-sizes.ts";
import { openS3Blobs, type S3Setting } from "./s3-blobs.ts";
import { S3Bucket } from "./s3-bucket.ts";

const store = await testS3();

const openAt = (setting: S3Setting, owner = 1): Promise<BlobStore> =>
  openS3Blobs({
    ...{ setting, owner, secret: new Uint8Array(32).fill(7), spoolFolder: temporaryFolder() },
    ...{ system: realSystem, onSweepFailure: (problem) => assert.fail(problem as Error) },
  });

/** Stores opened on one place, and their end. */
function servers(setting: S3Setting = store.place()) {
  const opened: BlobStore[] = [];
  const open = async () => {
    opened.push(await openAt(setting));
    return opened.at(-1)!;
  };
  return { setting, open, end: async () => void (await Promise.all(opened.map((one) => one.close()))) };
}

blobsConformance("S3", async () => {
  const { open, end } = servers();
  return { blobs: await open(), reopen: open, end };
});

const key = { project: 3, id: 77 };
const mebibyte = 2 ** 20;

async function* inChunks(bytes: Uint8Array, chunkBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes)
    yield Buffer.from(bytes.subarray(at, at + chunkBytes));
}

async function hashOf(blobs: BlobStore): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of (await blobs.open(key))!) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function objectsIn({ location, credentials }: S3Setting): Promise<string[]> {
  const bucket = await S3Bucket.open(location, credentials);
  const keys: string[] = [];
  for await (const { key } of bucket.list(location.prefix)) keys.push(key.slice(location.prefix.length));
  bucket.close();
  return keys.filter((name) => !/^(identity\.json|health)$/.test(name)).sort();
}

test("parts cover the largest file in 10,000 parts", () => {
  assert.deepEqual(partAt(0), { number: 1, start: 0, bytes: 8 * mebibyte });
  assert.deepEqual(partAt(8 * mebibyte - 1).number, 1);
  assert.deepEqual(partAt(8 * mebibyte), { number: 2, start: 8 * mebibyte, bytes: 8 * mebibyte });
  assert.deepEqual(partAt(8_000 * mebibyte), {
    number: 1_001,
    start: 8_000 * mebibyte,
    bytes: 32 * mebibyte,
  });
  assert.ok(partAt(2 ** 40 - 1).number <= 10_000);
});

test("an upload of many parts continues at another server, chunk by chunk", async () => {
  const { open, end, setting } = servers();
  const [one, other] = [await open(), await open()];
  const bytes = randomBytes(19 * mebibyte + 5);
  let offset = 0;
  for (const [index, length] of [5, 3 * mebibyte, 6 * mebibyte, 4 * mebibyte, 6 * mebibyte].entries()) {
    const blobs = index % 2 === 0 ? one : other;
    offset = await blobs.put({ key, offset, bytes: inChunks(bytes.subarray(offset, offset + length)) });
  }
  assert.equal(offset, bytes.length);
  await one.complete(key);
  await other.complete(key);
  assert.deepEqual(await other.stat(key), { bytes: bytes.length });
  assert.equal(await hashOf(other), sha256(bytes));
  const start = 8 * mebibyte - 2;
  const segment = await other.open(key, { start, end: start + 4 });
  assert.deepEqual(Buffer.concat(await segment!.toArray()), bytes.subarray(start, start + 4));
  assert.deepEqual(await objectsIn(setting), ["files/3/77"]);
  await end();
});

test("an upload continues before the latest put, also in an earlier part", async () => {
  const { open, end, setting } = servers();
  const blobs = await open();
  const bytes = randomBytes(18 * mebibyte);
  const put = (offset: number, to: number) =>
    blobs.put({ key, offset, bytes: inChunks(bytes.subarray(offset, to)) });
  await put(0, 3 * mebibyte);
  await blobs.put({ key, offset: 3 * mebibyte, bytes: inChunks(randomBytes(14 * mebibyte)) });
  // The server ended before its caller recorded the second put.
  assert.equal(await put(3 * mebibyte, bytes.length), bytes.length);
  await blobs.complete(key);
  assert.equal(await hashOf(blobs), sha256(bytes));
  assert.deepEqual(await objectsIn(setting), ["files/3/77"]);
  await end();
});

test("many small puts leave few objects, and none when the blob is complete or removed", async () => {
  const { open, end, setting } = servers();
  const blobs = await open();
  const bytes = randomBytes(40_000);
  for (let offset = 0; offset < bytes.length; )
    offset = await blobs.put({ key, offset, bytes: inChunks(bytes.subarray(offset, offset + 1_000)) });
  assert.ok((await objectsIn(setting)).length <= 18);
  await blobs.complete(key);
  assert.equal(await hashOf(blobs), sha256(bytes));
  await blobs.put({ key: { ...key, id: 78 }, offset: 0, bytes: inChunks(randomBytes(9 * mebibyte)) });
  assert.equal((await objectsIn(setting)).length, 3, "the record and a segment");
  await blobs.remove({ ...key, id: 78 });
  assert.deepEqual(await objectsIn(setting), ["files/3/77"]);
  await end();
});

test("a bucket with files of another data folder is refused and not changed", async () => {
  const setting = store.place();
  const own = await openAt(setting, 1);
  await own.put({ key, offset: 0, bytes: inChunks(Buffer.from("own")) });
  await own.complete(key);
  const foreign = await openAt(setting, 2);
  const refused = {
    name: ForeignBucket.name,
    message: /files of another data folder or catalog \(1\) under .*, not of this one \(2\)/,
  };
  await assert.rejects(foreign.check(), refused);
  await assert.rejects(foreign.remove(key), refused);
  await assert.rejects(foreign.put({ key, offset: 0, bytes: inChunks(Buffer.from("x")) }), refused);
  assert.equal(await hashOf(own), sha256(Buffer.from("own")));
  await Promise.all([own.close(), foreign.close()]);
});

test("leftovers are removed after two days, and unfinished uploads after nine", async () => {
  const { open, end, setting } = servers();
  const blobs = await open();
  const { location, credentials } = setting;
  const bucket = await S3Bucket.open(location, credentials);
  await blobs.put({ key, offset: 0, bytes: inChunks(randomBytes(9 * mebibyte)) });
  const forgotten = `${location.prefix}uploads/3/77/segment-of-nobody`;
  const { contentOf } = await import("./content.ts");
  await bucket.put(forgotten, contentOf("x"));
  await bucket.put(`${location.prefix}uploads/notes.txt`, contentOf("not ours"));
  const place = {
    bucket,
    prefix: location.prefix,
    remove: (key: { project: number; id: number }) => blobs.remove(key),
  };
  const before = await objectsIn(setting);
  const dayMs = 86_400_000;
  await removeLeftovers(place, Date.now() + dayMs);
  assert.deepEqual(await objectsIn(setting), before);
  await removeLeftovers(place, Date.now() + 3 * dayMs);
  assert.deepEqual(
    await objectsIn(setting),
    before.filter((name) => !name.endsWith("segment-of-nobody")),
  );
  await removeLeftovers(place, Date.now() + 10 * dayMs);
  assert.deepEqual(await objectsIn(setting), ["uploads/notes.txt"]);
  bucket.close();
  await end();
});
