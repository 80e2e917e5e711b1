// The place of backups: a folder and a prefix of an S3 store keep one contract.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import fs from "node:fs/promises";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, it, mock, test } from "node:test";
import { addBackup } from "../../test/support/backup-folder.ts";
import { withFaults } from "../../test/support/faulty-proxy.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { testS3, unsignedS3 } from "../../test/support/s3-store.ts";
import { StartRefused } from "../data-folder.ts";
import { contentOf } from "../storage/s3-blobs/content.ts";
import type { S3Setting } from "../storage/s3-blobs/s3-blobs.ts";
import { S3Bucket } from "../storage/s3-blobs/s3-bucket.ts";
import { FolderPlace } from "./folder-place.ts";
import { readListing } from "./listing.ts";
import { type BackupPlace, placeNamed } from "./place.ts";
import { DamagedChunk } from "./pool.ts";
import { pruneAt } from "./prune.ts";
import { Repository } from "./repository.ts";
import { S3Place } from "./s3-place.ts";

const store = await testS3();
/** Long enough for a busy machine, because a lock counts as lost after a third of it. */
const termMs = 30_000;

const s3At = (setting: S3Setting, options = { termMs }) => S3Place.open(setting, "s3://test", options);

/** Each call of a result opens the same place, as another process does. */
const kinds: Readonly<Record<string, () => () => Promise<BackupPlace>>> = {
  folder() {
    const folder = temporaryFolder();
    return async () => new FolderPlace(folder);
  },
  S3() {
    const setting = store.place();
    return () => s3At(setting);
  },
};

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();
const day = (number: number) => Date.UTC(2026, 0, number);

