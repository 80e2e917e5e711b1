// A login that was ended stays ended over a restart, and is forgotten when its tokens have expired anyway.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IdSource } from "../lib/ids.ts";
import { realWorld } from "../lib/world.ts";
import { everything } from "../query/filter.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { EndedSessions, endedSessionTable } from "./ended-sessions.ts";

test("an ended session is known after a restart, and an expired one makes room", async () => {
  let nowMs = 1_000;
  const world = { ...realWorld, nowMs: () => nowMs };
  const catalog = openNaiveCatalog([endedSessionTable]);
  const parts = { catalog, world, ids: new IdSource(world, 0) };
  const first = new EndedSessions(parts);
  await first.end("one", 5_000);
  await first.end("one", 5_000);
  const second = new EndedSessions(parts);
  assert.equal(second.has("one"), false);
  await second.load();
  assert.equal(second.has("one"), true);
  nowMs = 6_000;
  await second.end("two", 9_000);
  assert.deepEqual([second.has("one"), second.has("two")], [false, true]);
  assert.equal(await catalog.read("system", (tx) => tx.count(endedSessionTable, everything)), 1);
});
