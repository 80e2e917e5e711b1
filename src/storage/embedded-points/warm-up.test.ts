// The warm-up of a shard's thread: it runs in steps, and leaves no files.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { warmUp } from "./warm-up.ts";

/** Fewer would be long ones, for which calls wait. */
const stepsMin = 100;

test("the warm-up ends by itself after many steps, and writes no file", (context) => {
  const [before, folder] = [process.cwd(), temporaryFolder()];
  process.chdir(folder);
  context.after(() => process.chdir(before));
  assert.ok([...warmUp()].length >= stepsMin);
  assert.deepEqual(readdirSync(folder), []);
});

test("a thread that closes can end it at any step", () => {
  for (const steps of [0, 1, 3, 10]) {
    const running = warmUp();
    for (let step = 0; step < steps; step++) assert.equal(running.next().done, false);
    assert.equal(running.return().done, true);
  }
});