for (const [kind, newPlace] of Object.entries(kinds))
  describe(`backups in a place of the kind ${kind}`, () => {
    it("reads what was written, whole, at any other process", async () => {
      const open = newPlace();
      const place = await open();
      assert.equal(await place.read("a/missing"), undefined);
      assert.deepEqual(await place.list("a"), []);
      const large = randomBytes(300_000);
      for (let number = 0; number < 40; number++) await place.write(`a/${number}`, Buffer.from(`${number}`));
      await place.write("a/large", large);
      await place.write("b/c", Buffer.of());
      await place.sync();
      const other = await open();
      assert.equal((await other.list("a")).length, 41);
      assert.deepEqual((await other.list("")).sort(), ["a", "b"]);
      assert.equal(text(await other.read("a/17")), "17");
      assert.equal(text(await other.read("b/c")), "");
      assert.ok(large.equals((await other.read("a/large"))!));
      await other.write("a/17", Buffer.from("another"));
      await other.sync();
      assert.equal(text(await place.read("a/17")), "another");
      for (let time = 0; time < 2; time++) await place.remove("a/17");
      await place.sync();
      assert.equal(await other.read("a/17"), undefined);
      assert.ok(!(await other.list("a")).includes("17"));
    });

    it("lets one process write, and any number read except during a removal", async () => {
      const open = newPlace();
      const [one, other] = [await open(), await open()];
      const writing = await one.lock("write");
      await assert.rejects(other.lock("write"), /Another process uses the backups/);
      const readers = [await one.lock("read"), await other.lock("read")];
      for (const reader of readers) {
        await assert.rejects(one.lock("removal"), /is being verified or restored/);
        await reader[Symbol.asyncDispose]();
      }
      const removal = await one.lock("removal");
      await assert.rejects(other.lock("read"), /are being removed; try again/);
      await removal[Symbol.asyncDispose]();
      await (await other.lock("read"))[Symbol.asyncDispose]();
      await writing[Symbol.asyncDispose]();
      await (await other.lock("write"))[Symbol.asyncDispose]();
    });

    for (const passphrase of [undefined, "a passphrase"])
      it(`keeps backups ${passphrase ? "with" : "without"} encryption, and removes old ones`, async () => {
        const open = newPlace();
        const contents = new Map<string, Buffer>();
        {
          const place = await open();
          await using _ = await place.lock("write");
          const repository = await Repository.openOrMake(place, passphrase);
          for (const number of [1, 2, 3]) {
            const content = randomBytes(1_000);
            const files = new Map([["blobs/1/1", content]]);
            contents.set(await addBackup(repository, day(number), files), content);
          }
        }
        const ids = [...contents.keys()];
        const repository = await Repository.openOrMake(await open(), passphrase);
        assert.deepEqual(await repository.ids(), ids);
        const place = await open();
        if (passphrase) await assert.rejects(Repository.open(place, undefined), /are encrypted/);
        else {
          const removed = await pruneAt(place, { keep: { days: 2, weeks: 0, months: 0 } });
          assert.deepEqual(removed, { backups: 1, chunks: 2 });
        }
        const kept = await Repository.open(await open(), passphrase);
        assert.deepEqual(await kept.ids(), passphrase ? ids : ids.slice(1));
        for (const id of await kept.ids()) {
          const { listing } = await kept.manifest(id);
          for await (const { chunks } of readListing(kept.pool, listing))
            assert.ok(contents.get(id)!.equals(await kept.pool.read(chunks[0]!)));
        }
      });

    it("writes a new file once, and keeps one that exists", async () => {
      const open = newPlace();
      const [one, other] = [await open(), await open()];
      await one.writeNew("a/1", Buffer.from("first"));
      await one.sync();
      await assert.rejects(other.writeNew("a/1", Buffer.from("second")), StartRefused);
      await assert.rejects(one.writeNew("a/1", Buffer.from("third")), /has had no a\/1 before/);
      assert.equal(text(await other.read("a/1")), "first");
      assert.deepEqual(await other.list("a"), ["1"]);
    });

    it("keeps its description, and so its keys, when it was away while a backup began", async () => {
      const open = newPlace();
      const place = await open();
      const description = "millrace-backups.json";
      const repository = await Repository.openOrMake(place, "a passphrase");
      await place.sync();
      const before = await place.read(description);
      const id = await addBackup(repository, day(1), new Map());
      const returning = {
        ...{ name: place.name, read: async () => undefined, list: async () => [] },
        ...{ writeNew: place.writeNew.bind(place), sync: place.sync.bind(place) },
      } as Partial<BackupPlace> as BackupPlace;
      await assert.rejects(Repository.openOrMake(returning, "a passphrase"), StartRefused);
      assert.deepEqual(await place.read(description), before);
      assert.equal((await (await Repository.open(place, "a passphrase")).manifest(id)).id, id);
    });

    it("tells damaged and missing chunks from others", async () => {
      const open = newPlace();
      const place = await open();
      const repository = await Repository.openOrMake(place, undefined);
      const names = [];
      for (const content of ["one", "two", "three"])
        names.push(await repository.pool.add(Buffer.from(content)));
      await place.sync();
      const [first, second] = names.map((name) => `pool/${name.slice(0, 2)}/${name}`) as [string, string];
      await place.write(first, Buffer.from("damaged"));
      await place.remove(second);
      await place.sync();
      const { pool } = await Repository.open(await open(), undefined);
      await assert.rejects(pool.read(names[0]!), { name: DamagedChunk.name, message: /checksum is wrong/ });
      await assert.rejects(pool.read(names[1]!), { name: DamagedChunk.name, message: /it is missing/ });
      assert.equal(text(await pool.read(names[2]!)), "three");
    });

    it("refuses a place with other files", async () => {
      const place = await newPlace()();
      await using _ = await place.lock("write");
      await place.write("notes.txt", Buffer.from("not ours"));
      await place.sync();
      await assert.rejects(Repository.openOrMake(place, undefined), /has other files/);
      await assert.rejects(Repository.open(place, undefined), /is not a folder of backups/);
    });
  });

async function bucketOf({ location, credentials }: S3Setting) {
  const bucket = await S3Bucket.open(location, credentials);
  return { bucket, put: (key: string) => bucket.put(location.prefix + key, contentOf('{"nonce":"x"}')) };
}

