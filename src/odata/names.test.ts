// Tests the encoding of names of open members.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeName, encodeName } from "./names.ts";

test("an identifier leads back to its name, so that no two names share one", () => {
  const parts = ["", "_", "_x", "0041", "_x0041_", "x005F_", "a", ".", " ", "é", "7"];
  const names = parts.flatMap((a) => parts.flatMap((b) => parts.map((c) => a + b + c)));
  for (const name of names) {
    const encoded = encodeName(name);
    assert.match(encoded, /^[\p{L}_][\p{L}\p{Nd}_]*$/u, JSON.stringify(name));
    assert.equal(decodeName(encoded), name, encoded);
  }
  assert.deepEqual(["", "_", "a.b", "_x0041_", "_x_"].map(encodeName), [
    "_x_",
    "_",
    "a_x002E_b",
    "_x005F_x0041_",
    "_x005F_x_x005F_",
  ]);
});
