// Results of aggregates that are kept equal those of a new read, whatever any server did meanwhile.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  clickHouseUnderTest,
  clocks,
  parseClickHouseUrl,
  statement,
  sweepOf,
} from "../../../test/support/clickhouse.ts";
import { needs } from "../../../test/support/needs.ts";
import { seed } from "../../../test/support/proof.ts";
import { RandomOperations } from "../../../test/support/random-operations.ts";
import { at, batchOf } from "../conformance/points.ts";
import { AggregateCache } from "./aggregate-cache.ts";
import { openClickHousePoints } from "./clickhouse-points.ts";
import { ClickHouseClient } from "./client.ts";

const operations = 400;

describe("the cache of aggregates in ClickHouse", needs("clickhouse"), () => {
  it("keeps a result until a row of its range, a deletion or a merge", async () => {
    const test = await clickHouseUnderTest();
    const client = new ClickHouseClient(parseClickHouseUrl(test.server.url(test.database))!);
    const cache = new AggregateCache(client, 2 ** 20);
    const columns = new Map([[4096, { times: Float64Array.of(0), columns: [Float64Array.of(1)] }]]);
    let reads = 0;
    const readsOf = async (calls: number) => {
      const before = reads;
      for (let call = 0; call < calls; call++)
        await cache.read({ key: "one", series: [4096] }, async () => {
          reads++;
          return { columns, range: { startMs: 0, endMs: 100 } };
        });
      return reads - before;
    };
    await test.store.append(batchOf([4096, at("10=1 20=2 200=3")]));
    assert.equal(await readsOf(5), 2, "the third call returns what the second one read");
    await test.store.append(batchOf([4096, at("100=9 -1=9")], [8192, at("50=9")]));
    assert.equal(await readsOf(3), 0, "rows of other times and series change nothing");
    await test.store.append(batchOf([4096, at("99=1")]));
    assert.equal(await readsOf(1), 1, "a row in the range");
    assert.equal(await readsOf(6), 2, "the second read after a failure keeps its result");
    await statement(test.server, "OPTIMIZE TABLE points FINAL", test.database);
    assert.equal(await readsOf(3), 3, "a merge");
    await test.store.append(batchOf([4096, at("98=1")]));
    assert.equal(await readsOf(9), 5, "the fourth read after two failures without a success between");
    await test.store.delete(4096, { startMs: 10, endMs: 11 });
    assert.equal(await readsOf(20), 20, "a series with tombstones");
    client.close();
    await test.end();
  });

  it("keeps no result with points that came during its read, and were removed since", async () => {
    const test = await clickHouseUnderTest();
    const client = new ClickHouseClient(parseClickHouseUrl(test.server.url(test.database))!);
    const cache = new AggregateCache(client, 2 ** 20);
    const sweep = sweepOf(test);
    const results: number[][] = [];
    const read = async (append = async () => {}) => {
      const columns = await cache.read({ key: "one", series: [4096] }, async () => {
        await append();
        const range = { startMs: 0, endMs: 100 };
        const { times } = await test.store.scan({ series: 4096, isString: false, ...range, limit: 10 });
        return { columns: new Map([[4096, { times, columns: [] }]]), range };
      });
      results.push([...columns.get(4096)!.times]);
    };
    await read();
    await read(() => test.store.append(batchOf([4096, at("10=1")])));
    await test.store.delete(4096, { startMs: 0, endMs: 100 });
    for (let time = 0; time < 2; time++) await sweep.sweep();
    await read();
    assert.deepEqual(results, [[], [10], []]);
    await sweep.stop();
    client.close();
    await test.end();
  });

  it("keeps nothing without memory, and no result that needs most of it", async () => {
    const test = await clickHouseUnderTest();
    const client = new ClickHouseClient(parseClickHouseUrl(test.server.url(test.database))!);
    for (const bytesMax of [0, 2 ** 15]) {
      const cache = new AggregateCache(client, bytesMax);
      const columns = new Map([[4096, { times: new Float64Array(1_000), columns: [] }]]);
      let reads = 0;
      for (let call = 0; call < 4; call++)
        await cache.read({ key: "one", series: [4096] }, async () => {
          reads++;
          return { columns, range: { startMs: 0, endMs: 100 } };
        });
      assert.equal(reads, 4);
    }
    client.close();
    await test.end();
  });

  it(`equals the naive store when two servers read and write, PROOF_SEED=${seed}`, async () => {
    const test = await clickHouseUnderTest();
    const location = parseClickHouseUrl(test.server.url(test.database))!;
    let last = 0;
    const takeVersions = async (count: number) => Float64Array.from({ length: count }, () => ++last);
    const settings = { location, owner: 1, ...clocks, takeVersions };
    const stores = [await openClickHousePoints(settings), await openClickHousePoints(settings)] as const;
    const random = new RandomOperations(stores[0]);
    const sweep = sweepOf(test);
    while (random.operations < operations) {
      random.store = stores[random.chance(0.5) ? 0 : 1];
      await random.turn();
      if (random.chance(0.1)) await statement(test.server, "OPTIMIZE TABLE points FINAL", test.database);
      if (random.chance(0.1)) await sweep.sweep();
    }
    await sweep.stop();
    for (const store of stores) await store.close();
    await test.end();
  });
});
