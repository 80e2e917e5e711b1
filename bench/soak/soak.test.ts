// A soak test of three minutes: kills and restarts under load, and nothing acknowledged is lost.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { needs } from "../../test/support/needs.ts";
import { endLeftProcesses } from "../../test/support/process.ts";
import { kinds } from "./figures.ts";
import { runSoak } from "./run-soak.ts";

after(endLeftProcesses);

/** Files of the catalog, of shards and of connections; a leak of one a request would be thousands. */
const openFilesMax = 300;

test("a plant of 1,000 series for three minutes", needs("mosquitto"), async () => {
  const scale = { seconds: 180, series: 1_000, backups: "* * * * * UTC" };
  const { findings, samples, interruptions } = await runSoak(scale, temporaryFolder(), () => {});
  assert.deepEqual(findings, []);
  assert.equal(interruptions.length, 10);
  for (const kind of kinds)
    assert.ok(
      samples.some(({ times }) => times.has(kind)),
      kind,
    );
  const openFiles = Math.max(...samples.map((one) => one.openFiles));
  assert.ok(openFiles < openFilesMax, `${openFiles} open files`);
});
