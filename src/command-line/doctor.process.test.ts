// `millrace doctor` on a folder in use, intact, damaged and repaired.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";

const adminKey = "a-key-of-this-test-with-enough-letters";
const folder = temporaryFolder();
const data = join(folder, "millrace-data");
after(endLeftProcesses);

const doctor = (...words: string[]) => runMillrace(["doctor", ...words], {}, folder).ended;

test("doctor: exit codes and words, before and after a repair", async () => {
  const absent = await doctor();
  assert.equal(absent.status, 1);
  assert.match(absent.errors, /is not a data folder/);

  const server = await serveMillrace({ MILLRACE_ADMIN_KEY: adminKey }, folder);
  const post = (path: string, body: unknown) =>
    fetch(`${server.baseUrl}/api/0.5/projects/default${path}`, {
      method: "POST",
      headers: { "api-key": adminKey },
      body: JSON.stringify(body),
    });
  await post("/timeseries", { items: [{ name: "pump" }] });
  const items = Array.from({ length: 100 }, (_, i) => ({ timestamp: 1e12 + i, value: Math.sin(i) }));
  assert.equal((await post("/timeseries/data/pump", { items })).status, 200);
  const inUse = await doctor();
  assert.equal(inUse.status, 1);
  assert.match(inUse.errors, /in use by another process/);
  server.child.kill("SIGTERM");
  await server.ended;

  const sound = await doctor();
  assert.deepEqual([sound.status, sound.output, sound.errors], [0, `${data} is in order\n`, ""]);

  const shard = spoilTheBlock();
  const damaged = await doctor();
  assert.equal(damaged.status, 3);
  assert.match(
    damaged.output,
    new RegExp(
      `^points/${shard} at 1: expected checksum \\w{8}, found checksum \\w{8}
  --repair would remove the points of series \\d+ from 1\\d+ to 1\\d+99 ms, with the block kept as \\S+
Damaged parts in ${data}: 1\n$`,
    ),
  );
  const repaired = await doctor("--repair");
  assert.equal(repaired.status, 0);
  assert.match(
    repaired.output,
    /\n {2}repaired: remove the points .*\n.* is in order again; repaired parts: 1\n$/,
  );
  assert.equal((await doctor()).status, 0);

  writeFileSync(join(data, "catalog.db"), "not at all a database".repeat(500));
  const ruined = await doctor("--repair");
  assert.equal(ruined.status, 3);
  assert.match(
    ruined.output,
    /^catalog.db at 0: expected an SQLite database, found .*\n {2}cannot be repaired: restore a backup\n/,
  );
});

/** Changes a byte of the only block; returns the name of its shard's file. */
function spoilTheBlock(): string {
  for (const name of readdirSync(join(data, "points")).filter((one) => one.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(data, "points", name));
    const sql = "UPDATE data SET bytes = CAST(substr(bytes, 1, 50) || 'x' || substr(bytes, 52) AS BLOB)";
    const { changes } = database.prepare(sql).run();
    database.close();
    if (Number(changes) > 0) return name;
  }
  throw new Error("there is no block");
}
