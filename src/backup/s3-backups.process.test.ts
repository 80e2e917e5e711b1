// Backups in an S3 store, by commands and real servers: made, verified, restored, removed, and their state
// when the store goes away, the process that copies is killed, or an object is damaged.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { until as untilWithin } from "../../test/support/connector.ts";
import { adminKey, fill, newPlace, type Place, stateOf } from "../../test/support/copies.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";
import { testS3 } from "../../test/support/s3-store.ts";
import { askerOf } from "../../test/support/sample-part.ts";
import { TcpProxy } from "../../test/support/tcp-proxy.ts";
import { contentOf } from "../storage/s3-blobs/content.ts";
import { S3Bucket } from "../storage/s3-blobs/s3-bucket.ts";
import { BackupHistory } from "./backup-history.ts";
import { placeNamed } from "./place.ts";
import { chooseBackup, restoreBackup } from "./restore.ts";
import { S3Place } from "./s3-place.ts";
import { verifyBackup } from "./verify.ts";
import { VerifyFolder } from "./verify-folder.ts";

after(endLeftProcesses);

const store = await testS3();
const { location, credentials } = store.place();
const environment = {
  AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
};
const addressAt = (endpoint: string) =>
  `s3://${location.bucket}/${location.prefix.slice(0, -1)}?endpoint=${endpoint}`;
const backups = addressAt(store.endpoint);
const bucket = await S3Bucket.open(location, credentials);
const original = newPlace();

async function run({ settings, folder }: Place, words: readonly string[]) {
  return await runMillrace(words, { ...settings, ...environment }, folder).ended;
}

async function requireDone(place: Place, words: readonly string[]): Promise<string> {
  const { status, output, errors } = await run(place, words);
  assert.equal(status, 0, output + errors);
  return output;
}

async function objectsBelow(path: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(location.prefix + path))
    keys.push(key.slice(location.prefix.length));
  return keys;
}

/** The last backup restores to the state of the original. */
async function requireRestorable(state: Awaited<ReturnType<typeof stateOf>>): Promise<void> {
  const place = await openHere();
  const backup = await chooseBackup(place, {});
  using folder = VerifyFolder.make(temporaryFolder());
  const { findings } = await verifyBackup(backup, { folder: folder.path, report: () => undefined });
  assert.deepEqual(findings, []);
  const copy = newPlace();
  await restoreBackup(backup, copy.data, () => undefined);
  assert.deepEqual(await stateOf(copy), state);
  place.close();
}

let state: Awaited<ReturnType<typeof stateOf>>;

test("a backup in an S3 store is made, listed, verified, restored, and old ones are removed", async () => {
  await fill(original);
  state = await stateOf(original);
  const first = await requireDone(original, ["backup", backups]);
  assert.match(first, /^Made a new folder of backups in s3:/);
  assert.deepEqual(await objectsBelow("lock"), []);
  await requireDone(original, ["verify", backups]);
  const copy = newPlace();
  await requireDone(copy, ["restore", backups, "--to", copy.data]);
  assert.deepEqual(await stateOf(copy), state);
  const settings = { ...original.settings, MILLRACE_BACKUP_TO: backups };
  const second = await requireDone({ ...original, settings }, ["backup", "--keep", "1,0,0"]);
  assert.match(second, /^Removed 1 old backups/m);
  const added = Number(/of which ([\d ]+) were added/.exec(second)![1]!.replaceAll(" ", ""));
  assert.ok(added < 100_000, `${added}`);
  const { runs } = await BackupHistory.open(original.data, placeNamed(backups, "/"));
  assert.equal(runs.length, 1, "it counts as one of the schedule");
  const listed = await requireDone(original, ["backup", "--list", backups]);
  assert.equal(listed.trim().split("\n").length, 2, listed);
  await requireRestorable(state);
  assert.deepEqual(await objectsBelow("lock"), []);
});

let files = 0;

