// The stream between the server and the process of a model: its entries, and hostile bytes.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { limits } from "../limits.ts";
import { ReceivedArtifacts } from "./artifacts.ts";
import { BadEntry, decodeEntries, encodeEntries } from "./entries.ts";

async function* inPieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield Buffer.from(bytes.subarray(at, at + length));
}

async function decoded(source: AsyncIterable<Uint8Array>) {
  const found: [string, string][] = [];
  for await (const { name, bytes } of decodeEntries(source))
    found.push([name, Buffer.concat(await Array.fromAsync(bytes)).toString("latin1")]);
  return found;
}

/** An entry of one chunk. */
const entry = (name: Uint8Array | string, text = "x"): Buffer => {
  const [head, size, named] = [Buffer.alloc(2), Buffer.alloc(4), Buffer.from(name)];
  head.writeUInt16BE(named.length);
  size.writeUInt32BE(text.length);
  return Buffer.concat([head, named, size, Buffer.from(text), Buffer.alloc(4)]);
};

const entries = (...names: readonly string[]) => inPieces(Buffer.concat(names.map((name) => entry(name))), 7);

describe("a stream of entries", () => {
  test("carries names and bytes, in chunks of any size", async () => {
    const long = "l".repeat(limits.modelChunkBytesMax * 2 + 5);
    const sent = [
      ["a", ["one", "", "two"]],
      ["sub/ä", []],
      ["long", [long]],
    ] as const;
    const encoding = encodeEntries(
      sent.map(([name, strings]) => ({ name, open: async () => strings.map((text) => Buffer.from(text)) })),
    );
    const bytes = Buffer.concat(await Array.fromAsync(encoding));
    for (const length of [1_000, 65_536, bytes.length])
      assert.deepEqual(await decoded(inPieces(bytes, length)), [
        ["a", "onetwo"],
        ["sub/ä", ""],
        ["long", long],
      ]);
    assert.deepEqual(await decoded(inPieces(entry("a"), 1)), [["a", "x"]]);
  });

  test("leaves no source open, wherever its reader stops", async () => {
    for (let parts = 0; parts < 12; parts++) {
      const sources: Readable[] = [];
      const open = async () => {
        sources.push(Readable.from([Buffer.from("one"), Buffer.from("two")]));
        return sources.at(-1)!;
      };
      const encoding = encodeEntries([
        { name: "a", open },
        { name: "b", open },
      ]);
      for (let part = 0; part < parts; part++) await encoding.next();
      await encoding.return(undefined);
      const left = sources.filter((source) => !source.destroyed);
      assert.deepEqual(left, [], `stopped after ${parts} parts`);
    }
  });

  for (const [what, bytes] of [
    ["half a length", Buffer.from([0])],
    ["a name that is cut short", entry("name").subarray(0, 4)],
    ["a chunk that is cut short", entry("name", "text").subarray(0, 12)],
    ["an entry without its end", entry("name").subarray(0, -1)],
    ["no name", entry("")],
    ["a long name", entry("n".repeat(2_000))],
    ["a name that is not UTF-8", entry(Buffer.from([0xff, 0xfe]))],
    ["a chunk of 4 GiB", Buffer.from([0, 1, 97, 255, 255, 255, 255])],
  ] as const)
    test(`is refused with ${what}`, async () => {
      await assert.rejects(decoded(inPieces(bytes, 3)), BadEntry);
    });

  test("is refused by a reader that leaves an entry", async () => {
    await assert.rejects(async () => {
      for await (const _ of decodeEntries(entries("a", "b")));
    }, BadEntry);
  });
});

describe("artifacts of a training", () => {
  async function kept(...names: readonly string[]) {
    const found: string[] = [];
    const artifacts = new ReceivedArtifacts({
      keep: async ({ name, bytes }) => {
        await Array.fromAsync(bytes);
        found.push(name);
      },
    });
    for await (const one of decodeEntries(entries(...names))) await artifacts.receive(one);
    return found;
  }

  test("have paths below their folder", async () => {
    const names = ["a", "sub/b", "sub/c", "sub2", "..a", ".b", "ä"];
    assert.deepEqual(await kept(...names), names);
  });

  for (const name of [
    ...["/a", "../a", "a/../../b", "a/..", ".", "..", "a//b", "a/", "./a", "a\\b", "a\0b"],
    ...["n".repeat(256), `${"n/".repeat(512)}n`],
  ])
    test(`are refused with the name ${JSON.stringify(name.slice(0, 20))}`, async () => {
      await assert.rejects(kept("good", name), BadEntry);
    });

  for (const names of [
    ["a", "a"],
    ["a", "a/b"],
    ["a/b/c", "a/b"],
  ])
    test(`are refused in the place of another: ${names.join(", ")}`, async () => {
      await assert.rejects(kept(...names), /has the path of another artifact/);
    });

  test("are bounded in number", async () => {
    const names = Array.from({ length: limits.modelArtifactsMax }, (_, i) => String(i));
    assert.equal((await kept(...names)).length, names.length);
    await assert.rejects(kept(...names, "more"), /more than 1000 artifacts/);
  });
});
