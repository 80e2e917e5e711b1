// The connections that the driver gives to transactions.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SqliteDriver } from "./driver.ts";

test("the first connection, which caches most pages, is used whenever it is idle", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-driver-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const driver = new SqliteDriver({ file: join(folder, "catalog.db"), mode: "write", connections: 3 });
  await driver.init();
  t.after(() => driver.destroy());
  const [first, second] = [await driver.acquireConnection(), await driver.acquireConnection()];
  assert.deepEqual([first.number, second.number], [0, 1]);
  await driver.releaseConnection(first);
  await driver.releaseConnection(second);
  assert.equal((await driver.acquireConnection()).number, 0);
  assert.equal((await driver.acquireConnection()).number, 1);
});
