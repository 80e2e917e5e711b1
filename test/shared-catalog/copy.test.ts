// `millrace copy` from a data folder to PostgreSQL, ClickHouse and S3, and back: killed at random times, both
// copies equal the original by the API, by an archive and for the same key.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { skipWithout } from "../../scripts/system-packages.ts";
import { type ClickHouseServer, newClickHouseDatabase, startClickHouse } from "../support/clickhouse.ts";
import { archiveOf, copyTo, fill, newPlace, type Place, stateOf } from "../support/copies.ts";
import { newDatabase } from "../support/postgres.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../support/process.ts";
import { randomFrom, seed } from "../support/proof.ts";
import { testS3 } from "../support/s3-store.ts";

const skip = skipWithout("postgresql") || skipWithout("clickhouse");
const random = randomFrom(seed);

describe(`millrace copy between a folder and a cluster, PROOF_SEED=${seed}`, { skip }, () => {
  let clickHouse: ClickHouseServer;
  const original = newPlace();
  let [state, archive]: unknown[] = [];
  let cluster: Place;
  before(async () => {
    clickHouse = await startClickHouse();
    await fill(original);
    state = await stateOf(original);
    archive = await archiveOf(original);
    cluster = await newCluster(clickHouse);
  });
  after(() => {
    endLeftProcesses();
    clickHouse.remove();
  });

  test("folder to cluster", async () => {
    await copyWithKill(original, cluster);
    assert.deepEqual(await stateOf(cluster), state);
    assert.deepEqual(await archiveOf(cluster), archive);
  });

  test("a running server of the cluster prevents a copy", async () => {
    const server = await serveMillrace(cluster.settings, cluster.folder);
    const other = newPlace({ ...cluster.settings });
    const refused = await copyTo(other, newPlace()).ended;
    assert.equal(refused.status, 1);
    assert.match(refused.errors, /1 servers of .* run; stop them/);
    server.child.kill("SIGTERM");
    await server.ended;
    const release = await runMillrace(["copy", "--from", other.file, "--release"], {}, other.folder).ended;
    assert.equal(release.status, 0, release.errors);
  });

  test("cluster to folder", async () => {
    const back = newPlace();
    await copyWithKill(cluster, back);
    assert.deepEqual(await stateOf(back), state);
    assert.deepEqual(await archiveOf(back), archive);
    const start = await runMillrace(["serve"], cluster.settings, cluster.folder).ended;
    assert.match(start.errors, /was moved to/);
  });
});

/** A new PostgreSQL and ClickHouse database, and a place in an S3 store. */
async function newCluster(clickHouse: ClickHouseServer): Promise<Place> {
  const { location, credentials } = (await testS3()).place();
  return newPlace({
    MILLRACE_CATALOG: (await newDatabase()).url,
    MILLRACE_POINTS: await newClickHouseDatabase(clickHouse),
    MILLRACE_BLOBS: `s3://${location.bucket}/${location.prefix}?endpoint=${location.endpoint}`,
    AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
  });
}

/**
 * Kills the copy once, some time after it has begun to serve reads, and runs it again if it had not ended.
 */
async function copyWithKill(from: Place, to: Place): Promise<void> {
  const first = copyTo(from, to);
  while (!first.output().includes("served at") && first.child.exitCode === null) await pause(5);
  await pause(random() * 3_000);
  first.child.kill("SIGKILL");
  const ended = await first.ended;
  if (ended.status === 0) return;
  assert.equal(ended.signal, "SIGKILL", ended.errors);
  const last = await copyTo(from, to).ended;
  // A kill can come between the end of the copy and that of its process.
  if (last.errors.includes("was moved to")) return assert.match(last.errors, /was moved to .+ already/);
  assert.equal(last.status, 0, last.errors);
  assert.match(last.output, /\d+ records, [\d ]+ points, \d+ files .* are equal in both/);
}
