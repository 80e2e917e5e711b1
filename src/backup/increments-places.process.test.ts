// Increments that are encrypted, in a folder and in an S3 store, while the place is away for a time and the
// server is killed: each restores to the requests up to its snapshot, and only with the passphrase.
import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { until } from "../../test/support/connector.ts";
import { adminKey, newPlace, served } from "../../test/support/copies.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { PlantWriter, readPlant } from "../../test/support/plant-writers.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";
import { testS3 } from "../../test/support/s3-store.ts";
import { TcpProxy } from "../../test/support/tcp-proxy.ts";
import { FolderPlace } from "./folder-place.ts";
import type { BackupPlace } from "./place.ts";
import { passphraseIn, Repository, snapshotOf } from "./repository.ts";
import { chooseBackup, restoreBackup } from "./restore.ts";
import { S3Place } from "./s3-place.ts";
import { verifyBackup } from "./verify.ts";
import { VerifyFolder } from "./verify-folder.ts";

after(endLeftProcesses);

const keys = temporaryFolder();
const passphraseFile = join(keys, "passphrase");
const otherFile = join(keys, "other");
writeFileSync(passphraseFile, "a passphrase of this test\n");
writeFileSync(otherFile, "another passphrase\n");

const store = await testS3();
const { location, credentials } = store.place();

/** A place of backups that can be away. */
interface Kind {
  readonly name: string;
  readonly address: string;
  readonly environment: Readonly<Record<string, string>>;
  open(): Promise<BackupPlace>;
  away(): void;
  back(): Promise<void>;
}

function folderKind(): Kind {
  const folder = join(temporaryFolder(), "backups");
  const open = async () => new FolderPlace(folder);
  return {
    ...{ name: "a folder", address: folder, environment: {}, open },
    away: () => renameSync(folder, `${folder}.away`),
    async back() {
      // The mount point of a disk that is away may exist.
      rmSync(folder, { recursive: true, force: true });
      renameSync(`${folder}.away`, folder);
    },
  };
}

async function s3Kind(): Promise<Kind> {
  const proxy = await TcpProxy.start(store.endpoint);
  const address = `s3://${location.bucket}/${location.prefix.slice(0, -1)}?endpoint=${proxy.endpoint}`;
  const setting = { location, ...(credentials && { credentials }) };
  const open = () => S3Place.open(setting, address, { termMs: 3_000 });
  const environment = {
    AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
  };
  return {
    ...{ name: "an S3 store", address, environment, open },
    away: () => proxy.set("refuse"),
    async back() {
      proxy.set("pass");
      const place = await open(); // A lock that was left would count until the end of its term.
      await (await place.lock("write"))[Symbol.asyncDispose]();
      place.close();
    },
  };
}

for (const kind of [folderKind(), await s3Kind()])
  describe(`encrypted increments in ${kind.name}`, () => {
    const place = newPlace({
      ...kind.environment,
      MILLRACE_BACKUP_TO: kind.address,
      MILLRACE_BACKUP_JOURNAL: "1",
      MILLRACE_BACKUP_SCHEDULE: "0 0 1 1 * UTC",
      MILLRACE_BACKUP_PASSPHRASE_FILE: passphraseFile,
    });
    const reach = (baseUrl: string) => ({ baseUrl, project: "default", key: adminKey });
    let writer: PlantWriter;

    async function increments(): Promise<readonly string[]> {
      const opened = await kind.open();
      const repository = await Repository.open(opened, passphraseIn(passphraseFile));
      return [...(await repository.incrementIds())].sort();
    }

    /** Waits for so many increments more than there are. */
    async function untilMore(count: number): Promise<void> {
      const { length } = await increments();
      await until(async () => (await increments()).length >= length + count, "increments", 10);
    }

    async function requireRestorable(id: string): Promise<void> {
      const backup = await chooseBackup(await kind.open(), { id, passphraseFile });
      const copy = newPlace();
      await restoreBackup(backup, copy.data, () => undefined);
      await served(copy, async (_ask, url) => {
        writer.requireSnapshot(await readPlant(reach(url), 0), snapshotOf(id));
      });
    }

    test("they continue after the place was away, and after a kill of the server", async () => {
      const server = await serveMillrace(place.settings, place.folder);
      const words = ["backup", "--server", server.baseUrl];
      const first = await runMillrace(words, place.settings, place.folder).ended;
      assert.equal(first.status, 0, first.errors);
      writer = new PlantWriter(reach(server.baseUrl), 0);
      await writer.start();
      await untilMore(2);
      const before = await increments();
      kind.away();
      const acknowledged = writer.written.length;
      await until(() => writer.written.length > acknowledged + 40, "writes meanwhile", 10);
      await kind.back();
      await untilMore(2);
      server.child.kill("SIGKILL");
      await server.ended;
      await writer.stop().catch(() => undefined);
      const all = await increments();
      assert.ok(all.length >= before.length + 2);
      for (const id of new Set([before.at(-1)!, all[before.length]!, all.at(-1)!]))
        await requireRestorable(id);
      const last = writer.written.filter(({ acknowledgedMs }) => acknowledgedMs < snapshotOf(all.at(-1)!));
      assert.ok(last.length > acknowledged + 40, "the newest one has what was written meanwhile");
    });

    test("they are verified, refused without their passphrase, and damage is found", async () => {
      const id = (await increments()).at(-1)!;
      const opened = await kind.open();
      for (const wrong of [undefined, otherFile])
        await assert.rejects(chooseBackup(opened, { id, passphraseFile: wrong }), /passphrase/i);
      const backup = await chooseBackup(opened, { id, passphraseFile });
      using folder = VerifyFolder.make(temporaryFolder());
      const verify = async () =>
        (await verifyBackup(backup, { folder: folder.path, report: () => undefined })).findings;
      assert.deepEqual(await verify(), []);
      const chunk = backup.manifest.listing.at(-1)!;
      const path = `pool/${chunk.slice(0, 2)}/${chunk}`;
      const whole = (await opened.read(path))!;
      assert.ok(!Buffer.from(whole).includes("asset-0-"), "nothing in it is readable");
      const damaged = Buffer.from(whole);
      damaged[damaged.length >> 1]! ^= 1;
      await opened.remove(path);
      await opened.write(path, damaged);
      assert.notDeepEqual(await verify(), []);
      const target = join(temporaryFolder(), "target");
      mkdirSync(target);
      await assert.rejects(restoreBackup(backup, target, () => undefined));
    });
  });
