// `millrace copy` from one data folder to another: kills at random steps, refusals, damaged copies.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { copyTo, fill, newPlace, type Place, served, stateOf } from "../../test/support/copies.ts";
import { type Ended, endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";
import { randomFrom, seed } from "../../test/support/proof.ts";
import { addFunctions } from "../storage/sql/dialects/sqlite/functions.ts";

after(endLeftProcesses);

const killer = new URL("../../test/support/kill-at-step.ts", import.meta.url).pathname;

describe("millrace copy, folder to folder", () => {
  let original: Place;
  let expected: Awaited<ReturnType<typeof stateOf>>;
  before(async () => {
    original = newPlace();
    await fill(original);
    expected = await stateOf(original);
  });

  function copyOfOriginal(): Place {
    const place = newPlace();
    cpSync(original.data, place.data, { recursive: true });
    return place;
  }

  test(`killed at random steps it continues, and the copy is equal, PROOF_SEED=${seed}`, async () => {
    const [from, to] = [copyOfOriginal(), newPlace()];
    const random = randomFrom(seed);
    const steps = join(from.folder, "steps");
    let kills = 0;
    for (let round = 0; round < 3; round++) {
      writeFileSync(steps, "");
      const at = { KILL_STEPS: steps, KILL_AT: String(20 + Math.floor(random() * 300)) };
      const ended = await copyTo(from, to, { NODE_OPTIONS: `--import ${killer}`, ...at }).ended;
      if (ended.signal !== "SIGKILL") {
        assert.equal(ended.status, 0, ended.errors);
        break;
      }
      kills++;
      const source = await startOf(from);
      if (source.status === 0) continue; // Killed before the mark.
      assert.match(source.errors, /is being copied to .*millrace copy --release/s);
    }
    assert.ok(kills > 0, "no run was killed");
    const last = await copyTo(from, to).ended;
    if (last.status !== 0) assert.match(last.errors, /was moved to .* already/);
    assert.deepEqual(await stateOf(to), expected);
    const moved = await runMillrace(["serve"], from.settings, from.folder).ended;
    assert.equal(moved.status, 1);
    assert.match(moved.errors, /was moved to/);
    const release = await runMillrace(["copy", "--from", from.file, "--release"], {}, from.folder).ended;
    assert.equal(release.status, 0, release.errors);
    assert.deepEqual(await stateOf(from), expected);
  });

  test("reads are served meanwhile, changes are refused with 503, and Ctrl-C lets it continue", async () => {
    const [from, to] = [copyOfOriginal(), newPlace()];
    const run = copyTo(from, to);
    const address = await addressOf(run);
    const api = `${address}/api/0.5/projects/default`;
    const headers = { "api-key": from.settings["MILLRACE_ADMIN_KEY"]! };
    const read = await fetch(`${api}/timeseries/latest/level`, { headers });
    assert.equal(read.status, 200);
    const items = [{ timestamp: 1, value: 1 }];
    for (const [path, body] of [
      ["/timeseries/data/level", { items }],
      ["/assets", { items: [{ name: "late" }] }],
      ["/files/initupload", { fileName: "late" }],
    ] as const) {
      const refused = await fetch(`${api}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(refused.status, 503, path);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      assert.match(await refused.text(), /being moved/);
    }
    const command = await runMillrace(["key", "create"], from.settings, from.folder).ended;
    assert.match(command.errors, /is being copied|was moved/);
    run.child.kill("SIGINT");
    const ended = await run.ended;
    assert.ok([0, 130].includes(ended.status!), `${ended.status} ${ended.errors}`);
    if (ended.status === 130) assert.equal((await copyTo(from, to).ended).status, 0);
    assert.deepEqual(await stateOf(to), expected);
  });

  test("it refuses a running source, a target with data, and the target of another copy", async () => {
    const [from, other] = [copyOfOriginal(), copyOfOriginal()];
    const server = await serveMillrace(from.settings, from.folder);
    const running = await copyTo(from, newPlace()).ended;
    assert.equal(running.status, 1);
    assert.match(running.errors, /in use by another process/);
    server.child.kill("SIGTERM");
    await server.ended;
    const full = await copyTo(from, other).ended;
    assert.equal(full.status, 1);
    assert.match(full.errors, /has data already/);
    assert.deepEqual(await stateOf(other), expected, "the refused target is as it was");
    const elsewhere = await copyTo(from, newPlace()).ended;
    assert.match(elsewhere.errors, /is being copied to .*--release/s);
    const stranger = newPlace();
    await served(stranger, async () => {});
    const foreign = await copyTo(stranger, other).ended;
    assert.match(foreign.errors, /belongs to another installation/);
    const nothing = await copyTo(newPlace(), newPlace()).ended;
    assert.match(nothing.errors, /is not a data folder/);
  });

  test("a damaged copy is found, and does not become an installation", async () => {
    const [from, to] = [copyOfOriginal(), newPlace()];
    assert.equal((await copyTo(from, to).ended).status, 0);
    unfinish(from, to);
    const catalog = new DatabaseSync(join(to.data, "catalog.db"));
    addFunctions(catalog);
    catalog.exec("UPDATE events SET description = 'changed' WHERE id = (SELECT min(id) FROM events)");
    catalog.close();
    const largest = largestFile(join(to.data, "blobs"));
    truncateSync(largest, 2_999_999);
    const found = await copyTo(from, to).ended;
    assert.equal(found.status, 3, found.errors);
    assert.match(found.output, /table events of project \d+: .* records with different content/);
    assert.match(found.output, /file \d+\/\d+: source and target have 3000000 bytes and 2999999 bytes/);
    assert.match(found.output, /Differences: 2\./);
    const start = await runMillrace(["serve"], to.settings, to.folder).ended;
    assert.equal(start.status, 1);
    assert.match(start.errors, /unfinished copy/);
  });
});

/** Starts a server and stops it as soon as it serves; one that refuses to start ends by itself. */
async function startOf({ settings, folder }: Place): Promise<Ended> {
  const server = runMillrace(["serve"], settings, folder);
  while (server.child.exitCode === null && !/^Millrace serves/m.test(server.output()))
    await new Promise((resolve) => setTimeout(resolve, 10));
  server.child.kill("SIGTERM");
  return server.ended;
}

/** The address at which a copy serves reads. */
async function addressOf(run: ReturnType<typeof copyTo>): Promise<string> {
  for (;;) {
    const address = /served at (\S+)/.exec(run.output())?.[1];
    if (address) return address;
    if (run.child.exitCode !== null) assert.fail((await run.ended).errors);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Puts both sides of a complete copy back to the state before its last step. */
function unfinish(from: Place, to: Place): void {
  const source = new DatabaseSync(join(from.data, "catalog.db"));
  source.exec("UPDATE installation_copies SET phase = 'copying'");
  const record = source.prepare("SELECT id, copy FROM installation_copies").get()!;
  source.close();
  const target = new DatabaseSync(join(to.data, "catalog.db"));
  target
    .prepare("INSERT INTO installation_copies VALUES (?, 'target', ?, 'copying', 'source')")
    .run(record["id"]!, record["copy"]!);
  target.close();
}

function largestFile(folder: string): string {
  assert.ok(existsSync(folder));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = files.map((one) => join(one.parentPath, one.name));
  return paths.toSorted((a, b) => statSync(b).size - statSync(a).size)[0]!;
}
