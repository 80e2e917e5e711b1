// Changes by another server that shares the catalog in PostgreSQL are reported until they were taken.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { needs } from "../../../test/support/needs.ts";
import { newDatabase } from "../../../test/support/postgres.ts";
import { endedSessionTable } from "../../access/ended-sessions.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import type { ForeignChange } from "../catalog.ts";
import { openPostgresCatalog } from "./postgres-catalog.ts";

test("a change that an observer could not take is reported again, and then no more", {
  ...needs("postgresql"),
}, async () => {
  const { url, drop } = await newDatabase();
  const settings = { url, tables: [endedSessionTable], system: realSystem };
  const [one, other] = [await openPostgresCatalog(settings), await openPostgresCatalog(settings)];
  const [reported, taken] = [[] as ForeignChange[], Promise.withResolvers<void>()];
  let lost = 0;
  one.observe({
    changed: async (change) => {
      if (reported.push(change) === 1) throw new Error("the catalog does not respond");
      taken.resolve();
    },
    lost: () => void lost++,
  });
  await other.write("system", (tx) =>
    tx.insert(endedSessionTable, [{ id: 1, sessionId: "ended elsewhere", untilMs: Number.MAX_SAFE_INTEGER }]),
  );
  await taken.promise;
  await pause(3 * limits.catalogPollMs);
  await one.close();
  await other.close();
  await drop();
  const change = { tenant: "system", generation: "sessions" };
  assert.deepEqual(reported, [change, change]);
  assert.ok(lost > 0, "meanwhile no cached record is used");
});
