// Strings found in the cache by their bytes are correct, also when slots collide.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StringCache } from "./string-cache.ts";

const ascii = fc.string({
  unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

test("all strings are returned unchanged, with good and bad hashes", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(ascii, fc.integer({ min: 0, max: 3 })), { maxLength: 50 }), (strings) => {
      const known = new StringCache();
      for (const [text, hash] of [...strings, ...strings]) {
        const bytes = Buffer.from(`"${text}"`, "latin1");
        assert.equal(known.stringOf(bytes, { from: 1, to: 1 + text.length, hash }), text);
      }
    }),
  );
});
