// The doctor reports faults of the ClickHouse database.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clickHouseUnderTest,
  newClickHouseDatabase,
  parseClickHouseUrl,
} from "../../../test/support/clickhouse.ts";
import { needs } from "../../../test/support/needs.ts";
import { examineShards } from "./doctor.ts";

test("a database in order, of another catalog, unused, and away", needs("clickhouse"), async () => {
  const { server, database, end } = await clickHouseUnderTest();
  const location = parseClickHouseUrl(server.url(database))!;
  assert.deepEqual(await examineShards([location], 1), []);
  const foundFor = async (changed: Partial<typeof location>, owner = 1) => {
    const [finding, ...more] = await examineShards([{ ...location, ...changed }], owner);
    assert.deepEqual(more, []);
    assert.match(finding!.file, /^clickhouse:\/\/millrace@127/);
    assert.ok(!JSON.stringify(finding).includes(location.password));
    return finding!.found;
  };
  assert.equal(await foundFor({}, 2), "those of catalog 1");
  assert.match(await foundFor({ hosts: [{ host: "127.0.0.1", port: 9 }] }), /ECONNREFUSED/);
  const empty = parseClickHouseUrl(await newClickHouseDatabase(server))!.database;
  assert.match(await foundFor({ database: empty }), /doesn't exist/);
  const [, second, ...more] = await examineShards([location, location], 1);
  assert.deepEqual(more, []);
  assert.equal(second!.found, "those of catalog 1", "a database of one shard is not the second of two");
  await end();
});
