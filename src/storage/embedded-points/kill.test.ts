// After a kill during writes, the next start has every acknowledged request, and no request in part.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { writtenSeries } from "../../../test/support/points-writer.ts";
import { times } from "../../../test/support/proof.ts";
import { openEmbeddedPoints } from "./embedded-points.ts";

const kills = times(4, 100);
const writer = new URL("../../../test/support/points-writer.ts", import.meta.url).pathname;

it(`${kills} times kill -9 during writes`, async () => {
  const folder = temporaryFolder();
  let acknowledged: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const first = kill * 1e6;
    acknowledged = [...acknowledged, ...(await writeAndKill(folder, first))];
    await check(folder, acknowledged);
  }
  assert.ok(acknowledged.length > 0, "something was acknowledged");
});

/** Requests acknowledged before the kill, some time after the first acknowledgement. */
async function writeAndKill(folder: string, first: number): Promise<number[]> {
  const child = spawn(process.execPath, [writer, folder, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (bytes: Buffer) => {
      if (said === "") setTimeout(() => child.kill("SIGKILL"), Math.random() * 400);
      said += bytes.toString("latin1");
    });
    child.on("close", () => resolve());
  });
  return said.split("\n").slice(0, -1).map(Number);
}

async function check(folder: string, acknowledged: readonly number[]): Promise<void> {
  const store = await openEmbeddedPoints({ folder });
  try {
    const query = { isString: false, startMs: -Infinity, endMs: Infinity, limit: 1e9 };
    const found = await Promise.all(writtenSeries.map((series) => store.scan({ series, ...query })));
    const there = new Set(found[0]!.times);
    const lost = acknowledged.filter((request) => !there.has(request));
    assert.deepEqual(lost, [], "every acknowledged request is there");
    for (const one of found) {
      assert.deepEqual(one.times, found[0]!.times, "no request is half there");
      assert.deepEqual(one.values, one.times);
    }
    assert.deepEqual((await store.stats()).quarantined, []);
  } finally {
    await store.close();
  }
}
