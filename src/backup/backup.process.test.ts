// `millrace backup`, `restore` and `verify` on real servers: one snapshot of all parts, while clients write,
// nothing stored twice, kills of either side, a full disk, damage.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../test/support/connector.ts";
import { adminKey, fill, newPlace, type Place, served, stateOf } from "../../test/support/copies.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { freePort } from "../../test/support/free-port.ts";
import { PlantWriter, readPlant } from "../../test/support/plant-writers.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";
import { randomFrom, seed, times } from "../../test/support/proof.ts";
import { askerOf } from "../../test/support/sample-part.ts";
import { BackupHistory } from "./backup-history.ts";
import { lockForReading } from "./folder-locks.ts";
import { FolderPlace } from "./folder-place.ts";
import { readListing } from "./listing.ts";
import { DamagedChunk } from "./pool.ts";
import { chooseBackup, restoreBackup } from "./restore.ts";
import { type Verification, verifyBackup } from "./verify.ts";
import { VerifyFolder } from "./verify-folder.ts";

after(endLeftProcesses);

const reach = (baseUrl: string) => ({ baseUrl, project: "default", key: adminKey });

/** Runs a command for the data folder of a place; `baseUrl` is that of its server, if one runs. */
const run = ({ settings, folder }: Place, words: readonly string[], baseUrl?: string) =>
  runMillrace([...words, ...(baseUrl === undefined ? [] : ["--server", baseUrl])], settings, folder);

/** Without a folder, to that of the settings. */
async function backUp(place: Place, backups?: string, { baseUrl, more = [] }: BackUpOptions = {}) {
  const words = backups === undefined ? [] : [backups];
  const ended = await run(place, ["backup", ...words, ...more], baseUrl).ended;
  assert.equal(ended.status, 0, ended.output + ended.errors);
  const [, id] = /^Backup (\S+) of/m.exec(ended.output)!;
  const added = Number(/of which ([\d ]+) were added/.exec(ended.output)![1]!.replaceAll(" ", ""));
  return { id: id!, added };
}

interface BackUpOptions {
  readonly baseUrl?: string;
  readonly more?: readonly string[];
}

/** In this process, because a process of its own takes seconds. */
async function restored(backups: string, options: ChosenOptions = {}): Promise<Place> {
  const target = newPlace();
  await restoreBackup(await chooseBackup(new FolderPlace(backups), options), target.data, () => undefined);
  return target;
}

async function verified(backups: string, options: ChosenOptions = {}): Promise<Verification> {
  using folder = VerifyFolder.make(temporaryFolder());
  const chosen = await chooseBackup(new FolderPlace(backups), options);
  return await verifyBackup(chosen, { folder: folder.path, report: () => undefined });
}

type ChosenOptions = Parameters<typeof chooseBackup>[1];

async function requireInOrder(backups: string, options: ChosenOptions = {}): Promise<Verification> {
  const verification = await verified(backups, options);
  assert.deepEqual(verification.findings, []);
  return verification;
}

const snapshotOf = (id: string): number =>
  Date.parse(id.replace(/^(....)(..)(..)T(..)(..)(..)/, "$1-$2-$3T$4:$5:$6"));

const poolFiles = (backups: string): string[] =>
  readdirSync(join(backups, "pool"), { recursive: true, encoding: "utf8" }).filter((path) =>
    /\/[^.]+$/.test(path),
  );

/** Runs what follows with a small disk of its own mounted at the folder. */
const onSmallDisk = (folder: string) => [
  ...["unshare", "--map-root-user", "--mount", "sh", "-c"],
  'mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@"',
  folder,
];
const canMount = spawnSync("unshare", [...onSmallDisk(temporaryFolder()).slice(1), "true"]).status === 0;
const skip = canMount ? false : "this user may not mount a disk of its own (unshare --map-root-user --mount)";

