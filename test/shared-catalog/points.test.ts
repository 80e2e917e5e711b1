// Two servers on one PostgreSQL, one ClickHouse and one S3 store: each reads at once the points that the
// other writes or deletes, both agree on the last write although their clocks differ by an hour, and nothing
// acknowledged is lost when ClickHouse is killed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { skipWithout } from "../../scripts/system-packages.ts";
import { realSystem } from "../../src/lib/system.ts";
import { runDueRules } from "../../src/resources/retention/runs.ts";
import { parseClickHouseShards } from "../../src/storage/clickhouse-points/location.ts";
import { at, batchOf, pointsOf } from "../../src/storage/conformance/points.ts";
import type { PointsStore } from "../../src/storage/points.ts";
import { type ClickHouseServer, newClickHouseDatabase, startClickHouse } from "../support/clickhouse.ts";
import { newDatabase, type TestDatabase } from "../support/postgres.ts";
import { randomFrom, seed, times } from "../support/proof.ts";
import { RandomOperations } from "../support/random-operations.ts";
import { passTime, silentWatch as watch } from "../support/retention-time.ts";
import { testS3 } from "../support/s3-store.ts";
import { idsOf, startTestServer, type TestServer } from "../support/server.ts";

const adminKey = "a-key-of-both-servers";
const operations = process.env["TEST_POINTS"] === "clickhouse" ? times(3_000, 30_000) : 300;
const hourMs = 3_600_000;
const skip = skipWithout("postgresql") || skipWithout("clickhouse");

