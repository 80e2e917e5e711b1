// A store that other threads are connected to is one store: each of them keeps the contract of the points
// port, and each read sees the writes of all.
import { it } from "node:test";
import { embeddedUnderTest, filesWithoutSyncs } from "../../../test/support/points-store.ts";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";
import { pointsConformance } from "../conformance/points.ts";
import type { PointsStore } from "../points.ts";
import { ConnectedPoints } from "./connected-points.ts";
import type { EmbeddedPoints } from "./embedded-points.ts";

const connectionTo = (store: PointsStore) => {
  const owner = store as EmbeddedPoints;
  return new ConnectedPoints(owner.connect(), owner);
};

pointsConformance("a connected store", async () => {
  const test = await embeddedUnderTest({ shards: 2, blockPoints: 1024 });
  const connected = connectionTo(test.store);
  return {
    store: connected,
    async end() {
      await connected.close();
      await test.end();
    },
  };
});

/** Each call goes to another of the stores. */
function inTurns(stores: readonly PointsStore[], random: () => number): PointsStore {
  const any = () => stores[Math.floor(random() * stores.length)]!;
  return {
    scanPoints: stores[0]!.scanPoints,
    append: (...sent) => any().append(...sent),
    delete: (...sent) => any().delete(...sent),
    scan: (...sent) => any().scan(...sent),
    aggregate: (...sent) => any().aggregate(...sent),
    latest: (...sent) => any().latest(...sent),
    oldPoints: (...sent) => any().oldPoints(...sent),
    stats: () => any().stats(),
    close: async () => {},
  };
}

const operations = times(20_000, 500_000);

it(`${operations} random operations in the store and two connected ones, PROOF_SEED=${seed}`, async () => {
  const settings = { shards: 2, blockPoints: 32, checkpointBytes: 100_000, files: filesWithoutSyncs };
  const test = await embeddedUnderTest(settings);
  const connected = [connectionTo(test.store), connectionTo(test.store)];
  const random = new RandomOperations(inTurns([test.store, ...connected], randomFrom(seed)));
  try {
    while (random.operations < operations) await random.turn();
    await random.compareAll();
  } finally {
    for (const one of connected) await one.close();
    await test.end();
  }
});
