// The folder store keeps the contract of the port, and reports a disk that refuses writes.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { blobsConformance } from "../conformance/blobs.ts";
import { openLocalBlobs } from "./local-blobs.ts";

const secret = new Uint8Array(32).fill(7);

blobsConformance("a folder", async () => {
  const folder = temporaryFolder();
  const open = () => openLocalBlobs({ folder, secret });
  return { blobs: await open(), reopen: open, end: async () => {} };
});

test("another secret signs other links", async () => {
  const [one, other] = await Promise.all(
    [1, 2].map((byte) =>
      openLocalBlobs({ folder: temporaryFolder(), secret: new Uint8Array(32).fill(byte) }),
    ),
  );
  const link = one!.link({ purpose: "upload", key: { project: 1, id: 2 }, expiresMs: 3 }, "http://a");
  const token = link.slice(link.lastIndexOf("/") + 1);
  assert.ok(one!.readLink(token));
  assert.equal(other!.readLink(token), undefined);
});

test("a blob is one file of its project's folder, named .part until it is complete", async () => {
  const folder = temporaryFolder();
  const blobs = await openLocalBlobs({ folder, secret });
  const key = { project: 5, id: 9 };
  async function* bytes() {
    yield Buffer.from("x");
  }
  await blobs.put({ key, offset: 0, bytes: bytes() });
  assert.deepEqual(readdirSync(join(folder, "5")), ["9.part"]);
  await blobs.complete(key);
  assert.deepEqual(readdirSync(join(folder, "5")), ["9"]);
  await blobs.remove(key);
  assert.deepEqual(readdirSync(join(folder, "5")), []);
});

test("a symbolic link at the path of a blob is not followed, neither to read nor to write", async () => {
  const folder = temporaryFolder();
  const outside = join(temporaryFolder(), "outside");
  writeFileSync(outside, "secret content");
  const blobs = await openLocalBlobs({ folder, secret });
  mkdirSync(join(folder, "1"));
  for (const name of ["2", "2.part", "3.part"]) symlinkSync(outside, join(folder, "1", name));
  symlinkSync(join(folder, "made"), join(folder, "1", "4.part"));
  async function* bytes() {
    yield Buffer.from("overwritten");
  }
  await assert.rejects(blobs.open({ project: 1, id: 2 }), { code: "ELOOP" });
  for (const id of [2, 3]) {
    const put = blobs.put({ key: { project: 1, id }, offset: 0, bytes: bytes() });
    await assert.rejects(put, { code: "ELOOP" });
  }
  await assert.rejects(blobs.put({ key: { project: 1, id: 4 }, offset: 0, bytes: bytes() }));
  assert.equal(readFileSync(outside, "utf8"), "secret content");
  assert.ok(!existsSync(join(folder, "made")));
});

test("a full disk is the failure file-not-stored", async () => {
  const blobs = await openLocalBlobs({ folder: temporaryFolder(), secret });
  async function* bytes() {
    yield Buffer.from("x");
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  }
  await assert.rejects(blobs.put({ key: { project: 1, id: 1 }, offset: 0, bytes: bytes() }), {
    failure: "file-not-stored",
    status: 503,
  });
});
