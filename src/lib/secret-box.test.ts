// Encrypted secrets can be decrypted only with their context and their key.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { secretBox } from "./secret-box.ts";

const box = secretBox(randomBytes(32));
const secret = Buffer.from("a secret of a user");

test("an encrypted secret is decrypted, and no two results are equal", () => {
  const encrypted = box.encrypt(secret, "a");
  assert.deepEqual(Buffer.from(box.decrypt(encrypted, "a")!), secret);
  assert.notEqual(box.encrypt(secret, "a"), encrypted);
  assert.ok(!Buffer.from(encrypted, "base64url").includes(secret));
});

test("another context, another key, a changed byte and a short string decrypt nothing", () => {
  const encrypted = box.encrypt(secret, "a");
  assert.equal(box.decrypt(encrypted, "b"), undefined);
  assert.equal(secretBox(randomBytes(32)).decrypt(encrypted, "a"), undefined);
  const bytes = Buffer.from(encrypted, "base64url");
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    assert.equal(box.decrypt(changed.toString("base64url"), "a"), undefined, `byte ${at}`);
  }
  assert.equal(box.decrypt("abc", "a"), undefined);
});
