// The store on ClickHouse keeps the contract of the points port, also while parts merge, after kill -9, and
// with inserts that are cut off or repeated.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  clickHouseUnderTest,
  clocks,
  newClickHouseDatabase,
  parseClickHouseUrl,
  sharedClickHouse,
  startClickHouse,
  statement,
  sweepOf,
} from "../../../test/support/clickhouse.ts";
import { needs } from "../../../test/support/needs.ts";
import { seed, times } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";
import { Failure } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { CannotOpen } from "../cannot-open.ts";
import { at, batchOf, pointsConformance, pointsOf } from "../conformance/points.ts";
import { openClickHousePoints } from "./clickhouse-points.ts";
import { ClickHouseClient, ClickHouseError } from "./client.ts";
import { encodeBlock } from "./native-format.ts";
import { sql } from "./sql.ts";

/** Few in `npm test`; `npm run test:cluster` runs more. */
const operations = process.env["TEST_POINTS"] === "clickhouse" ? times(5_000, 50_000) : 300;

describe("datapoints in ClickHouse", needs("clickhouse"), () => {
  pointsConformance("the ClickHouse store", () => clickHouseUnderTest());

  it(`equals the naive store for ${operations} random operations, PROOF_SEED=${seed}`, async () => {
    const test = await clickHouseUnderTest(60);
    const random = new RandomOperations(test.store);
    const sweep = sweepOf(test);
    try {
      while (random.operations < operations) {
        await random.turn();
        if (random.chance(0.1)) await statement(test.server, "OPTIMIZE TABLE points FINAL", test.database);
        if (random.chance(0.1)) await sweep.sweep();
      }
      await random.compareAll();
      random.store = await test.restart!();
      await random.compareAll();
    } finally {
      await sweep.stop();
      await test.end();
    }
  });

  it("returns a large constant value as its average, without rounding", async () => {
    const test = await clickHouseUnderTest();
    const value = 891_763_627_655_240;
    const times = Array.from({ length: 300 }, (_, index) => index * 997 + (index % 7) * 31);
    await test.store.append(batchOf([1, times.map((timeMs) => [timeMs, value] as const)]));
    const { columns } = await test.store.aggregate({
      ...{ series: 1, isStep: false, startMs: 0, endMs: 400_000, bucketMs: 40_000, limit: 100 },
      aggregates: ["average"],
    });
    await test.end();
    assert.deepEqual(new Set(columns[0]), new Set([value]));
  });

  it("removes deleted points, then their tombstones, once no insert of before can arrive", async () => {
    const test = await clickHouseUnderTest();
    const sweep = sweepOf(test);
    const rowsOf = async (table: string) =>
      Number(await statement(test.server, `SELECT count() FROM ${table}`, test.database));
    const many = Array.from({ length: 40 }, (_, index) => (index + 1) * 4096);
    const points = at("-20=1 -10=2 10=3 20=4 30=5");
    await test.store.append(batchOf(...many.map((series) => [series, points] as const)));
    for (const series of many) await test.store.delete(series, { startMs: -20, endMs: 15 });
    for (let timeMs = 20; timeMs < 40; timeMs++)
      await test.store.delete(4096, { startMs: timeMs, endMs: timeMs + 1 });
    await test.store.append(batchOf([8192, at("10=7")]));
    await test.store.delete(12_288);
    const check = async () => {
      assert.deepEqual(await pointsOf(test.store, 4096), []);
      assert.deepEqual(await pointsOf(test.store, 8192), at("10=7 20=4 30=5"));
      assert.deepEqual(await pointsOf(test.store, 12_288), []);
      for (const series of many.slice(3))
        assert.deepEqual(await pointsOf(test.store, series), at("20=4 30=5"));
    };
    await check();
    await sweep.sweep();
    assert.equal(await rowsOf("tombstones"), 61, "the first sweep only looks");
    assert.equal(await rowsOf("points"), 201);
    await test.store.delete(16_384, { startMs: 20, endMs: 21 });
    await sweep.sweep();
    assert.equal(await rowsOf("tombstones"), 1, "the new one stays");
    assert.equal(await rowsOf("points"), 37 * 2 + 3);
    assert.deepEqual(await pointsOf(test.store, 16_384), at("30=5"));
    await test.store.append(batchOf([16_384, at("20=4")]));
    await check();
    await sweep.stop();
    await test.end();
  });

  it("refuses further deletions of a series with very many, until their points are removed", async () => {
    const test = await clickHouseUnderTest();
    await test.store.append(batchOf([4096, at("1=1 2000=2")], [8192, at("1=1")]));
    const deleteFrom = (startMs: number) => test.store.delete(4096, { startMs, endMs: startMs + 1 });
    await Promise.all(Array.from({ length: limits.clickHouseTombstonesMax }, (_, at) => deleteFrom(at)));
    await assert.rejects(
      deleteFrom(2_000),
      (problem: Failure) => problem.failure === "points-deletes-pending",
    );
    await test.store.delete(8192);
    const refs = [4096, 8192].map((series) => ({ series, isString: false }));
    assert.deepEqual(await test.store.latest(refs, 1e13), [{ timeMs: 2_000, value: 2 }, undefined]);
    assert.deepEqual(await pointsOf(test.store, 4096), at("2000=2"));
    const sweep = sweepOf(test);
    for (let sweeps = 0; sweeps < 2; sweeps++) await sweep.sweep();
    await deleteFrom(2_000);
    assert.deepEqual(await pointsOf(test.store, 4096), []);
    await sweep.stop();
    await test.end();
  });

  it("keeps acknowledged writes after kill -9 of ClickHouse, and serves again when it is back", async () => {
    const server = await startClickHouse();
    const location = parseClickHouseUrl(await newClickHouseDatabase(server))!;
    const store = await openClickHousePoints({ location, owner: 1, ...clocks });
    await store.append(batchOf([4096, at("10=1 20=2")]));
    await store.delete(4096, { startMs: 20, endMs: 21 });
    await server.kill();
    const isAway = (problem: unknown) => problem instanceof Failure && problem.failure === "points-away";
    await assert.rejects(store.append(batchOf([4096, at("30=3")])), isAway);
    await assert.rejects(pointsOf(store, 4096), isAway);
    await server.start();
    assert.deepEqual(await pointsOf(store, 4096), at("10=1"));
    await store.append(batchOf([4096, at("40=4")]));
    assert.deepEqual(await pointsOf(store, 4096), at("10=1 40=4"));
    await store.close();
    server.remove();
  });

  it("stores nothing of an insert that is cut off", async () => {
    const test = await clickHouseUnderTest();
    const client = new ClickHouseClient(parseClickHouseUrl(test.server.url(test.database))!);
    const values = Float64Array.of(1, 2, 3, 4);
    const block = encodeBlock(4, [
      { name: "series", type: "UInt64", values },
      { name: "t", type: "Int64", values },
      { name: "v", type: "Float64", values },
      { name: "version", type: "UInt64", values },
    ]);
    const insert = sql`INSERT INTO points (series, t, v, version)`;
    for (const length of [block.length - 1, block.length - 8, block.length - 16, 60])
      await assert.rejects(client.insert(insert, block.subarray(0, length)), ClickHouseError);
    assert.equal((await test.store.stats()).points, 0);
    await client.insert(insert, block);
    await client.insert(insert, block);
    for (const id of values) assert.deepEqual(await pointsOf(test.store, id), [[id, id]]);
    client.close();
    await test.end();
  });

  it("refuses the database of another catalog, and names it without the password", async () => {
    const server = await sharedClickHouse();
    const location = parseClickHouseUrl(await newClickHouseDatabase(server))!;
    await (await openClickHousePoints({ location, owner: 1, ...clocks })).close();
    await assert.rejects(openClickHousePoints({ location, owner: 2, ...clocks }), (problem: Error) => {
      assert.ok(problem instanceof CannotOpen);
      assert.match(problem.message, /clickhouse:\/\/millrace@127\.0\.0\.1:\d+\/test_/);
      assert.ok(!problem.message.includes(location.password));
      return true;
    });
  });

  it("says why a database cannot be used, without the password", async () => {
    const server = await sharedClickHouse();
    const location = parseClickHouseUrl(await newClickHouseDatabase(server))!;
    const password = "another-password";
    const hosts = [{ host: "127.0.0.1", port: 9 }] as const;
    for (const wrong of [{ password }, { database: "nowhere" }, { hosts }])
      await assert.rejects(
        openClickHousePoints({ location: { ...location, ...wrong }, owner: 1, ...clocks }),
        ({ message }: Error) => {
          assert.match(message, /^clickhouse:\/\/millrace@127\.0\.0\.1:\d+\//);
          assert.ok(!message.includes(location.password) && !message.includes(password));
          return true;
        },
      );
  });
});
