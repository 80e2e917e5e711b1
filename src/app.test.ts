// Refused starts of a server: each reason has a remedy, and the data folder stays as it is.
import assert from "node:assert/strict";
import { appendFileSync, chmodSync, cpSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { temporaryFolder } from "../test/support/folder.ts";
import { freePort } from "../test/support/free-port.ts";
import { type App, openApp } from "./app.ts";
import { StartRefused } from "./data-folder.ts";
import { realSystem } from "./lib/system.ts";
import { limits } from "./limits.ts";

const good = temporaryFolder();
const at = (data: string, chosen: { port?: number; project?: string; adminKey?: string } = {}) => {
  const settings = {
    host: "127.0.0.1",
    port: 0,
    data,
    project: "demo",
    ...chosen,
    logLevel: "silent",
    trustedProxies: [],
    outboundNetworks: [],
    attemptsPerMinute: 1_000_000,
    consoleFolder: data,
  } as const;
  return openApp(settings, realSystem, pino({ level: "silent" }));
};

before(async () => {
  const app = await at(good);
  await app.listen();
  await app.close();
});

/** The response to the first request that finds the port open. */
async function firstResponse(url: string, headers: Record<string, string>): Promise<number> {
  for (;;) {
    try {
      return (await fetch(url, { headers })).status;
    } catch (problem) {
      const { code } = (problem as { cause: NodeJS.ErrnoException }).cause;
      if (code !== "ECONNREFUSED") throw problem;
      await setTimeout(1);
    }
  }
}

/** Delays each write to the catalog, as a slow disk does. */
function slowDown({ services: { catalog } }: App): void {
  const write = catalog.write.bind(catalog);
  Object.assign(catalog, {
    write: async (...work: Parameters<typeof write>) => {
      await setTimeout(100);
      return write(...work);
    },
  });
}

/** Holds each write to the catalog until `release`, as a database does that does not respond. */
function holdWrites({ services: { catalog } }: App) {
  const [first, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const write = catalog.write.bind(catalog);
  Object.assign(catalog, {
    write: async (...work: Parameters<typeof write>) => {
      first.resolve();
      await released.promise;
      return write(...work);
    },
  });
  return { isHeld: first.promise, release: released.resolve };
}

test("a close during the start completes it first", async () => {
  const app = await at(temporaryFolder());
  const { isHeld, release } = holdWrites(app);
  const starting = app.listen();
  await isHeld;
  const closing = app.close();
  release();
  await closing;
  assert.match((await starting).newKey!, /^mr_/);
});

test("a close waits a bounded time for a start that does not end", async (t) => {
  const app = await at(temporaryFolder());
  const { isHeld, release } = holdWrites(app);
  const starting = app.listen();
  await isHeld;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const closing = app.close();
  t.mock.timers.tick(limits.shutdownMsMax);
  t.mock.timers.reset();
  await closing;
  release();
  await assert.rejects(starting);
});

for (const [mode, data, project] of [
  ["the first start", temporaryFolder(), "demo"],
  ["a start that adds a project", good, "second"],
] as const)
  test(`${mode} serves no request before the project and its key exist`, async (t) => {
    const [port, adminKey] = [await freePort(), `key-of-the-operator-for-${project}`];
    const app = await at(data, { port, project, adminKey });
    t.after(() => app.close());
    slowDown(app);
    const listening = app.listen();
    const from = `http://127.0.0.1:${port}`;
    const headers = { "api-key": adminKey };
    const statuses = await Promise.all([
      firstResponse(`${from}/health`, {}).then(async (health) => {
        const after = await fetch(`${from}/api/0.5/projects/${project}`, { headers });
        return [health, after.status];
      }),
      firstResponse(`${from}/api/0.5/projects/${project}/assets`, headers),
      firstResponse(`${from}/odata/v1/projects/${project}`, headers),
    ]);
    assert.deepEqual(statuses, [[200, 200], 200, 200]);
    await listening;
  });

test("a start that is refused after the port is open blocks no request", async () => {
  const data = temporaryFolder();
  const [port, adminKey] = [await freePort(), "key-of-the-operator-for-a-refusal"];
  const first = await at(data, { adminKey });
  await first.listen();
  await first.close();
  const app = await at(data, { port, project: "other", adminKey });
  slowDown(app);
  const waiting = assert.rejects(firstResponse(`http://127.0.0.1:${port}/health`, {}));
  await assert.rejects(app.listen(), StartRefused);
  const closing = app.close();
  await waiting;
  await closing;
});

/** A copy of a good data folder, spoilt. */
async function refusalOf(spoil: (data: string) => void): Promise<string> {
  const data = temporaryFolder();
  cpSync(good, data, { recursive: true });
  spoil(data);
  const refusal = await at(data).then(
    () => assert.fail("it starts"),
    (problem: unknown) => problem,
  );
  assert.ok(refusal instanceof StartRefused, String(refusal));
  return refusal.message.replaceAll(data, "DATA");
}

const withoutSecret = `The file DATA/secret is missing or damaged, and the API keys are void without it.
Put it back from a backup; docs/operations.md says how to go on without one.`;

test("a data folder that has lost its secret is refused: another one would void every key", async () => {
  assert.equal(await refusalOf((data) => rmSync(join(data, "secret"))), withoutSecret);
});

test("a secret that could be guessed is refused", async () => {
  assert.equal(await refusalOf((data) => writeFileSync(join(data, "secret"), "")), withoutSecret);
  assert.equal(await refusalOf((data) => writeFileSync(join(data, "secret"), "c2hvcnQ")), withoutSecret);
});

test("a secret as docs/operations.md makes one is taken", async () => {
  const data = temporaryFolder();
  cpSync(good, data, { recursive: true });
  writeFileSync(join(data, "secret"), `${Buffer.alloc(32, 0xfb).toString("base64")}\n`);
  await (await at(data)).close();
});

const doctorHelps = "`millrace doctor` shows the damage; what it cannot repair comes back with a backup.";
const ofNewer =
  "A newer version of Millrace wrote it: start that version. To go back, restore a backup that this " +
  "version made (millrace restore).";
const ofOlder =
  "An older version of Millrace wrote it. Start that version, write each project into an archive " +
  "(millrace export), and load the archives into a new data folder (millrace import archive).";

const refusalOfStore = (content: string) =>
  refusalOf((data) => writeFileSync(join(data, "points/store.json"), content));

test("a datapoint store of a newer version is refused as such", async () => {
  const problem = "DATA/points/store.json has format 99; this version reads format 1";
  assert.equal(
    await refusalOfStore('{"format":"millrace-points","version":99,"store":1,"shards":2,"crc":1}'),
    `Cannot open the datapoint store: ${problem}.\n${ofNewer}`,
  );
});

test("a datapoint store of a development version is refused as such", async () => {
  const problem = "DATA/points/store.json was written by a development version before 0.1.0";
  assert.equal(
    await refusalOfStore('{"format":3,"store":1,"shards":2,"crc":1}'),
    `Cannot open the datapoint store: ${problem}.\n${ofOlder}`,
  );
});

test("a catalog of an older build is refused as such", async () => {
  const message = await refusalOf((data) => {
    const database = new DatabaseSync(join(data, "catalog.db"));
    database.exec("DROP TABLE manifest");
    database.close();
  });
  assert.equal(message, `Cannot open the catalog: it has no record of the data folder.\n${ofOlder}`);
});

test("a catalog of a newer version is refused as such", async () => {
  const message = await refusalOf((data) => {
    const database = new DatabaseSync(join(data, "catalog.db"));
    database.exec("UPDATE catalog_meta SET value = 99 WHERE id = 1");
    database.close();
  });
  const problem = "catalog.db has layout 99; this version reads 1";
  assert.equal(message, `Cannot open the catalog: ${problem}.\n${ofNewer}`);
});

test("a damaged catalog is refused", async () => {
  const message = await refusalOf((data) => {
    for (const suffix of ["-wal", "-shm"]) rmSync(join(data, `catalog.db${suffix}`), { force: true });
    writeFileSync(join(data, "catalog.db"), "this is not a catalog");
  });
  assert.equal(message, `Cannot open the catalog: file is not a database.\n${doctorHelps}`);
});

test("a data folder that is a file is refused", async () => {
  const file = join(temporaryFolder(), "file");
  appendFileSync(file, "");
  await assert.rejects(at(file), {
    message: `Cannot use the data folder ${file}: EEXIST: file already exists, mkdir '${file}'.
Let this user write there, or set MILLRACE_DATA to another folder.`,
  });
});

const mayWriteAnywhere = process.getuid?.() === 0 && "root may write everywhere";

test("a data folder without the right to write is refused", { skip: mayWriteAnywhere }, async () => {
  const data = temporaryFolder();
  chmodSync(data, 0o500);
  await assert.rejects(at(data), /^Error: Cannot use the data folder .*: EACCES: /);
});

test("a new data folder and its secret are for its owner alone", () => {
  assert.equal(statSync(good).mode & 0o777, 0o700);
  assert.equal(statSync(join(good, "secret")).mode & 0o777, 0o600);
});

test("a refused start lets go of the folder", async () => {
  const data = temporaryFolder();
  cpSync(good, data, { recursive: true });
  const store = join(data, "points/store.json");
  writeFileSync(store, "{}");
  await assert.rejects(at(data));
  cpSync(join(good, "points/store.json"), store);
  await (await at(data)).close();
});
