// The store detects damaged files and survives a disk that refuses writes.
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { type EmbeddedUnderTest, embeddedUnderTest } from "../../../test/support/points-store.ts";
import { Failure } from "../../errors.ts";
import { at, batchOf, pointsOf, sineWave } from "../conformance/points.ts";
import type { PointsStore } from "../points.ts";
import { examineStore } from "./doctor.ts";
import { realFiles } from "./segment-files.ts";

const [pump, motor] = [4096, 8192];
const minute = { series: pump, isStep: false, bucketMs: 1000, aggregates: ["sum"] as const, limit: 100 };

/** A closed store with ten blocks of the pump. `spoil` damages its only shard before it is opened again. */
async function playOnSpoiled(
  spoil: (database: DatabaseSync) => void,
  work: (store: PointsStore, test: EmbeddedUnderTest) => Promise<void>,
): Promise<void> {
  const test = await embeddedUnderTest({ shards: 1, blockPoints: 100 });
  try {
    await test.store.append(batchOf([pump, sineWave(1000, 0, 10)], [motor, at("1=1")]));
    await test.store.close();
    const database = new DatabaseSync(join(test.folder, "shard-0.sqlite"));
    spoil(database);
    database.close();
    await work(await test.restart(), test);
  } finally {
    await test.end();
  }
}

const damaged = (why: unknown) => why instanceof Failure && why.failure === "points-damaged";
const scan = (store: PointsStore, startMs: number, endMs: number) =>
  store.scan({ series: pump, isString: false, startMs, endMs, limit: 10_000 });

/** Flips a bit of the block that starts at 3000 ms. */
const ofBlock = `WHERE series = ${pump} AND first_ms = 3000`;
const spoilBytes = (database: DatabaseSync) =>
  flip(database, {
    table: "data",
    column: "bytes",
    where: `WHERE id = (SELECT data_id FROM block ${ofBlock})`,
  });
const spoilSummary = (database: DatabaseSync) =>
  flip(database, { table: "block", column: "header", where: ofBlock });

function flip(
  database: DatabaseSync,
  { table, column, where }: { table: string; column: string; where: string },
): void {
  const row = database.prepare(`SELECT ${column} AS found FROM ${table} ${where}`).get();
  const { found } = row as { found: Uint8Array };
  found[60]! ^= 4;
  database.prepare(`UPDATE ${table} SET ${column} = ? ${where}`).run(found);
}

it("reads that need a damaged block are refused, all others succeed, and the damage is reported", () =>
  playOnSpoiled(spoilBytes, async (store, test) => {
    assert.equal((await scan(store, 0, 3000)).times.length, 300);
    for (const again of ["met first", "known already"]) {
      await assert.rejects(scan(store, 0, 10_000), damaged, again);
      await assert.rejects(store.latest([{ series: pump, isString: false }], 4000), damaged, again);
    }
    assert.equal((await scan(store, 4000, 10_000)).times.length, 600);
    assert.deepEqual((await scan(store, 0, 3000)).times.length, 300);
    assert.deepEqual(await pointsOf(store, motor), at("1=1"));
    const { quarantined } = await store.stats();
    assert.deepEqual(
      quarantined.map((one) => one.file),
      ["shard-0.sqlite"],
    );
    assert.match(quarantined[0]!.expected, /\d/);
    assert.deepEqual((await (await test.restart()).stats()).quarantined, quarantined);
  }));

it("an aggregate never uses a damaged summary, and never omits a damaged block", () =>
  playOnSpoiled(spoilSummary, async (store) => {
    const before = await store.aggregate({ ...minute, startMs: 0, endMs: 2000 });
    assert.equal(before.times.length, 2);
    await assert.rejects(store.aggregate({ ...minute, startMs: 0, endMs: 10_000 }), damaged);
    await assert.rejects(store.aggregate({ ...minute, startMs: 3000, endMs: 5000 }), damaged);
    const after = await store.aggregate({ ...minute, startMs: 5000, endMs: 10_000 });
    assert.equal(after.times.length, 5);
  }));

