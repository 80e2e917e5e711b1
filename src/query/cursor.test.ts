// Cursors: signed content is returned only for the same query and installation.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { refusal } from "../../test/support/refusal.ts";
import { cursorSigner } from "./cursor.ts";

const signer = cursorSigner(Buffer.alloc(32, 1));
const position = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger()), {
  minLength: 1,
  maxLength: 3,
});
const place = fc.record({ after: position, before: position, until: position }, { requiredKeys: [] });
const isRefused = refusal("cursor-invalid");

test("a place survives the way to the client and back, in URL-safe text", () => {
  fc.assert(
    fc.property(place, fc.jsonValue(), (where, query) => {
      const cursor = signer.sign(query, where);
      assert.match(cursor, /^[\w-]+$/);
      assert.deepEqual(signer.read([query], cursor), JSON.parse(JSON.stringify(where)));
    }),
  );
});

test("another query, another secret, and any change of a letter are refused", () => {
  const cursor = signer.sign(["assets", 1], { after: [7] });
  assert.throws(() => signer.read([["assets", 2]], cursor), isRefused);
  assert.throws(() => cursorSigner(Buffer.alloc(32, 2)).read([["assets", 1]], cursor), isRefused);
  for (let at = 0; at < cursor.length; at++) {
    const forged = `${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`;
    assert.throws(() => signer.read([["assets", 1]], forged), isRefused, forged);
  }
  for (const nonsense of ["", "x", "%00", "ä", "A".repeat(10_000)])
    assert.throws(() => signer.read([["assets", 1]], nonsense), isRefused);
});