test("beside a server at another address, the command names the one it tried and what to do", async () => {
  const place = newPlace();
  const backups = join(temporaryFolder(), "backups");
  const port = String(await freePort());
  await served(place, async (_ask, baseUrl) => {
    const settings = { ...place.settings, MILLRACE_PORT: port };
    const { status, errors } = await run({ ...place, settings }, ["backup", backups]).ended;
    assert.equal(status, 1);
    assert.match(errors, new RegExp(`No server responds at http://127.0.0.1:${port}, but a process with`));
    assert.ok(errors.includes(`the pid ${process.pid} uses ${place.data}`), errors);
    assert.match(errors, /--server http:\/\/127\.0\.0\.1:<port>, or set its MILLRACE_PORT here too/);
    assert.ok(!existsSync(backups));
    await backUp(place, backups, { baseUrl });
  });
});

describe("while clients write", () => {
  test(`every backup has all parts of one snapshot, PROOF_SEED=${seed}`, async () => {
    const place = newPlace();
    const backups = join(temporaryFolder(), "backups");
    const random = randomFrom(seed);
    const server = await serveMillrace(place.settings, place.folder);
    const { baseUrl } = server;
    const writers = Array.from({ length: 4 }, (_, client) => new PlantWriter(reach(baseUrl), client));
    await Promise.all(writers.map((writer) => writer.start()));
    const ids: string[] = [];
    for (let round = 0; round < times(2, 20); round++) {
      await delay(random() * 1000);
      ids.push((await backUp(place, backups, { baseUrl })).id);
    }
    await Promise.all(writers.map((writer) => writer.stop()));
    server.child.kill("SIGTERM");
    assert.equal((await server.ended).status, 0, server.errors());
    for (const id of ids) {
      assert.ok((await requireInOrder(backups, { id })).series > 0);
      const copy = await restored(backups, { id });
      await served(copy, async (_ask, url) => {
        for (const [client, writer] of writers.entries())
          assert.ok(writer.requireSnapshot(await readPlant(reach(url), client), snapshotOf(id)) > 3);
      });
    }
  });
});

