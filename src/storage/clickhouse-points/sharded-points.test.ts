// Three shards of ClickHouse keep the contract of the points port, but for requests over several shards that
// fail; a start with other shards is refused.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  clocks,
  newClickHouseDatabase,
  parseClickHouseUrl,
  sharedClickHouse,
  statement,
} from "../../../test/support/clickhouse.ts";
import { cuttableProxy } from "../../../test/support/cuttable-proxy.ts";
import { needs } from "../../../test/support/needs.ts";
import { times } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";
import { CannotOpen } from "../cannot-open.ts";
import { at, batchOf, pointsConformance, pointsOf } from "../conformance/points.ts";
import type { PointsStore } from "../points.ts";
import { shardOf } from "../shard-of.ts";
import type { ClickHouseLocation, ClickHouseShards } from "./location.ts";
import { openClickHouseShards } from "./sharded-points.ts";

const operations = process.env["TEST_POINTS"] === "clickhouse" ? times(2_000, 20_000) : 200;
const settings = { owner: 1, ...clocks };

/** A series of each shard. */
const [first, second, third] = [0, 1, 2].map(
  (shard) =>
    Array.from({ length: 100 }, (_, index) => (index + 1) * 4096).find((id) => shardOf(id, 3) === shard)!,
) as [number, number, number];

describe("datapoints in three shards of ClickHouse", needs("clickhouse"), () => {
  pointsConformance("three shards", async () => {
    const { shards, end } = await newShards();
    const opened: PointsStore[] = [];
    const open = async () => {
      const store = await openClickHouseShards(shards, settings);
      opened.push(store);
      return store;
    };
    return {
      store: await open(),
      restart: async () => {
        await opened.at(-1)!.close();
        return open();
      },
      crash: open,
      end: async () => {
        for (const store of opened) await store.close();
        await end();
      },
    };
  });

  it(`equal the naive store for ${operations} random operations`, async () => {
    const { shards, end } = await newShards();
    const random = new RandomOperations(await openClickHouseShards(shards, settings));
    while (random.operations < operations) await random.turn();
    await random.compareAll();
    await random.store.close();
    await end();
  });

  it("store each series in its shard alone, and count all", async () => {
    const { shards, server, end } = await newShards();
    const store = await openClickHouseShards(shards, settings);
    const ids = [first, second, third];
    await store.append(batchOf(...ids.map((id) => [id, at("10=1 20=2")] as const)));
    for (const [shard, { database }] of shards.entries())
      assert.equal(
        await statement(server, "SELECT DISTINCT series FROM points", database),
        `${ids[shard]}\n`,
      );
    const latest = await store.latest(
      [third, first, third].map((series) => ({ series, isString: false })),
      20,
    );
    assert.deepEqual(
      latest,
      [1, 1, 1].map((value) => ({ timeMs: 10, value })),
    );
    assert.equal((await store.stats()).points, 6);
    await store.close();
    await end();
  });

  it("refuse a start with other shards, or in another order", async () => {
    const { shards, end } = await newShards();
    const store = await openClickHouseShards(shards, settings);
    await store.append(batchOf([first, at("10=1")]));
    await store.close();
    const [one, two, three] = shards as [ClickHouseLocation, ClickHouseLocation, ClickHouseLocation];
    for (const others of [[two, one, three], [one, two], [one]] as ClickHouseShards[])
      await assert.rejects(
        openClickHouseShards(others, settings),
        (problem) =>
          problem instanceof CannotOpen && /belongs to another catalog or shard/.test(problem.message),
      );
    const again = await openClickHouseShards(shards, { ...settings, isUsed: true });
    assert.deepEqual(await pointsOf(again, first), at("10=1"));
    await again.close();
    await end();
  });

  it("name the shard that is away", async () => {
    const { shards, end } = await newShards();
    const [one, two, three] = shards as unknown as [
      ClickHouseLocation,
      ClickHouseLocation,
      ClickHouseLocation,
    ];
    const proxy = await cuttableProxy(two.hosts[0].port);
    const proxied = { ...two, hosts: [{ host: "127.0.0.1", port: proxy.port }] } as const;
    const store = await openClickHouseShards([one, proxied, three], settings);
    assert.equal((await store.stats()).points, 0);
    await proxy.close();
    await assert.rejects(store.stats(), /shard 2 of 3: /);
    await store.close();
    await end();
  });

  it("fail a request over several shards while one is away, and serve the others", async () => {
    const { shards, server, end } = await newShards();
    const store = await openClickHouseShards(shards, settings);
    await statement(server, "RENAME TABLE points TO hidden", shards[1]!.database);
    await assert.rejects(store.append(batchOf([first, at("10=1")], [second, at("10=1")])));
    await store.append(batchOf([third, at("10=3")]));
    assert.deepEqual(await pointsOf(store, third), at("10=3"));
    await assert.rejects(pointsOf(store, second));
    await statement(server, "RENAME TABLE hidden TO points", shards[1]!.database);
    await store.append(batchOf([first, at("10=1")], [second, at("10=1")]));
    for (const series of [first, second]) assert.deepEqual(await pointsOf(store, series), at("10=1"));
    await store.close();
    await end();
  });
});

/** Three databases of one server stand for three servers. */
async function newShards() {
  const server = await sharedClickHouse();
  const shards: ClickHouseLocation[] = [];
  for (let shard = 0; shard < 3; shard++)
    shards.push(parseClickHouseUrl(await newClickHouseDatabase(server))!);
  return {
    server,
    shards: shards as unknown as ClickHouseShards,
    end: async () => {
      for (const { database } of shards) await statement(server, `DROP DATABASE ${database}`);
    },
  };
}
