// Addresses of ClickHouse databases are parsed, and shown without the password.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseClickHouseUrl } from "../../../test/support/clickhouse.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { readSettings } from "../../config.ts";
import { StartRefused } from "../../data-folder.ts";
import { parseClickHouseShards, withoutPassword } from "./location.ts";

test("an address has host, port, user, password and database", () => {
  const location = parseClickHouseUrl("clickhouse://me:a%2Fb%40c@db.example.com:8124/plant");
  assert.deepEqual(location, {
    hosts: [{ host: "db.example.com", port: 8124 }],
    user: "me",
    password: "a/b@c",
    database: "plant",
  });
  assert.equal(withoutPassword(location!), "clickhouse://me@db.example.com:8124/plant");
  const short = parseClickHouseUrl("clickhouse://[::1]/plant")!;
  assert.equal(withoutPassword(short), "clickhouse://default@[::1]:8123/plant");
});

test("an address may have several replicas and a quorum", () => {
  const location = parseClickHouseUrl("clickhouse://me:secret@a,b:8124,[::1]:1/plant?quorum=2")!;
  const hosts = [
    { host: "a", port: 8123 },
    { host: "b", port: 8124 },
    { host: "::1", port: 1 },
  ];
  assert.deepEqual(location, { hosts, user: "me", password: "secret", database: "plant", quorum: 2 });
  assert.equal(withoutPassword(location), "clickhouse://me@a:8123,b:8124,[::1]:1/plant?quorum=2");
});

test("an address may have several shards, each with its replicas", () => {
  const text = "clickhouse://me:secret@a1,a2:8124;b1,b2/plant?quorum=2";
  const hosts = [
    ["a1:8123", "a2:8124"],
    ["b1:8123", "b2:8123"],
  ];
  const shards = parseClickHouseShards(text)!;
  assert.deepEqual(
    shards.map((shard) => shard.hosts.map(({ host, port }) => `${host}:${port}`)),
    hosts,
  );
  for (const { user, password, database, quorum } of shards)
    assert.deepEqual(
      { user, password, database, quorum },
      { user: "me", password: "secret", database: "plant", quorum: 2 },
    );
  assert.equal(withoutPassword(...shards), "clickhouse://me@a1:8123,a2:8124;b1:8123,b2:8123/plant?quorum=2");
  assert.equal(parseClickHouseUrl(text), undefined);
});

test("other strings are refused", () => {
  for (const text of [
    "",
    "http://host/plant",
    "clickhouse:///plant",
    "clickhouse://host",
    "clickhouse://host/",
    "clickhouse://host/a/b",
    "clickhouse://host/a;b",
    "clickhouse://host/plant?x=1",
    "clickhouse://host/plant?quorum=1",
    "clickhouse://host,/plant",
    "clickhouse://host;/plant",
    "clickhouse://;host/plant",
    "clickhouse://us%ZZer@host/plant",
    "clickhouse://host:99999/plant",
  ])
    assert.equal(parseClickHouseShards(text), undefined, text);
});

test("MILLRACE_POINTS is such an address; a refusal does not show it", () => {
  const folder = temporaryFolder();
  const pointsOf = (url?: string) => readSettings(url === undefined ? {} : { MILLRACE_POINTS: url }, folder);
  assert.equal(pointsOf().points, undefined);
  assert.equal(pointsOf("clickhouse://host/plant").points?.[0].database, "plant");
  for (const url of ["", "clickhouse://me:hidden@host", "https://me:hidden@host/plant"])
    assert.throws(
      () => pointsOf(url),
      (problem: Error) =>
        problem instanceof StartRefused &&
        problem.message ===
          "MILLRACE_POINTS must be an address such as clickhouse://user:password@host:8123/database",
    );
});
