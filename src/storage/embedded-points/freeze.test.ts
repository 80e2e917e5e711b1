// A frozen store and its linked journal are the store at the time of the cut, which the caller learns.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { embeddedUnderTest, filesWithoutSyncs } from "../../../test/support/points-store.ts";
import { seed, times } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";
import { batchOf, sineWave } from "../conformance/points.ts";
import { isCopyable } from "../points.ts";
import { openEmbeddedPoints } from "./embedded-points.ts";

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

/** In another process: closing a database file here would release the locks of the store on it. */
const copyInto = (target: string, paths: readonly string[]) => execFileSync("cp", [...paths, target]);

const filesIn = (folder: string, names: RegExp) =>
  readdirSync(folder)
    .filter((name) => names.test(name))
    .map((name) => join(folder, name));

it(`frozen files and the journal of a later cut are the store at that cut, PROOF_SEED=${seed}`, async () => {
  const settings = { shards: 2, blockPoints: 32, checkpointBytes: 20_000, files: filesWithoutSyncs };
  const test = await embeddedUnderTest(settings);
  const { store, folder } = test;
  assert.ok(isCopyable(store));
  const random = new RandomOperations(store);
  const run = async (operations: number) => {
    for (const end = random.operations + operations; random.operations < end; ) await random.turn();
  };
  try {
    await run(500);
    const [base, kept] = [temporaryFolder(), temporaryFolder()];
    const frozen = await store.freeze();
    await run(200);
    assert.equal(frozen.keepJournal(kept), false, "its files begin with the cut");
    await frozen.linkJournal(base, () => undefined);
    copyInto(base, filesIn(folder, /^(shard-\d+\.sqlite|store\.json)$/));
    await frozen.thaw();
    const cuts: string[] = [];
    let deleted = 0;
    for (let round = 0; round < times(6, 60); round++) {
      await run(Math.floor(400 * (round % 3)));
      cuts.push(temporaryFolder());
      assert.equal(await store.cutJournal(cuts.at(-1)!, () => undefined), true);
      const names = readdirSync(cuts.at(-1)!);
      deleted += names.filter((name) => !readdirSync(folder).includes(name)).length;
      for (const name of names) rmSync(join(kept, name), { force: true });
      const copy = temporaryFolder();
      for (const from of [base, ...cuts]) {
        const files = filesIn(from, /./);
        if (files.length > 0) copyInto(copy, files);
      }
      const restored = await openEmbeddedPoints({ ...settings, folder: copy });
      random.store = restored;
      await random.compareAll();
      assert.deepEqual((await restored.stats()).quarantined, []);
      random.store = store;
      await restored.close();
    }
    assert.ok(deleted > 0, "the store has deleted journal files between two cuts");
    store.forgetJournal();
    await run(50);
    assert.equal(await store.cutJournal(temporaryFolder(), () => undefined), false);
  } finally {
    await test.end();
  }
});
