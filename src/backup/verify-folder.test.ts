// The temporary folders of `millrace verify` are removed, also those of killed processes.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { VerifyFolder } from "./verify-folder.ts";

test("leftovers of killed processes are removed, and no folder that is in use", () => {
  const temporary = temporaryFolder();
  const leftover = join(temporary, "millrace-verify-killed");
  const starting = join(temporary, "millrace-verify-starting");
  for (const folder of [leftover, starting]) mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(join(leftover, "holder.pid"), "1");
  writeFileSync(join(leftover, "data", "catalog.db"), "");
  const first = VerifyFolder.make(temporary);
  assert.ok(!existsSync(leftover));
  assert.ok(existsSync(starting));
  const second = VerifyFolder.make(temporary);
  assert.ok(existsSync(first.path));
  for (const one of [first, second]) one[Symbol.dispose]();
  assert.deepEqual(readdirSync(temporary), ["millrace-verify-starting"]);
});

test("a temporary folder that does not exist is refused", () => {
  assert.throws(() => VerifyFolder.make("/missing/folder"), /Cannot use the temporary folder/);
});
