// The first byte that is not UTF-8 is found at any position, in one buffer and in chunks.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NotUtf8, notUtf8At, utf8Chunks } from "./utf8.ts";

/** Grows by whole characters as long as a strict decoder takes them. */
function naively(bytes: Uint8Array): number | undefined {
  const takes = (from: number, to: number) => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(from, to));
      return true;
    } catch {
      return false;
    }
  };
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((one) => at + one <= bytes.length && takes(at, at + one));
    if (length === undefined) return at;
    at += length;
  }
  return undefined;
}

const anyBytes = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)) },
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(Buffer.from("\ufffd"), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xc0, 0x80])),
    ),
  )
  .map((parts) => Buffer.concat(parts));

test("the offset is that which a strict decoder of one character after the other finds", () => {
  fc.assert(fc.property(anyBytes, (bytes) => assert.equal(notUtf8At(bytes), naively(bytes))));
});

test("chunks pass with the offset of the first wrong byte, wherever they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes, fc.integer({ min: 1, max: 9 }), async (bytes, size) => {
      const source = async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      };
      const expected = notUtf8At(bytes);
      const passing = Array.fromAsync(utf8Chunks(source()));
      if (expected === undefined) assert.deepEqual(Buffer.concat(await passing), bytes);
      else
        await assert.rejects(
          passing,
          (problem) => problem instanceof NotUtf8 && problem.offset === expected,
          bytes.toString("hex"),
        );
    }),
  );
});

test("a wrong byte far into a large body is found", () => {
  for (const text of ["a", "é", "漢", "😀", "aé漢😀"]) {
    const bytes = Buffer.from(text.repeat(100_000));
    assert.equal(notUtf8At(bytes), undefined);
    const at = Math.floor(70_000 / Buffer.byteLength(text)) * Buffer.byteLength(text);
    bytes[at] = 0xff;
    assert.equal(notUtf8At(bytes), at, text);
  }
  assert.equal(notUtf8At(Buffer.from([0x61, 0xe2, 0x82])), 1, "a character that is cut short at the end");
});