/** Adds a file to the server and starts a backup over a slow network; resolves when it has sent chunks. */
async function slowBackup(baseUrl: string, proxy: TcpProxy) {
  const ask = askerOf({ baseUrl, project: "default", key: adminKey });
  const { text } = await ask("POST /files/initupload", { fileName: `large ${files++}` }, "0.5");
  const { uploadURL } = JSON.parse(text).data;
  assert.equal((await fetch(uploadURL, { method: "PUT", body: randomBytes(12_000_000) })).status, 200);
  proxy.set("pass");
  proxy.delayMs = 40;
  const before = { pool: await objectsBelow("pool/"), manifests: await objectsBelow("backups/") };
  const words = ["backup", addressAt(proxy.endpoint), "--server", baseUrl];
  const command = run(original, words);
  const isCopying = async () => (await objectsBelow("pool/")).length > before.pool.length + 3;
  await untilWithin(isCopying, "the first chunks", 3);
  return { ask, words, command, manifests: before.manifests };
}

test("the store goes away in the middle: no backup is made, and the next one is whole", async () => {
  const proxy = await TcpProxy.start(store.endpoint);
  const server = await serveMillrace({ ...original.settings, ...environment }, original.folder);
  const { ask, words, command, manifests } = await slowBackup(server.baseUrl, proxy);
  proxy.set("refuse");
  const { status, errors } = await command;
  assert.equal(status, 1);
  assert.match(errors, /No backup was made: The S3 store of backups s3:.* is not available/);
  assert.deepEqual(await objectsBelow("backups/"), manifests);
  await ask("POST /assets", { items: [{ name: "meanwhile" }] });
  proxy.set("pass");
  proxy.delayMs = 0;
  await releaseLeftLock();
  await requireDone(original, words);
  server.child.kill("SIGTERM");
  assert.equal((await server.ended).status, 0);
  state = await stateOf(original);
  await requireRestorable(state);
});

test("the process that copies is killed: the server serves, and the next backup is whole", async () => {
  const proxy = await TcpProxy.start(store.endpoint);
  const server = await serveMillrace({ ...original.settings, ...environment }, original.folder);
  const { ask, words, command, manifests } = await slowBackup(server.baseUrl, proxy);
  const copying = childrenOf(server.child.pid!).find((pid) => commandOf(pid).includes("copy-process"));
  process.kill(copying!, "SIGKILL");
  const { status, errors } = await command;
  assert.equal(status, 1);
  assert.match(errors, /The process that copies ended by the signal SIGKILL/);
  assert.deepEqual(await objectsBelow("backups/"), manifests);
  await ask("POST /assets", { items: [{ name: "after the kill" }] });
  proxy.delayMs = 0;
  await releaseLeftLock();
  await requireDone(original, words);
  server.child.kill("SIGTERM");
  assert.equal((await server.ended).status, 0);
  state = await stateOf(original);
  await requireRestorable(state);
});

test("a damaged object is found, and nothing is restored from it", async () => {
  const pool = await objectsBelow("pool/");
  for (const key of pool) {
    const whole = await bucket.get(location.prefix + key);
    const bytes = Buffer.concat((await whole!.stream.toArray()) as Buffer[]);
    await bucket.put(location.prefix + key, contentOf(Buffer.concat([bytes, Buffer.of(1)])));
  }
  const verified = await run(original, ["verify", backups]);
  assert.equal(verified.status, 3, verified.output + verified.errors);
  assert.match(verified.output, /pool\/.* its checksum is wrong/);
  const target = newPlace();
  const restored = await run(target, ["restore", backups, "--to", target.data]);
  assert.equal(restored.status, 1);
  assert.match(restored.errors, /is damaged/);
});

test("an invalid address is refused, with the part that is wrong", async () => {
  const invalid = { MILLRACE_BACKUP_TO: "s3://Bucket_?endpoint=http://127.0.0.1:9" };
  const refused = await runMillrace(["serve"], { ...original.settings, ...invalid }, original.folder).ended;
  assert.match(refused.errors, /MILLRACE_BACKUP_TO needs a bucket of/);
  const { status, errors } = await run(original, ["verify", "s3://b?endpoint=x"]);
  assert.notEqual(status, 0);
  assert.match(errors, /The address of the backups needs /);
});

/** The next process would wait for the end of its term. */
async function releaseLeftLock(): Promise<void> {
  const place = await openHere();
  await (await place.lock("write"))[Symbol.asyncDispose]();
  place.close();
}

const openHere = () =>
  S3Place.open({ location, ...(credentials && { credentials }) }, backups, { termMs: 3_000 });

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