describe("two servers on one ClickHouse", { skip }, () => {
  let clickHouse: ClickHouseServer;
  let catalog: TestDatabase;
  let [one, two]: TestServer[] = [];
  let aheadMs = 0;
  let shared: NonNullable<Parameters<typeof startTestServer>[0]>;

  before(async () => {
    clickHouse = await startClickHouse();
    catalog = await newDatabase();
    const points = parseClickHouseShards(await newClickHouseDatabase(clickHouse))!;
    shared = { catalogUrl: catalog.url, points, adminKey, blobs: (await testS3()).place() };
    const clock = (lateMs: number) => ({ ...realSystem, nowMs: () => Date.now() + aheadMs - lateMs });
    one = await startTestServer({ ...shared, system: clock(0) });
    two = await startTestServer({ ...shared, system: clock(hourMs) });
  });
  after(async () => {
    await one?.close();
    await two?.close();
    clickHouse.remove();
  });

  test("a further server is refused an empty database", async () => {
    const points = parseClickHouseShards(await newClickHouseDatabase(clickHouse))!;
    const refused = /test_\d+_\d+ is empty, but this installation, owner \d+, has its datapoints/;
    await assert.rejects(startTestServer({ ...shared, points }), refused);
  });

  const storeOf = (server: TestServer | undefined): PointsStore => server!.app.services.points;

  /** Changes run one after another, each at a random server; queries run at random servers. */
  function atRandomServers(): PointsStore {
    const random = randomFrom(seed);
    const any = () => storeOf(random() < 0.5 ? one : two);
    let changes = Promise.resolve();
    const change = (work: () => Promise<void>) => {
      changes = changes.then(work);
      return changes;
    };
    return {
      scanPoints: storeOf(one).scanPoints,
      append: (batch) => change(() => any().append(batch)),
      delete: (series, range) => change(() => any().delete(series, range)),
      scan: (query) => any().scan(query),
      aggregate: (query) => any().aggregate(query),
      latest: (series, beforeMs) => any().latest(series, beforeMs),
      oldPoints: (series, blocksMax) => any().oldPoints(series, blocksMax),
      stats: () => any().stats(),
      close: async () => {},
    };
  }

  test(`${operations} random operations of both equal the naive store, PROOF_SEED=${seed}`, async () => {
    const random = new RandomOperations(atRandomServers());
    while (random.operations < operations) await random.turn();
    await random.compareAll();
    for (const server of [one, two]) {
      random.store = storeOf(server);
      await random.compareAll();
    }
  });

  test("of writes to one time by both servers at once, both return the same one", async () => {
    for (let round = 0; round < 20; round++) {
      const series = (1_000 + round) * 4096;
      await Promise.all([
        storeOf(one).append(batchOf([series, at("10=1")])),
        storeOf(two).append(batchOf([series, at("10=2")])),
        ...(round % 2 === 0 ? [storeOf(two).delete(series)] : []),
      ]);
      const found = await Promise.all([one, two].map((server) => pointsOf(storeOf(server), series)));
      assert.deepEqual(found[0], found[1]);
      await storeOf(round % 3 === 0 ? one : two).append(batchOf([series, at("10=3")]));
      for (const server of [one, two])
        assert.deepEqual(await pointsOf(storeOf(server), series), at("10=3"), "the later write wins");
    }
  });

  test("a response of one server counts at once on the other, over the API", async () => {
    await one!.ask("POST /timeseries", { items: [{ name: "level" }] });
    const [id] = idsOf(await one!.ask("GET /timeseries?name=level"));
    const insert = (server: TestServer, value: number) =>
      server.ask("POST /timeseries/data/level", { items: [{ timestamp: 1_000, value }] });
    const read = async (server: TestServer) => (await server.ask("GET /timeseries/latest/level")).items;
    for (let round = 0; round < 10; round++) {
      const [writer, reader] = round % 2 === 0 ? [one!, two!] : [two!, one!];
      assert.equal((await insert(writer, round)).status, 200);
      assert.deepEqual(await read(reader), [{ timestamp: 1_000, value: round }]);
      const deleted = await reader.ask("DELETE /timeseries/data/level/deletesingle?timestamp=1000");
      assert.equal(deleted.status, 200, deleted.text);
      assert.deepEqual(await read(writer), []);
    }
    assert.equal((await insert(one!, 1)).status, 200);
    const gone = await two!.ask("POST /timeseries/delete", { items: [id] });
    assert.equal(gone.status, 200, gone.text);
    assert.deepEqual(await pointsOf(storeOf(one), id!), [], "points of a deleted series are gone everywhere");
  });

  test("while ClickHouse is away both respond 503; then all acknowledged points are there", async () => {
    await one!.ask("POST /timeseries", { items: [{ name: "kept" }] });
    const acknowledged: number[] = [];
    const insert = (server: TestServer, timestamp: number) =>
      server.ask("POST /timeseries/data/kept", { items: [{ timestamp, value: timestamp }] });
    const writing = Promise.all(
      [one!, two!].map(async (server, index) => {
        for (let timestamp = index + 1; timestamp <= 200; timestamp += 2)
          if ((await insert(server, timestamp)).status === 200) acknowledged.push(timestamp);
      }),
    );
    while (acknowledged.length < 10) await pause(5);
    await clickHouse.kill();
    for (const server of [one!, two!]) {
      const refused = await insert(server, 1_000);
      assert.equal(refused.status, 503, refused.text);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      assert.equal((await server.ask("GET /assets")).status, 200, "all else is served");
      const health = await fetch(`${server.baseUrl}/health`);
      assert.equal(health.status, 503);
      assert.match(await health.text(), /ClickHouse, which stores the datapoints, is not available/);
      const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
      assert.match(metrics, /millrace_points_stored NaN/i);
      assert.match(metrics, /millrace_http_request_seconds/);
    }
    await clickHouse.start();
    await writing;
    for (const server of [one!, two!]) {
      assert.equal((await insert(server, 2_000)).status, 200);
      const { items } = await server.ask("GET /timeseries/data/kept?start=0&end=999&limit=1000");
      const [{ datapoints }] = items as unknown as [{ datapoints: { timestamp: number }[] }];
      const found = datapoints.map(({ timestamp }) => timestamp);
      assert.equal(new Set(found).size, found.length);
      for (const timestamp of acknowledged) assert.ok(found.includes(timestamp), `${timestamp} is lost`);
      assert.equal((await fetch(`${server.baseUrl}/health`)).status, 200);
    }
    assert.ok(acknowledged.length > 0);
  });

  test("both servers run a retention rule; each point is removed and counted once", async () => {
    const dayMs = 24 * hourMs;
    const names = Array.from({ length: 6 }, (_, i) => ({ name: `retained ${i}` }));
    const [assetId] = idsOf(await one!.ask.v06("POST /assets", { items: [{ name: "retained" }] }));
    const items = names.map((item) => ({ ...item, assetId }));
    const series = idsOf(await one!.ask.v06("POST /timeseries", { items }));
    const today = Math.floor(Date.now() / dayMs);
    const all = Array.from({ length: 20 }, (_, i): [number, number] => [(today - 40 + 2 * i) * dayMs, i]);
    for (const id of series) await storeOf(two).append(batchOf([id, all]));
    const rule = { name: "retained", assetId, keepDays: 20 };
    const [id] = idsOf(await two!.ask.v06("POST /retentionrules", { items: [rule] }));
    const run = async () => {
      await Promise.all([one!, two!].map(({ app }) => runDueRules(app.services, watch)));
      const hasEnded = async () => {
        const [shown] = (await one!.ask.v06(`GET /retentionrules/${id}`)).items;
        return "endedTime" in (shown!["lastRun"] as object);
      };
      while (!(await hasEnded())) await pause(20);
    };
    const pass = (ms: number) =>
      passTime(one!.app.services, ms, (step) => {
        aheadMs += step;
      });
    await run();
    await pass(13 * hourMs);
    await run();
    for (const one of series) assert.deepEqual(await pointsOf(storeOf(two), one), all);
    await pass(13 * hourMs);
    await run();
    const cutoff = Math.floor((Date.now() + aheadMs - 20 * dayMs) / dayMs) * dayMs;
    const left = await Promise.all(series.map((id) => pointsOf(storeOf(one), id)));
    for (const [i, id] of series.entries()) {
      assert.deepEqual(await pointsOf(storeOf(two), id), left[i]);
      assert.deepEqual(left[i], all.slice(-left[i]!.length), "the oldest ones are removed");
      assert.ok(left[i]!.length < all.length && left[i]![0]![0] >= cutoff - dayMs);
      assert.ok(all.filter(([timeMs]) => timeMs >= cutoff).length <= left[i]!.length);
    }
    const removed = series.length * all.length - left.flat().length;
    for (const server of [one!, two!]) {
      const [shown] = (await server.ask.v06(`GET /retentionrules/${id}`)).items;
      assert.equal(shown!["removedPoints"], removed);
    }
  });
});
