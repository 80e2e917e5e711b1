// A caller is read again when another process may have changed it, and when it is old.
import assert from "node:assert/strict";
import { test } from "node:test";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { CallerCache } from "./caller-cache.ts";
import { Rights } from "./rights.ts";

const caller = { projectId: 1, projectUrlName: "p", user: "u", groupIds: [], capabilities: [] };
const neverRead = () => assert.fail("the test reads no groups");

function start() {
  const clock = { nowMs: 1_000_000 };
  const system = { ...realSystem, monotonicMs: () => clock.nowMs, nowMs: () => clock.nowMs };
  const catalog = { read: neverRead } as never;
  const rights = new Rights({ catalog, system, defaultGroupOf: neverRead, ancestorsOf: neverRead });
  const reads = { count: 0 };
  const read = async () => {
    reads.count += 1;
    return { caller, expiresTime: Number.POSITIVE_INFINITY };
  };
  return { clock, rights, reads, cache: new CallerCache({ rights, system, read }) };
}

test("without a confirmation, a caller counts for keyCacheMsMax", async () => {
  const { clock, reads, cache } = start();
  await cache.find("key");
  clock.nowMs += limits.keyCacheMsMax - 1;
  await cache.find("key");
  assert.equal(reads.count, 1);
  clock.nowMs += 1;
  await cache.find("key");
  assert.equal(reads.count, 2);
});

test("while rights are confirmed, a caller counts until it is old", async () => {
  const { clock, rights, reads, cache } = start();
  await cache.find("key");
  for (let ms = 250; ms < limits.callerAgeMsMax; ms += 250) {
    clock.nowMs += 250;
    rights.confirm(clock.nowMs);
    await cache.find("key");
  }
  assert.equal(reads.count, 1);
  clock.nowMs += 250;
  rights.confirm(clock.nowMs);
  await cache.find("key");
  assert.equal(reads.count, 2);
});

test("after the last confirmation, a caller counts for keyCacheMsMax, and not after a change", async () => {
  const { clock, rights, reads, cache } = start();
  await cache.find("key");
  clock.nowMs += 400;
  rights.confirm(clock.nowMs);
  clock.nowMs += limits.keyCacheMsMax - 1;
  await cache.find("key");
  assert.equal(reads.count, 1);
  clock.nowMs += 1;
  await cache.find("key");
  assert.equal(reads.count, 2);
  rights.expire();
  rights.confirm(clock.nowMs);
  await cache.find("key");
  assert.equal(reads.count, 3);
});
