// `node scripts/release/fixture.ts`: writes test/fixtures/releases/VERSION, what this version leaves on disk:
//
// | File | Content |
// |---|---|
// | data.tar.zst | a data folder with records of every resource and datapoints, in blocks and in the journal,
// as kill -9 leaves it |
// | backups.tar.zst | a folder of backups with one of it |
// | plant.tar.zst | the archive of its project |
// | expected.json.zst | what the API returned; the audit log up to the backup |
//
// test/releases.test.ts opens them with the newest version. Run it once for each release; never again, as
// later versions write other files. 0.1.0-early is from before the tables of the audit log and of retention
// rules, so that a start has to add them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { version } from "../../src/lib/version.ts";
import { newPlace, type Place } from "../../test/support/copies.ts";
import { runMillrace, serveMillrace } from "../../test/support/process.ts";
import {
  fillReleaseFixture,
  readAuditLog,
  readReleaseFixture,
  releaseKey,
  writeLatePoints,
} from "../../test/support/release-fixture.ts";
import { askerOf } from "../../test/support/sample-part.ts";

const target = join(import.meta.dirname, "../../test/fixtures/releases", version);
if (existsSync(target)) throw new Error(`${target} exists: a release is written once`);

const place = newPlace({ MILLRACE_ADMIN_KEY: releaseKey });
const { server: first, ask: fill } = await serve();
await fillReleaseFixture(fill);
first.child.kill("SIGTERM");
await first.ended;
const { server, ask } = await serve();
await writeLatePoints(ask);
// Before the backup, which is in the log itself but not in its own copy.
const audit = await readAuditLog(ask);
mkdirSync(target, { recursive: true });
const backups = join(place.folder, "backups");
await command(place, "backup", backups, "--server", server.baseUrl);
await command(place, "export", "--output", join(target, "plant.tar.zst"), "--server", server.baseUrl);
const expected = { ...(await readReleaseFixture(ask)), audit };
writeFileSync(join(target, "expected.json.zst"), zstdCompressSync(JSON.stringify(expected)));
server.child.kill("SIGKILL");
await server.ended;
pack("data", place.data);
pack("backups", backups);
console.log(`${target} has the data folder, the backup and the archive of ${version}`);

async function serve() {
  const server = await serveMillrace(place.settings, place.folder);
  return { server, ask: askerOf({ baseUrl: server.baseUrl, project: "default", key: releaseKey }) };
}

async function command({ settings, folder }: Place, ...words: readonly string[]): Promise<void> {
  const ended = await runMillrace(words, { ...settings, MILLRACE_KEY: releaseKey }, folder).ended;
  assert.equal(ended.status, 0, ended.output + ended.errors);
}

function pack(name: string, folder: string): void {
  // A start makes these again.
  const leftOut = ["reserve", "lock", "holder.pid", "*-shm"].map((file) => `--exclude=${file}`);
  const file = join(target, `${name}.tar.zst`);
  writeFileSync(
    file,
    zstdCompressSync(
      execFileSync("tar", ["--create", ...leftOut, "--directory", folder, "."], { maxBuffer: 2 ** 30 }),
    ),
  );
}