describe("of a filled installation", () => {
  const original = newPlace();
  /** Three backups of a copy of the original. */
  const backups = join(temporaryFolder(), "backups");

  function copyOfOriginal(): Place {
    const place = newPlace();
    cpSync(original.data, place.data, { recursive: true });
    return place;
  }

  function copyOfBackups(): string {
    const copy = join(temporaryFolder(), "backups");
    cpSync(backups, copy, { recursive: true });
    return copy;
  }

  test("a restore has everything, and the next backup copies only what has changed", async () => {
    await fill(original);
    const state = await stateOf(original);
    const place = copyOfOriginal();
    const first = await backUp(place, backups);
    const chunks = poolFiles(backups);
    const second = await backUp(place, backups);
    // The record of the first backup has changed the catalog.
    assert.ok(first.added > 3_000_000 && second.added < 1_000_000, `${first.added}, ${second.added}`);
    await served(place, async (ask, baseUrl) => {
      await ask("POST /assets", { items: [{ name: "added later" }] });
      const third = await backUp(place, backups, { baseUrl });
      assert.ok(third.added < 1_500_000, `${third.added} of ${first.added}`);
    });
    for (const chunk of chunks) assert.ok(poolFiles(backups).includes(chunk));
    const copy = newPlace();
    const until = first.id.replace(/^(....)(..)(..T..)(..)/, "$1-$2-$3:$4:");
    const ended = await run(place, ["restore", backups, "--to", copy.data, "--until", until]).ended;
    assert.equal(ended.status, 0, ended.output + ended.errors);
    assert.deepEqual(await stateOf(copy), state);
    const listed = await run(place, ["backup", "--list", backups]).ended;
    assert.equal(listed.output.trim().split("\n").length, 4, listed.output);
    const verify = await run(place, ["verify", backups]).ended;
    assert.equal(verify.status, 0, verify.output + verify.errors);
    await served(await restored(backups), async (ask) =>
      assert.match((await ask("GET /assets?limit=1000")).text, /added later/),
    );
  });

  test("an upload that was under way starts again at its first byte", async () => {
    const place = copyOfOriginal();
    const backups = join(temporaryFolder(), "backups");
    const upload = async (baseUrl: string) => {
      const { text } = await askerOf(reach(baseUrl))("POST /files/initupload", { fileName: "long" }, "0.5");
      return JSON.parse(text).data.uploadURL as string;
    };
    const put = (url: string, range: string, body?: Uint8Array<ArrayBuffer>) =>
      fetch(url, { method: "PUT", headers: { "content-range": range }, ...(body && { body }) });
    let path = "";
    await served(place, async (_ask, baseUrl) => {
      const url = await upload(baseUrl);
      path = new URL(url).pathname;
      assert.equal((await put(url, "bytes 0-99/200", new Uint8Array(100))).status, 308);
      await backUp(place, backups, { baseUrl });
    });
    await served(await restored(backups), async (_ask, baseUrl) => {
      const progress = await put(`${baseUrl}${path}`, "bytes */200");
      assert.deepEqual([progress.status, progress.headers.get("range")], [308, null]);
      assert.equal((await put(`${baseUrl}${path}`, "bytes 0-199/200", new Uint8Array(200))).status, 200);
    });
  });

  test("encrypted, nothing can be read without the passphrase", async () => {
    const place = copyOfOriginal();
    const backups = join(temporaryFolder(), "backups");
    const [right, wrong] = ["right", "wrong"].map((name) => join(place.folder, name)) as [string, string];
    writeFileSync(right, "a long passphrase\n");
    writeFileSync(wrong, "another passphrase\n");
    const more = ["--passphrase-file", right];
    await backUp(place, backups, { more });
    const settings = { MILLRACE_BACKUP_TO: backups, MILLRACE_BACKUP_PASSPHRASE_FILE: right };
    const again = await backUp({ ...place, settings: { ...place.settings, ...settings } });
    assert.ok(again.added < 1_000_000, `${again.added}`);
    const { runs } = await BackupHistory.open(place.data, backups);
    assert.ok(runs[0]?.outcome === "complete" && runs[0].id === again.id, "the server counts it");
    assert.equal(runs.length, 1);
    await assert.rejects(verified(backups, { passphraseFile: wrong }), /not the one of this backup folder/);
    await assert.rejects(verified(backups), /are encrypted; name the passphrase file/);
    const names = ["level", "drawing", "millrace-points", "catalog.db"].map((name) => Buffer.from(name));
    for (const path of readdirSync(backups, { recursive: true, encoding: "utf8", withFileTypes: true })) {
      if (!path.isFile()) continue;
      const bytes = readFileSync(join(path.parentPath, path.name));
      for (const name of names) assert.ok(!bytes.includes(name), `${path.name} has ${name}`);
    }
    await requireInOrder(backups, { passphraseFile: right });
    const copy = await restored(backups, { passphraseFile: right });
    assert.deepEqual(readFileSync(join(copy.data, "secret")), readFileSync(join(place.data, "secret")));
  });

  test("a damaged, shortened or missing chunk is found, and nothing is restored from it", async () => {
    const random = randomFrom(seed);
    const { repository, manifest } = await chooseBackup(new FolderPlace(backups), {});
    const names = new Set(manifest.listing);
    for await (const { chunks } of readListing(repository.pool, manifest.listing))
      for (const name of chunks) names.add(name);
    const paths = poolFiles(backups).filter((path) => names.has(basename(path)));
    for (let round = 0; round < times(3, 60); round++) {
      const damaged = copyOfBackups();
      const path = join(damaged, "pool", paths[Math.floor(random() * paths.length)]!);
      const bytes = readFileSync(path);
      const at = Math.floor(random() * bytes.length);
      const kind = round % 3;
      if (kind === 0) bytes[at]! ^= 1 << Math.floor(random() * 8);
      if (kind === 2) rmSync(path);
      else writeFileSync(path, kind === 1 ? bytes.subarray(0, at) : bytes);
      const { findings } = await verified(damaged);
      assert.match(findings.join("\n"), kind === 2 ? /it is missing/ : /checksum is wrong/, `${path} ${at}`);
      await assert.rejects(restored(damaged), DamagedChunk);
      if (round > 0) continue;
      const verify = await run(original, ["verify", damaged]).ended;
      assert.equal(verify.status, 3, verify.output + verify.errors);
      const target = newPlace();
      const refused = await run(original, ["restore", damaged, "--to", target.data]).ended;
      assert.equal(refused.status, 1);
      assert.match(refused.errors, /is damaged/);
      assert.ok(!existsSync(target.data));
    }
  });

  test("a damaged manifest is refused, and the backup before it is whole", async () => {
    const damaged = copyOfBackups();
    const [before, newest] = manifestsIn(damaged).sort().slice(-2) as [string, string];
    const path = join(damaged, "backups", `${newest}.manifest`);
    const bytes = readFileSync(path);
    bytes[20]! ^= 1;
    writeFileSync(path, bytes);
    await assert.rejects(verified(damaged), /manifest .* is damaged/);
    await requireInOrder(damaged, { id: before });
    assert.deepEqual(await stateOf(await restored(damaged, { id: before })), await stateOf(original));
    const listed = await run(original, ["backup", "--list", damaged]).ended;
    assert.equal(listed.status, 3);
    assert.match(listed.output, new RegExp(`${before} .*\n *${newest} +damaged`));
    const reader = lockForReading(damaged);
    const kept = await run(copyOfOriginal(), ["backup", damaged, "--existing", "--keep", "1,0,0"]).ended;
    reader[Symbol.dispose]();
    assert.equal(kept.status, 4, kept.output + kept.errors);
    assert.match(kept.errors, /is complete, but old ones stay: .* is being verified or restored/);
    assert.equal(manifestsIn(damaged).length, 4);
    await requireInOrder(damaged);
  });

  test("Ctrl-C ends a backup, which leaves no manifest, and the next one is restored", async () => {
    const place = copyOfOriginal();
    const backups = join(temporaryFolder(), "backups");
    const blobs = readdirSync(join(place.data, "blobs"), { recursive: true, encoding: "utf8" });
    const blob = join(place.data, "blobs", blobs.find((path) => /^\d+\/\d+$/.test(path))!);
    renameSync(blob, `${blob}.away`);
    execFileSync("mkfifo", [blob]); // The copy waits for it.
    const server = await serveMillrace(place.settings, place.folder);
    const command = run(place, ["backup", backups], server.baseUrl);
    await until(() => existsSync(join(backups, "pool")), "the first chunk", 5);
    command.child.kill("SIGINT");
    const ended = await command.ended;
    assert.equal(ended.status, 130, ended.errors);
    assert.match(ended.output, /was interrupted; what it has copied is not copied again/);
    assert.deepEqual(manifestsIn(backups), []);
    renameSync(`${blob}.away`, blob);
    await backUp(place, backups, { baseUrl: server.baseUrl });
    server.child.kill("SIGTERM");
    assert.equal((await server.ended).status, 0);
    assert.deepEqual(await stateOf(await restored(backups)), await stateOf(original));
  });

  test("killed at random times, server or command leave no backup, and the next one is whole", async () => {
    const place = copyOfOriginal();
    const backups = join(temporaryFolder(), "backups");
    const random = randomFrom(seed);
    for (let round = 0; round < times(2, 40); round++) {
      const server = await serveMillrace(place.settings, place.folder);
      const { baseUrl } = server;
      const before = manifestsIn(backups);
      await askerOf(reach(baseUrl))("POST /assets", { items: [{ name: `round ${round}` }] });
      const command = run(place, ["backup", backups], baseUrl);
      await delay(300 + random() * 1500);
      const killed = round % 2 === 0 ? server : command;
      killed.child.kill("SIGKILL");
      await killed.ended;
      if (killed === command) {
        // The server continues; the next command waits for it or finds it ready.
        server.child.kill("SIGTERM");
        await server.ended;
      } else assert.ok([0, 1].includes((await command.ended).status!));
      for (const id of manifestsIn(backups).filter((one) => !before.includes(one)))
        await requireInOrder(backups, { id });
    }
    const { id } = await backUp(place, backups);
    await requireInOrder(backups, { id });
    const copy = await restored(backups, { id });
    assert.deepEqual((await stateOf(copy)).texts, (await stateOf(place)).texts);
    assert.ok(!existsSync(join(place.data, "backup-links")));
  });

  test("only who can read the data folder makes backups, elsewhere than in it, one at a time", async () => {
    const place = copyOfOriginal();
    const nested = await run(place, ["backup", join(place.data, "backups")]).ended;
    assert.match(nested.errors, /must be apart/);
    const other = join(temporaryFolder(), "other");
    mkdirSync(other);
    writeFileSync(join(other, "notes.txt"), "");
    await served(place, async (_ask, baseUrl) => {
      for (const headers of [{}, { "api-key": adminKey }, { authorization: `Bearer ${adminKey}` }])
        for (const method of ["GET", "POST", "DELETE"]) {
          const response = await fetch(`${baseUrl}/-/backups`, { method, headers });
          assert.equal(response.status, 401, method);
        }
      const foreign = await run(place, ["backup", other], baseUrl).ended;
      assert.equal(foreign.status, 1);
      assert.match(foreign.errors, /has other files/);
      assert.deepEqual(
        readdirSync(other).filter((name) => !/^(lock|holder)/.test(name)),
        ["notes.txt"],
      );
      const unmounted = join(temporaryFolder(), "backups");
      const missing = await run(place, ["backup", unmounted, "--existing"], baseUrl).ended;
      assert.equal(missing.status, 1);
      assert.match(missing.errors, /is not a folder of backups/);
      assert.ok(!existsSync(unmounted));
      const backups = join(temporaryFolder(), "backups");
      const both = await Promise.all([1, 2].map(() => run(place, ["backup", backups], baseUrl).ended));
      assert.deepEqual(both.map(({ status }) => status).sort(), [0, 1]);
      assert.match(both.find(({ status }) => status === 1)!.errors, /is being made/);
      assert.match(both.find(({ status }) => status === 0)!.output, /^Made a new folder of backups in/);
    });
  });

  test("the command waits for a server that breaks off responses, and follows its own backup", async () => {
    const place = "/backups";
    const running = { place, startedTime: 5, phase: "copying", bytesDone: 0, bytesTotal: 1, bytesStored: 0 };
    const copied = { id: "id", snapshotMs: 0, files: 1, bytes: 1, bytesStored: 1, missing: [] };
    const last = { place, startedTime: 5, endedTime: 6, outcome: "complete", pausedMs: 0, ...copied };
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      if (requests === 2) return request.socket.destroy();
      const state = requests < 4 ? { running } : { running: { ...running, startedTime: 7 }, last };
      return response.end(JSON.stringify(state));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const followed = await run(original, ["backup", place], `http://127.0.0.1:${port}`).ended;
    server.close();
    assert.equal(followed.status, 0, followed.errors);
    assert.match(followed.output, /^Backup id of/);
    assert.equal(requests, 4);
  });

  test("a full disk of backups leaves the server and the older backups whole", { skip }, async () => {
    const place = copyOfOriginal();
    const backups = temporaryFolder();
    const server = await serveMillrace(place.settings, place.folder, onSmallDisk(backups));
    const seen = `/proc/${server.child.pid}/root${backups}`;
    const { baseUrl } = server;
    const first = await backUp(place, backups, { baseUrl });
    const ask = askerOf(reach(baseUrl));
    const { text } = await ask("POST /files/initupload", { fileName: "large" }, "0.5");
    const large = await fetch(JSON.parse(text).data.uploadURL, {
      method: "PUT",
      body: randomBytes(20_000_000),
    });
    assert.equal(large.status, 200);
    const refused = await run(place, ["backup", backups], baseUrl).ended;
    assert.equal(refused.status, 1);
    assert.match(refused.errors, /No backup was made: .*ENOSPC/);
    assert.deepEqual(manifestsIn(seen), [first.id]);
    await ask("POST /assets", { items: [{ name: "after the full disk" }] });
    await requireInOrder(seen);
    assert.deepEqual(await stateOf(await restored(seen)), await stateOf(original));
    server.child.kill("SIGTERM");
    assert.equal((await server.ended).status, 0);
  });
});

const manifestsIn = (backups: string): string[] =>
  existsSync(join(backups, "backups"))
    ? readdirSync(join(backups, "backups")).flatMap((name) => /^(.*)\.manifest$/.exec(name)?.[1] ?? [])
    : [];