test("nothing is written to the mount point of a folder whose disk is away", async () => {
  const folder = join(temporaryFolder(), "backups");
  const place = new FolderPlace(folder);
  await using _ = await place.lock("write");
  await place.write("pool/aa", Buffer.from("first"));
  await place.sync();
  renameSync(folder, `${folder}.away`);
  await assert.rejects(place.write("more/bb", Buffer.from("second")), /another folder than at the start/);
  assert.ok(!existsSync(folder));
  mkdirSync(folder);
  await assert.rejects(place.write("more/bb", Buffer.from("second")), /Was its disk away/);
  await assert.rejects(place.write("pool/cc", Buffer.from("third")), /ENOENT/);
  await assert.rejects(place.sync(), StartRefused);
  assert.deepEqual(readdirSync(folder), []);
  rmSync(folder, { recursive: true });
  renameSync(`${folder}.away`, folder);
  await place.write("more/bb", Buffer.from("second"));
  await place.sync();
});

describe("a new file in a folder without hard links", () => {
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  /** Replaces a function of Node for `src/backup/folder-place.ts`. */
  function replace(name: "link" | "rename", implementation: typeof fs.rename): void {
    mock.method(fs, name, implementation);
    syncBuiltinESMExports();
  }
  const refusal = (code: string) => Object.assign(new Error(`${code}: refused`), { code });
  const withoutLinks = () => replace("link", () => Promise.reject(refusal("EPERM")));

  it("is written once, and keeps its bytes", async () => {
    withoutLinks();
    const folder = temporaryFolder();
    const [one, other] = [new FolderPlace(folder), new FolderPlace(folder)];
    await one.writeNew("a/1", Buffer.from("first"));
    await one.sync();
    for (const place of [one, other])
      await assert.rejects(place.writeNew("a/1", Buffer.from("second")), /has had no a\/1 before/);
    assert.equal(text(await other.read("a/1")), "first");
    assert.deepEqual(readdirSync(join(folder, "a")), ["1"]);
  });

  it("is whole or missing when the machine fails meanwhile", async () => {
    withoutLinks();
    const place = new FolderPlace(temporaryFolder());
    replace("rename", () => Promise.reject(refusal("EIO")));
    await assert.rejects(place.writeNew("a/1", Buffer.from("first")), /EIO/);
    assert.equal(await place.read("a/1"), undefined);
    mock.restoreAll();
    withoutLinks();
    await place.writeNew("a/1", Buffer.from("second"));
    assert.equal(text(await place.read("a/1")), "second");
  });

  for (const step of ["link", "rename"] as const)
    it(`replaces no file of a disk that comes back before the ${step}`, async () => {
      const folder = join(temporaryFolder(), "backups");
      await new FolderPlace(folder).writeNew("1", Buffer.from("first"));
      renameSync(folder, `${folder}.away`);
      const place = new FolderPlace(folder);
      await using _ = await place.lock("write");
      const { rename } = fs;
      withoutLinks();
      replace(step, async (from, to) => {
        renameSync(folder, `${folder}.mount-point`);
        renameSync(`${folder}.away`, folder);
        if (step === "link") throw refusal("EPERM");
        await rename(from, to);
      });
      await assert.rejects(place.writeNew("1", Buffer.from("second")), /has had no 1 before|ENOENT/);
      assert.equal(text(await place.read("1")), "first");
    });
});

test("locks that killed processes left in an S3 store end after their term", async () => {
  const setting = store.place();
  const place = await s3At(setting, { termMs: 600 });
  const { put } = await bucketOf(setting);
  for (const key of ["lock", "lock-removal", "lock-readers/left"]) await put(key);
  await using _writing = await place.lock("write");
  await (await place.lock("read"))[Symbol.asyncDispose]();
  await using _removal = await place.lock("removal");
  assert.deepEqual((await place.list("")).sort(), ["lock", "lock-removal"]);
});

