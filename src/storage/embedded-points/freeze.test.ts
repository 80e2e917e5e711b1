// A frozen store and its linked journal are the store at the time of the cut, which the caller learns.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { embeddedUnderTest } from "../../../test/support/points-store.ts";
import { batchOf, sineWave } from "../conformance/points.ts";
import { isCopyable } from "../points.ts";

it("the caller learns of the cut of the journal before the journal is linked", async () => {
  const test = await embeddedUnderTest({ shards: 1 });
  try {
    const { store } = test;
    assert.ok(isCopyable(store));
    await store.append(batchOf([4096, sineWave(10, 0, 1000)]));
    const target = temporaryFolder();
    const frozen = await store.freeze();
    const atCut: string[][] = [];
    await frozen.linkJournal(target, () => atCut.push(readdirSync(target)));
    assert.deepEqual(atCut, [[]]);
    assert.ok(readdirSync(target).length > 0);
    await frozen.thaw();
  } finally {
    await test.end();
  }
});
