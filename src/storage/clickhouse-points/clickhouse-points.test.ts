// The store on ClickHouse keeps the contract of the points port, also while parts merge, after kill -9, and
// with inserts that are cut off or repeated.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  clickHouseUnderTest,
  newClickHouseDatabase,
  sharedClickHouse,
  startClickHouse,
  statement,
} from "../../../test/support/clickhouse.ts";
import { needs } from "../../../test/support/needs.ts";
import { seed, times } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";
import { Failure } from "../../errors.ts";
import { CannotOpen } from "../cannot-open.ts";
import { at, batchOf, pointsConformance, pointsOf } from "../conformance/points.ts";
import { openClickHousePoints } from "./clickhouse-points.ts";
import { ClickHouseClient, ClickHouseError } from "./client.ts";
import { parseClickHouseUrl } from "./location.ts";
import { encodeBlock } from "./native-format.ts";
import { sql } from "./sql.ts";

/** Few in `npm test`; `npm run test:cluster` runs more. */
const operations = process.env["TEST_POINTS"] === "clickhouse" ? times(5_000, 50_000) : 300;
const nowMs = Date.now;

describe("datapoints in ClickHouse", needs("clickhouse"), () => {
  pointsConformance("the ClickHouse store", () => clickHouseUnderTest());

  it(`equals the naive store for ${operations} random operations, PROOF_SEED=${seed}`, async () => {
    const test = await clickHouseUnderTest({ pointsRead: 20, pointsSummarised: 60 });
    const random = new RandomOperations(test.store);
    try {
      while (random.operations < operations) {
        await random.turn();
        if (random.chance(0.1)) await statement(test.server, "OPTIMIZE TABLE points FINAL", test.database);
      }
      await random.compareAll();
      random.store = await test.restart!();
      await random.compareAll();
    } finally {
      await test.end();
    }
  });

  it("keeps acknowledged writes after kill -9 of ClickHouse, and serves again when it is back", async () => {
    const server = await startClickHouse();
    const location = parseClickHouseUrl(await newClickHouseDatabase(server))!;
    const store = await openClickHousePoints({ location, owner: 1, nowMs });
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
    await (await openClickHousePoints({ location, owner: 1, nowMs })).close();
    await assert.rejects(openClickHousePoints({ location, owner: 2, nowMs }), (problem: Error) => {
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
    for (const wrong of [{ password }, { database: "nowhere" }, { port: 9 }])
      await assert.rejects(
        openClickHousePoints({ location: { ...location, ...wrong }, owner: 1, nowMs }),
        ({ message }: Error) => {
          assert.match(message, /^clickhouse:\/\/millrace@127\.0\.0\.1:\d+\//);
          assert.ok(!message.includes(location.password) && !message.includes(password));
          return true;
        },
      );
  });
});
