// Three replicas of ClickHouse with a quorum of two: a kill of one loses nothing that was acknowledged, and
// every replica returns it. `npm run test:cluster` installs ZooKeeper and runs this.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { skipWithout } from "../../scripts/system-packages.ts";
import { openClickHousePoints } from "../../src/storage/clickhouse-points/clickhouse-points.ts";
import type { ClickHouseLocation } from "../../src/storage/clickhouse-points/location.ts";
import { at, batchOf, pointsConformance, pointsOf } from "../../src/storage/conformance/points.ts";
import type { PointsStore } from "../../src/storage/points.ts";
import {
  type ClickHouseServer,
  clocks,
  parseClickHouseUrl,
  startClickHouse,
  statement,
  sweepAt,
} from "../support/clickhouse.ts";
import { RandomOperations } from "../support/random-operations.ts";
import { startZooKeeper, zooKeeperPackage } from "../support/zookeeper.ts";

const isCluster = process.env["TEST_POINTS"] === "clickhouse";
const skip = isCluster
  ? skipWithout("clickhouse") || skipWithout("zookeeper", { zookeeper: zooKeeperPackage })
  : "runs in npm run test:cluster";
const replicas = [1, 2, 3];

describe("datapoints in replicas of ClickHouse", { skip }, () => {
  let servers: ClickHouseServer[] = [];
  let databases = 0;

  before(async () => {
    const { port } = await startZooKeeper();
    servers = await Promise.all(
      replicas.map((replica) => startClickHouse({ zooKeeperPorts: [port], replica })),
    );
  });
  after(() => {
    for (const server of servers) server.remove();
  });

  /** A database with this name on each replica. */
  async function newLocation(): Promise<ClickHouseLocation> {
    const database = `replicated_${++databases}`;
    for (const server of servers) await statement(server, `CREATE DATABASE ${database}`);
    const own = servers.map((server) => parseClickHouseUrl(server.url(database))!);
    const [first, ...others] = own.map(({ hosts }) => hosts[0]);
    return { ...own[0]!, hosts: [first!, ...others], quorum: 2 };
  }

  const open = (location: ClickHouseLocation) => openClickHousePoints({ location, owner: 1, ...clocks });

  /** A store whose statements begin at this replica. */
  const from = ({ hosts, ...rest }: ClickHouseLocation, first: number): ClickHouseLocation => {
    const order = [...hosts.slice(first), ...hosts.slice(0, first)];
    return { ...rest, hosts: [order[0]!, ...order.slice(1)] };
  };

  pointsConformance("replicas with a quorum", async () => {
    const location = await newLocation();
    const opened: PointsStore[] = [];
    let starts = 0;
    const again = async () => {
      const store = await open(from(location, starts++ % servers.length));
      opened.push(store);
      return store;
    };
    return {
      store: await again(),
      restart: again,
      crash: again,
      end: async () => {
        for (const store of opened) await store.close();
        for (const server of servers) await statement(server, `DROP DATABASE ${location.database}`);
      },
    };
  });

  test("random operations equal the naive store, at any replica and with sweeps", async () => {
    const location = await newLocation();
    const random = new RandomOperations(await open(location));
    const first = random.store;
    const sweep = sweepAt(location);
    while (random.operations < 300) {
      await random.turn();
      if (random.chance(0.3)) await sweep.sweep();
    }
    for (const replica of [1, 2]) {
      random.store = await open(from(location, replica));
      await random.compareAll();
      await random.store.close();
    }
    await sweep.stop();
    await first.close();
  });

  test("deleted points are removed from every replica, although no write follows", async () => {
    const location = await newLocation();
    const store = await open(location);
    const sweep = sweepAt(location);
    for (const points of ["10=1 20=2 30=3", "40=4"]) {
      await store.append(batchOf([4096, at(points)], [8192, at("1=1")]));
      await store.delete(4096, { startMs: 15, endMs: 45 });
      await store.delete(8192);
      for (let sweeps = 0; sweeps < 2; sweeps++) await sweep.sweep();
      for (const server of servers) {
        const rowsOf = (table: string) =>
          statement(server, `SELECT series, count() FROM ${table} GROUP BY series`, location.database);
        assert.equal(await rowsOf("points WHERE series > 0"), "4096\t1\n");
        assert.equal(await rowsOf("tombstones WHERE series > 0"), "");
      }
      assert.deepEqual(await pointsOf(store, 4096), at("10=1"));
    }
    await sweep.stop();
    await store.close();
  });

  test("a kill of one replica under load loses nothing, and later writes succeed", async () => {
    const location = await newLocation();
    const store = await open(location);
    const acknowledged: number[] = [];
    let refused = 0;
    let isEnding = false;
    const writing = Promise.all(
      [0, 1, 2].map(async (client) => {
        for (let timeMs = client; !isEnding; timeMs += 3)
          await store.append(batchOf([4096, [[timeMs, timeMs]]])).then(
            () => acknowledged.push(timeMs),
            () => refused++,
          );
      }),
    );
    await pause(1_500);
    await servers[0]!.kill();
    const before = acknowledged.length;
    for (let waits = 0; acknowledged.length < before + 20 && waits < 600; waits++) await pause(100);
    assert.ok(acknowledged.length >= before + 20, `no writes with two of three replicas, ${refused} refused`);
    const beforeStart = acknowledged.length;
    await servers[0]!.start();
    for (let waits = 0; acknowledged.length < beforeStart + 20 && waits < 600; waits++) await pause(100);
    isEnding = true;
    await writing;
    await store.append(batchOf([8192, at("1=1")]));
    for (const replica of [0, 1, 2]) {
      const other = await open(from(location, replica));
      const found = await pointsOf(other, 4096);
      const times = new Set(found.map(([timeMs]) => timeMs));
      assert.equal(times.size, found.length, "nothing twice");
      for (const timeMs of acknowledged) assert.ok(times.has(timeMs), `${timeMs} is lost on ${replica}`);
      await other.close();
    }
    await store.close();
  });
});
