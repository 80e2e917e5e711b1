// The setting that has V8 optimise loops of WebAssembly early.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

test("this version of V8 knows the setting for loops of WebAssembly", () => {
  const file = new URL("web-assembly.ts", import.meta.url).href;
  const code = `(await import("${file}")).optimiseLoopsEarly();`;
  const ran = spawnSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" });
  // V8 writes there that it does not know a flag, and continues.
  assert.equal(ran.stderr, "");
  assert.equal(ran.status, 0);
});
