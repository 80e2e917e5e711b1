// `/health` when several stores are away at the same time, do not respond at all, or have replicas that are.
import assert from "node:assert/strict";
import { test } from "node:test";
import fastify from "fastify";
import { pino } from "pino";
import { fail } from "../errors.ts";
import { realSystem } from "../lib/system.ts";
import { addHealth, Refusals, type Stores } from "./operations.ts";

const stats = { points: 0, blocks: 0, bytesOnDisk: 0, journalBytes: 0, quarantined: [] };
const never = new Promise<never>(() => {});

async function health(parts: {
  readonly stats?: Promise<unknown>;
  readonly ids?: Promise<number>;
  readonly files?: Promise<void>;
}) {
  const http = fastify();
  const stores = {
    points: { stats: () => parts.stats ?? Promise.resolve(stats) },
    catalog: { lastId: () => parts.ids ?? Promise.resolve(1) },
    blobs: { check: () => parts.files ?? Promise.resolve() },
    disk: { freeBytes: 1, problem: undefined },
    refusals: new Refusals(realSystem),
  };
  addHealth(http, stores as unknown as Stores, pino({ level: "silent" }));
  const { statusCode, body } = await http.inject("/health");
  const live = await http.inject("/health/live");
  assert.equal(live.statusCode, 200, "a load balancer keeps the server");
  return { status: statusCode, body: JSON.parse(body) as Record<string, unknown> };
}

test("all stores that are away are named", async () => {
  const { status, body } = await health({
    stats: Promise.reject(fail("points-away", { problem: "ECONNREFUSED" })),
    ids: Promise.reject(fail("catalog-away", { retryAfterSeconds: 2 })),
    files: Promise.reject(fail("file-store-away", { problem: "ETIMEDOUT" })),
  });
  assert.deepEqual([status, body["status"]], [503, "failing"]);
  for (const name of [/ClickHouse, which/, /catalog's database does not respond/, /store of files is not/])
    assert.match(body["store"] as string, name);
});

test("a store that hangs delays the response for some seconds, and is named", async () => {
  const { status, body } = await health({ stats: never });
  assert.deepEqual([status, body["status"]], [503, "failing"]);
  assert.equal(body["store"], "The datapoint store does not respond within 5 s");
});

test("files alone are degraded; a replica that is away while others serve is named", async () => {
  const away = await health({ files: Promise.reject(fail("file-store-away", { problem: "x" })) });
  assert.deepEqual([away.status, away.body["status"]], [503, "degraded"]);
  const names = ["replica 2 of 3 of ClickHouse: ECONNREFUSED"];
  const { status, body } = await health({ stats: Promise.resolve({ ...stats, away: names }) });
  assert.deepEqual([status, body["status"], body["away"]], [200, "ok", names]);
});