it("a damaged time range can be written and deleted, and is readable again after that", () =>
  playOnSpoiled(spoilBytes, async (store, test) => {
    await store.append(batchOf([pump, at("3005=1")]));
    await assert.rejects(scan(store, 3000, 4000), damaged);
    const reopened = await test.restart();
    await assert.rejects(scan(reopened, 3005, 3006), damaged);
    await reopened.delete(pump, { startMs: 3000, endMs: 4000 });
    assert.deepEqual((await scan(reopened, 2990, 4001)).times, Float64Array.of(2990, 4000));
    assert.deepEqual((await reopened.stats()).quarantined, []);
  }));

/** Damage that no check of the existing rows can find. */
const hidden: readonly (readonly [string, string])[] = [
  ["a row that is gone", `DELETE FROM block ${ofBlock}`],
  [
    "a row that came back",
    `INSERT INTO block SELECT series, kind, 20000, 20990, count, data_id, header FROM block ${ofBlock}`,
  ],
  ["a row of another series", `UPDATE block SET series = ${motor} ${ofBlock}`],
  ["a row at another time", `UPDATE block SET first_ms = 2999 ${ofBlock}`],
];
for (const [title, sql] of hidden)
  it(`${title} is reported from the start on, and by the doctor, which counts again`, () =>
    playOnSpoiled(
      (database) => database.exec(sql),
      async (store, test) => {
        const { quarantined } = await store.stats();
        assert.match(quarantined[0]!.expected, /^11 rows of blocks with the checksum sum \d+$/);
        const points = await pointsOf(store, motor).catch((why) => assert.ok(damaged(why)));
        assert.ok(points === undefined || points.length === 1, "never the points of another series");
        await store.delete(pump);
        await store.delete(motor);
        const still = (await (await test.restart()).stats()).quarantined.length;
        assert.ok(still > 0 || title === "a row that came back", "reported still when all is deleted");
        await test.end();
        const { findings } = await examineStore(test.folder, { repair: true, onRepaired: () => undefined });
        assert.deepEqual(findings, []);
        assert.deepEqual((await (await test.restart()).stats()).quarantined, []);
      },
    ));

it("a file whose tables are hidden by a flipped bit is not taken for a new one", async () => {
  const test = await embeddedUnderTest({ shards: 1 });
  try {
    await test.store.append(batchOf([pump, sineWave(1000, 0, 10)]));
    await test.store.close();
    const path = join(test.folder, "shard-0.sqlite");
    const bytes = await readFile(path);
    // The number of cells on the first page, which lists the tables, becomes 0.
    assert.equal(bytes.readUInt16BE(103), 5);
    bytes[104] = 0;
    await writeFile(path, bytes);
    await assert.rejects(test.restart(), /shard-0.sqlite has \d+ pages, but 0 of 5 tables/);
  } finally {
    await test.end();
  }
});

it("blocks that were swapped are found by a read", () =>
  playOnSpoiled(
    (database) => {
      const [a, b] = [1000, 2000].map((firstMs) => `(SELECT data_id FROM block WHERE first_ms = ${firstMs})`);
      database.exec(`CREATE TEMP TABLE kept AS SELECT bytes FROM data WHERE id = ${a};
        UPDATE data SET bytes = (SELECT bytes FROM data WHERE id = ${b}) WHERE id = ${a};
        UPDATE data SET bytes = (SELECT bytes FROM kept) WHERE id = ${b}`);
    },
    async (store) => {
      await assert.rejects(scan(store, 1000, 1500), damaged);
      await assert.rejects(scan(store, 2500, 2600), damaged);
      assert.equal((await scan(store, 3000, 4000)).times.length, 100);
    },
  ));

