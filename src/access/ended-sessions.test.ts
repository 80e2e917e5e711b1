// An ended login stays ended after a restart, and is deleted when its tokens have expired.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClockIds } from "../lib/ids.ts";
import { realSystem } from "../lib/system.ts";
import { everything } from "../query/filter.ts";
import type { Catalog } from "../storage/catalog.ts";
import { openNaiveCatalog } from "../storage/conformance/naive-catalog.ts";
import { EndedSessions, endedSessionTable } from "./ended-sessions.ts";
import type { Rights } from "./rights.ts";
import { type ApiKey, apiKeyTable } from "./schema.ts";

const rightsOver = (catalog: Catalog): Pick<Rights, "change"> => ({
  change: (work) => catalog.write("system", work),
});

test("an ended session is known after a restart, and an expired one frees its entry", async () => {
  let nowMs = 1_000;
  const system = { ...realSystem, nowMs: () => nowMs };
  const catalog = openNaiveCatalog([endedSessionTable, apiKeyTable]);
  const parts = { catalog, rights: rightsOver(catalog), system, ids: new ClockIds(system, 0) };
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

test("an end that could not be written is reported as failed each time, and can be repeated", async () => {
  const system = { ...realSystem, nowMs: () => 1_000 };
  const catalog = openNaiveCatalog([endedSessionTable, apiKeyTable]);
  let isFull = true;
  const rights: Pick<Rights, "change"> = {
    change: (work) => (isFull ? Promise.reject(new Error("full")) : catalog.write("system", work)),
  };
  const parts = { catalog, rights, system, ids: new ClockIds(system, 0) };
  const ended = new EndedSessions(parts);
  const ends = [ended.end("one", 5_000), ended.end("one", 5_000)];
  assert.equal(ended.has("one"), true, "it is void while it is written");
  const outcomes = await Promise.allSettled(ends);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(ended.has("one"), false, "a request to end it again must be valid");
  isFull = false;
  await ended.end("one", 5_000);
  const restarted = new EndedSessions(parts);
  await restarted.load();
  assert.equal(restarted.has("one"), true);
});

test("keys made with an ended session are revoked, and the keys made with those; no others", async () => {
  const system = { ...realSystem, nowMs: () => 1_000 };
  const catalog = openNaiveCatalog([endedSessionTable, apiKeyTable]);
  const madeBy = [
    ["provider p", "login one"],
    ["provider p", "login one", "key 1"],
    ["provider p", "login two"],
  ];
  const keys = madeBy.map(
    (origins, at): ApiKey => ({
      ...{ id: at + 1, projectId: 1, project: "demo", accountId: 9, name: "made", createdTime: 0 },
      hash: `${at}`,
      madeBy: origins,
    }),
  );
  await catalog.write("system", (tx) => tx.insert(apiKeyTable, keys));
  const parts = { catalog, rights: rightsOver(catalog), system, ids: new ClockIds(system, 10) };
  await new EndedSessions(parts).end("one", 5_000);
  const kept = await catalog.read("system", (tx) => tx.get(apiKeyTable, [1, 2, 3]));
  assert.deepEqual(
    kept.map(({ deletedTime }) => deletedTime),
    [1_000, 1_000, undefined],
  );
});
