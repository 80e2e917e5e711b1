// Conformance suite of the blobs port: scenarios that every blob store must pass.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { BlobKey, BlobStore, ByteRange } from "../blobs.ts";

/** A store under test. `reopen` is absent for a store that cannot be reopened. */
export interface BlobsUnderTest {
  readonly blobs: BlobStore;
  /** Opens another store on the same data, as after a restart. */
  reopen?(): Promise<BlobStore>;
  end(): Promise<void>;
}

const key: BlobKey = { project: 7, id: 885_837_004_804_096 };
const other: BlobKey = { project: 8, id: key.id };

async function* chunks(...contents: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const content of contents) {
    await turn();
    yield Buffer.from(content);
  }
}

async function* failing(...contents: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* chunks(...contents);
  throw new Error("connection lost");
}

async function textOf(blobs: BlobStore, blob: BlobKey, range?: ByteRange): Promise<string | undefined> {
  const stream = await blobs.open(blob, range);
  if (!stream) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

type Scenario = (test: BlobsUnderTest) => Promise<void>;

const scenarios: Readonly<Record<string, Scenario>> = {
  async "a blob is readable once it is complete, not before"({ blobs }) {
    assert.equal(await blobs.put({ key, offset: 0, bytes: chunks("he", "llo") }), 5);
    assert.equal(await blobs.stat(key), undefined);
    assert.equal(await textOf(blobs, key), undefined);
    await blobs.complete(key);
    assert.deepEqual(await blobs.stat(key), { bytes: 5 });
    assert.equal(await textOf(blobs, key), "hello");
    assert.equal(await textOf(blobs, other), undefined);
  },

  async "completing a blob twice changes nothing"({ blobs }) {
    await blobs.put({ key, offset: 0, bytes: chunks("x") });
    await blobs.complete(key);
    await blobs.complete(key);
    assert.equal(await textOf(blobs, key), "x");
  },

  async "a blob without a put cannot be completed"({ blobs }) {
    await assert.rejects(blobs.complete(key));
    assert.equal(await blobs.stat(key), undefined);
  },

  async "a blob may be empty"({ blobs }) {
    assert.equal(await blobs.put({ key, offset: 0, bytes: chunks() }), 0);
    await blobs.complete(key);
    assert.deepEqual(await blobs.stat(key), { bytes: 0 });
    assert.equal(await textOf(blobs, key), "");
  },

  async "a put continues at its offset and cuts off later bytes"({ blobs }) {
    assert.equal(await blobs.put({ key, offset: 0, bytes: chunks("0123456789") }), 10);
    assert.equal(await blobs.put({ key, offset: 4, bytes: chunks("ab") }), 6);
    assert.equal(await blobs.put({ key, offset: 6, bytes: chunks("c", "") }), 7);
    await assert.rejects(blobs.put({ key, offset: 8, bytes: chunks("gap") }));
    await blobs.complete(key);
    assert.equal(await textOf(blobs, key), "0123abc");
  },

  async "a put whose source fails fails with the same error and keeps the earlier bytes"({ blobs }) {
    await blobs.put({ key, offset: 0, bytes: chunks("whole") });
    await assert.rejects(blobs.put({ key, offset: 5, bytes: failing(" half") }), /connection lost/);
    assert.equal(await blobs.stat(key), undefined);
    await blobs.put({ key, offset: 5, bytes: chunks("!") });
    await blobs.complete(key);
    assert.equal(await textOf(blobs, key), "whole!");
  },

  async "ranges of a blob"({ blobs }) {
    await blobs.put({ key, offset: 0, bytes: chunks("0123456789") });
    await blobs.complete(key);
    assert.equal(await textOf(blobs, key, { start: 0, end: 1 }), "0");
    assert.equal(await textOf(blobs, key, { start: 3, end: 7 }), "3456");
    assert.equal(await textOf(blobs, key, { start: 9, end: 10 }), "9");
  },

  async "a removed blob is gone, complete or not; an open stream can still be read"({ blobs }) {
    const bytes = randomBytes(3_000_000);
    await blobs.put({ key, offset: 0, bytes: chunks(bytes) });
    await blobs.complete(key);
    await blobs.put({ key: other, offset: 0, bytes: chunks("part") });
    const reading = await blobs.open(key);
    await blobs.remove(key);
    await blobs.remove(other);
    await blobs.remove({ project: 1, id: 1 });
    assert.equal(await blobs.stat(key), undefined);
    await assert.rejects(blobs.complete(other));
    const hash = createHash("sha256");
    for await (const chunk of reading!) hash.update(chunk as Buffer);
    assert.equal(hash.digest("hex"), createHash("sha256").update(bytes).digest("hex"));
  },

  async "complete and incomplete blobs are there after a restart"({ blobs, reopen }) {
    if (!reopen) return;
    await blobs.put({ key, offset: 0, bytes: chunks("complete") });
    await blobs.complete(key);
    await blobs.put({ key: other, offset: 0, bytes: chunks("beg") });
    const later = await reopen();
    assert.equal(await textOf(later, key), "complete");
    await later.put({ key: other, offset: 3, bytes: chunks("un") });
    await later.complete(other);
    assert.equal(await textOf(later, other), "begun");
  },

  async "a source is read no faster than its bytes are stored"({ blobs }) {
    let begun = 0;
    let ended = 0;
    async function* watched() {
      for (let i = 0; i < 50; i++) {
        begun++;
        assert.ok(begun - ended <= 2, "chunks were read ahead of the writes");
        yield new Uint8Array(100_000).fill(i);
        ended++;
      }
    }
    assert.equal(await blobs.put({ key, offset: 0, bytes: watched() }), 5_000_000);
  },

  async "a link holds its permission, and no character of it can be changed"({ blobs, reopen }) {
    const link = { purpose: "download", key, expiresMs: 1_795_884_732_881 } as const;
    const url = blobs.link(link, "https://plant.example.com/millrace");
    assert.ok(url.startsWith("https://plant.example.com/millrace/"), url);
    const token = url.slice(url.lastIndexOf("/") + 1);
    assert.match(token, /^[\w-]+$/);
    assert.deepEqual(blobs.readLink(token), link);
    if (reopen) assert.deepEqual((await reopen()).readLink(token), link);
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === "1" ? "2" : "1") + token.slice(at + 1);
      assert.equal(blobs.readLink(changed), undefined, changed);
    }
    for (const forged of [
      "",
      "x",
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      token.replace("down", "up"),
    ])
      assert.equal(blobs.readLink(forged), undefined, forged);
  },
};

/** Registers the suite. `open` creates an empty store, whose `end` removes its data. */
export function blobsConformance(name: string, open: () => Promise<BlobsUnderTest>): void {
  describe(`${name} as a blobs store`, () => {
    for (const [title, play] of Object.entries(scenarios))
      it(title, async () => {
        const test = await open();
        try {
          await play(test);
        } finally {
          await test.end();
        }
      });
  });
}