it("an append that the disk refuses is never visible, also not after a restart", async () => {
  let isFull = false;
  const open: typeof realFiles.open = async (path, flags) => {
    const file = await realFiles.open(path, flags);
    return {
      writev: async (buffers, position) => {
        const written = await file.writev(buffers, position);
        if (isFull) throw new Error("ENOSPC: no space left on device");
        return written;
      },
      datasync: () => file.datasync(),
      truncate: (length) => file.truncate(length),
      close: () => file.close(),
    };
  };
  const test = await embeddedUnderTest({ shards: 2, files: { ...realFiles, open } });
  try {
    await test.store.append(batchOf([pump, at("1=1")], [motor, at("1=1")]));
    isFull = true;
    await assert.rejects(
      test.store.append(batchOf([pump, at("2=2")], [motor, at("2=2")])),
      /ENOSPC.*free disk space/,
    );
    isFull = false;
    await test.store.append(batchOf([pump, at("3=3")]));
    for (const open of [async () => test.store, test.crash, test.restart]) {
      const store = await open();
      assert.deepEqual(await pointsOf(store, pump), at("1=1 3=3"));
      assert.deepEqual(await pointsOf(store, motor), at("1=1"));
    }
  } finally {
    await test.end();
  }
});

it("after a failed sync nothing is written and reads succeed, until a restart", async () => {
  let isBroken = false;
  let syncs = 0;
  const open: typeof realFiles.open = async (path, flags) => {
    const file = await realFiles.open(path, flags);
    const datasync = async () => {
      syncs++;
      if (isBroken && path.endsWith(".log")) throw new Error("EIO: i/o error, fdatasync");
      await file.datasync();
    };
    return {
      writev: (...all) => file.writev(...all),
      datasync,
      truncate: (n) => file.truncate(n),
      close: () => file.close(),
    };
  };
  const test = await embeddedUnderTest({ shards: 2, files: { ...realFiles, open } });
  try {
    await test.store.append(batchOf([pump, at("1=1")]));
    assert.equal((await test.store.stats()).writesStopped, undefined);
    isBroken = true;
    await assert.rejects(test.store.append(batchOf([pump, at("2=2")])), /EIO.*restart/);
    isBroken = false;
    const before = syncs;
    await assert.rejects(test.store.append(batchOf([pump, at("3=3")])), /EIO.*restart/);
    assert.equal(syncs, before, "a failed sync is not tried again");
    assert.match((await test.store.stats()).writesStopped!, /EIO/);
    assert.deepEqual(await pointsOf(test.store, pump), at("1=1"));
    const restarted = await test.restart();
    assert.deepEqual(await pointsOf(restarted, pump), at("1=1"));
    await restarted.append(batchOf([pump, at("4=4")]));
    assert.equal((await restarted.stats()).writesStopped, undefined);
  } finally {
    await test.end();
  }
});

it("a damaged segment of the journal is reported, and kept when its records are in blocks", async () => {
  const test = await embeddedUnderTest({ shards: 1 });
  try {
    for (const value of [1, 2, 3]) await test.store.append(batchOf([pump, [[value, value]]]));
    const name = (await readdir(test.folder)).find((one) => one.endsWith(".log"))!;
    const bytes = await readFile(join(test.folder, name));
    bytes[60]! ^= 1;
    await writeFile(join(test.folder, name), bytes);
    const crashed = await test.crash();
    assert.deepEqual(await pointsOf(crashed, pump), at("2=2 3=3"));
    assert.deepEqual(
      (await crashed.stats()).quarantined.map((one) => [one.file, one.offset]),
      [[name, 16]],
    );
    const restarted = await test.restart();
    assert.deepEqual(await pointsOf(restarted, pump), at("2=2 3=3"));
    assert.deepEqual(
      (await restarted.stats()).quarantined.map((one) => one.file),
      [`damaged-${name}`],
    );
  } finally {
    await test.end();
  }
});
