// The contract of the blobs port as scenarios: one suite, run on every store of blobs.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { BlobKey, BlobStore, ByteRange } from "../blobs.ts";

/** A store under test; one that cannot be opened anew leaves `reopen` out. */
export interface BlobsUnderTest {
  readonly blobs: BlobStore;
  /** Another store on the same bytes, as after a restart. */
  reopen?(): Promise<BlobStore>;
  end(): Promise<void>;
}

const key: BlobKey = { project: 7, id: 885_837_004_804_096 };
const other: BlobKey = { project: 8, id: key.id };

async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await turn();
    yield Buffer.from(text);
  }
}

async function* breakingOff(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* pieces(...texts);
  throw new Error("the cable was pulled");
}

async function textOf(blobs: BlobStore, wanted: BlobKey, range?: ByteRange): Promise<string | undefined> {
  const stream = await blobs.open(wanted, range);
  if (!stream) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

type Scenario = (test: BlobsUnderTest) => Promise<void>;

const scenarios: Readonly<Record<string, Scenario>> = {
  async "a blob can be read once it is sealed, not before"({ blobs }) {
    assert.equal(await blobs.put({ key, at: 0, bytes: pieces("he", "llo") }), 5);
    assert.equal(await blobs.stat(key), undefined);
    assert.equal(await textOf(blobs, key), undefined);
    await blobs.seal(key);
    assert.deepEqual(await blobs.stat(key), { bytes: 5 });
    assert.equal(await textOf(blobs, key), "hello");
    assert.equal(await textOf(blobs, other), undefined);
  },

  async "sealing twice changes nothing"({ blobs }) {
    await blobs.put({ key, at: 0, bytes: pieces("x") });
    await blobs.seal(key);
    await blobs.seal(key);
    assert.equal(await textOf(blobs, key), "x");
  },

  async "what was never put cannot be sealed"({ blobs }) {
    await assert.rejects(blobs.seal(key));
    assert.equal(await blobs.stat(key), undefined);
  },

  async "a blob may be empty"({ blobs }) {
    assert.equal(await blobs.put({ key, at: 0, bytes: pieces() }), 0);
    await blobs.seal(key);
    assert.deepEqual(await blobs.stat(key), { bytes: 0 });
    assert.equal(await textOf(blobs, key), "");
  },

  async "several puts go on where it is said, and what lay beyond goes"({ blobs }) {
    assert.equal(await blobs.put({ key, at: 0, bytes: pieces("0123456789") }), 10);
    assert.equal(await blobs.put({ key, at: 4, bytes: pieces("ab") }), 6);
    assert.equal(await blobs.put({ key, at: 6, bytes: pieces("c", "") }), 7);
    await assert.rejects(blobs.put({ key, at: 8, bytes: pieces("gap") }));
    await blobs.seal(key);
    assert.equal(await textOf(blobs, key), "0123abc");
  },

  async "a put whose source fails fails with it, and what was there before stays"({ blobs }) {
    await blobs.put({ key, at: 0, bytes: pieces("whole") });
    await assert.rejects(blobs.put({ key, at: 5, bytes: breakingOff(" half") }), /the cable was pulled/);
    assert.equal(await blobs.stat(key), undefined);
    await blobs.put({ key, at: 5, bytes: pieces("!") });
    await blobs.seal(key);
    assert.equal(await textOf(blobs, key), "whole!");
  },

  async "pieces of a blob"({ blobs }) {
    await blobs.put({ key, at: 0, bytes: pieces("0123456789") });
    await blobs.seal(key);
    assert.equal(await textOf(blobs, key, { start: 0, end: 1 }), "0");
    assert.equal(await textOf(blobs, key, { start: 3, end: 7 }), "3456");
    assert.equal(await textOf(blobs, key, { start: 9, end: 10 }), "9");
  },

  async "what is removed is gone, sealed or not; a reader who has begun reads on"({ blobs }) {
    const bytes = randomBytes(3_000_000);
    await blobs.put({ key, at: 0, bytes: pieces(bytes) });
    await blobs.seal(key);
    await blobs.put({ key: other, at: 0, bytes: pieces("part") });
    const reading = await blobs.open(key);
    await blobs.remove(key);
    await blobs.remove(other);
    await blobs.remove({ project: 1, id: 1 });
    assert.equal(await blobs.stat(key), undefined);
    await assert.rejects(blobs.seal(other));
    const hash = createHash("sha256");
    for await (const chunk of reading!) hash.update(chunk as Buffer);
    assert.equal(hash.digest("hex"), createHash("sha256").update(bytes).digest("hex"));
  },

  async "sealed blobs and begun ones are there after a restart"({ blobs, reopen }) {
    if (!reopen) return;
    await blobs.put({ key, at: 0, bytes: pieces("sealed") });
    await blobs.seal(key);
    await blobs.put({ key: other, at: 0, bytes: pieces("beg") });
    const later = await reopen();
    assert.equal(await textOf(later, key), "sealed");
    await later.put({ key: other, at: 3, bytes: pieces("un") });
    await later.seal(other);
    assert.equal(await textOf(later, other), "begun");
  },

  async "a source is read no faster than its bytes are stored"({ blobs }) {
    let begun = 0;
    let ended = 0;
    async function* watched() {
      for (let i = 0; i < 50; i++) {
        begun++;
        assert.ok(begun - ended <= 2, "many pieces were asked for before they were taken");
        yield new Uint8Array(100_000).fill(i);
        ended++;
      }
    }
    assert.equal(await blobs.put({ key, at: 0, bytes: watched() }), 5_000_000);
  },

  async "a link tells what it permits, and not a letter of it can be changed"({ blobs, reopen }) {
    const permitted = { purpose: "download", key, expiresMs: 1_795_884_732_881 } as const;
    const url = blobs.link(permitted, "https://plant.example.com/millrace");
    assert.ok(url.startsWith("https://plant.example.com/millrace/"), url);
    const token = url.slice(url.lastIndexOf("/") + 1);
    assert.match(token, /^[\w-]+$/);
    assert.deepEqual(blobs.permitted(token), permitted);
    if (reopen) assert.deepEqual((await reopen()).permitted(token), permitted);
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === "1" ? "2" : "1") + token.slice(at + 1);
      assert.equal(blobs.permitted(changed), undefined, changed);
    }
    for (const forged of [
      "",
      "x",
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      token.replace("down", "up"),
    ])
      assert.equal(blobs.permitted(forged), undefined, forged);
  },
};

/** Registers the suite; `open` makes an empty store, which forgets its bytes at `end`. */
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
