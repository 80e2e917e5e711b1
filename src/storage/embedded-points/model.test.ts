// Random writes, deletions, reads, restarts and crashes by the thousand: each result equals that of the naive
// store, bit for bit, and aggregates to 1e-9.
import { it } from "node:test";
import { embeddedUnderTest, filesWithoutSyncs } from "../../../test/support/points-store.ts";
import { seed, times } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";

const operations = times(20_000, 1_000_000);
/** Few, because opening and closing the store costs more than thousands of operations. */
const lives = times(8, 400);

it(`${operations} random operations and ${lives} restarts, PROOF_SEED=${seed}`, async () => {
  const settings = { shards: 2, blockPoints: 32, checkpointBytes: 100_000, files: filesWithoutSyncs };
  const test = await embeddedUnderTest(settings);
  const random = new RandomOperations(test.store);
  try {
    for (let life = 1; life <= lives; life++) {
      while (random.operations < (operations * life) / lives) await random.turn();
      random.store = await (random.chance(0.5) ? test.restart() : test.crash());
      await random.compareAll();
    }
  } finally {
    await test.end();
  }
});