test("a process whose lock another one took over changes no backup any more", async () => {
  const setting = store.place();
  const place = await s3At(setting);
  const lock = await place.lock("write");
  await place.write("a", Buffer.from("a"));
  await place.sync();
  const { bucket, put } = await bucketOf(setting);
  await put("lock"); // As another process does after the term.
  await place.write("b", Buffer.from("b"));
  await assert.rejects(place.sync(), /The lock .*lock was lost/);
  await assert.rejects(place.write("c", Buffer.from("c")), /was lost/);
  await assert.rejects(place.remove("a"), /was lost/);
  await lock[Symbol.asyncDispose]();
  assert.ok(await bucket.head(`${setting.location.prefix}lock`), "it is that of the other process");
  assert.equal(text(await place.read("a")), "a");
});

test("an S3 store that is away or refuses is named, without secrets", async () => {
  const { location, credentials } = store.place();
  const away = {
    location: { ...location, endpoint: "http://127.0.0.1:9" },
    ...(credentials && { credentials }),
  };
  const place = await S3Place.open(away, "s3://bucket/prefix", { termMs });
  const isNamed = (problem: unknown) =>
    problem instanceof StartRefused &&
    /^The S3 store of backups s3:\/\/bucket\/prefix is not available \(.*ECONNREFUSED/.test(problem.message);
  await assert.rejects(place.read("a"), isNamed);
  await place.write("a", Buffer.from("a"));
  await assert.rejects(place.sync(), isNamed);
  await assert.rejects(place.write("b", Buffer.from("b")), isNamed);
});

test("without the permission to write, backups in an S3 store are read without a lock", async () => {
  const store = await unsignedS3();
  const setting = store.place();
  const own = await s3At(setting);
  await own.write("a", Buffer.from("a"));
  await own.sync();
  const refuse = ({ method }: { method: string }) => (method === "PUT" ? 403 : undefined);
  await withFaults(store.endpoint, refuse, async (endpoint) => {
    const { location, ...access } = setting;
    const place = await s3At({ ...access, location: { ...location, endpoint } });
    await using _ = await place.lock("read");
    assert.equal(text(await place.read("a")), "a");
    assert.deepEqual(await own.list("lock-readers"), []);
    await assert.rejects(place.lock("write"), /is not available \(.*status 403\)/);
  });
});

test("a store that ignores conditions of writes is refused", async () => {
  const store = await unsignedS3();
  const setting = store.place();
  const { location, ...access } = setting;
  const app = createServer(async (request, response) => {
    const { method = "GET", url, headers } = request;
    const { "if-none-match": _, ...sent } = headers as Record<string, string>;
    const hasBody = method === "PUT" && { body: Buffer.concat(await request.toArray()) };
    const passed = await fetch(store.endpoint + url, { method, headers: plainHeaders(sent), ...hasBody });
    const etag = passed.headers.get("etag");
    response.writeHead(passed.status, { ...(etag && { etag }) });
    response.end(Buffer.from(await passed.arrayBuffer()));
  });
  await once(app.listen(0, "127.0.0.1"), "listening");
  const endpoint = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const place = await s3At({ ...access, location: { ...location, endpoint } });
  await assert.rejects(place.lock("write"), /ignores the condition If-None-Match/);
  app.closeAllConnections();
  app.close();
});

const plainHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(host|connection|content-length|expect)$/.test(name)),
  );

test("one place has one name", () => {
  assert.equal(placeNamed("backups", "/srv"), "/srv/backups");
  const name = "s3://bucket/a/b?endpoint=http%3A%2F%2Fhost%3A9000&region=eu";
  assert.equal(placeNamed("s3://bucket/a/b/?region=eu&endpoint=http://host:9000", "/srv"), name);
  assert.equal(placeNamed(name, "/srv"), name);
  assert.equal(placeNamed("s3://bucket", "/srv"), "s3://bucket/");
  assert.throws(() => placeNamed("s3://user:password@bucket/a", "/srv"), /must not hold credentials/);
});
