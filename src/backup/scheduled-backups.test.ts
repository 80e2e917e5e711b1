// The backups that a server makes by itself: made by its schedule, once for the time it was down, verified,
// old ones removed, and the reaction to a failed or damaged backup.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until as untilWithin } from "../../test/support/connector.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { secretOf } from "../data-folder.ts";
import { secretFor } from "../installation.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { BackupHealth } from "./backup-health.ts";
import { type BackupRun, isComplete } from "./backup-history.ts";
import { backupsPath, backupToken } from "./backup-routes.ts";
import type { BackupsState } from "./backups.ts";

const dayMs = 24 * 3_600_000;
const isOutside = ["TEST_CATALOG", "TEST_POINTS", "TEST_BLOBS"].some((name) => process.env[name]);
const skip = isOutside && "this run has its data outside of the folder";

const place = join(temporaryFolder(), "backups");
/** A test sets the time: hours after a time of the schedule, and hours before the next. */
let nowMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
const system = { ...realSystem, nowMs: () => nowMs };
const plan = {
  place,
  schedule: { cron: "0 2 * * *", timeZone: "UTC" },
  keep: { days: 2, weeks: 0, months: 0 },
};

let server: TestServer;
before(async () => {
  if (!skip) server = await startTestServer({ system, backups: plan });
});
after(() => server?.close());

/** The processes get only processor time that nothing else needs, so a backup and its check may take long. */
const until = (isTrue: () => Promise<boolean> | boolean, what: string) => untilWithin(isTrue, what, 10);

const idsIn = () => readdirSync(join(place, "backups")).map((name) => name.replace(".manifest", ""));

/** The backups that the server remembers, the newest first. */
function runs(): readonly BackupRun[] {
  try {
    const text = readFileSync(join(server.dataFolder, "backup-history.json"), "utf8");
    return (JSON.parse(text) as { runs: BackupRun[] }).runs;
  } catch {
    return [];
  }
}

const lastComplete = () => runs().find(isComplete);

interface Health {
  readonly status: string;
  readonly store: string;
  readonly backups: BackupHealth;
}

async function health(): Promise<Health> {
  const response = await fetch(`${server.baseUrl}/health`);
  assert.equal(response.status, 200, "the server serves all requests");
  return (await response.json()) as Health;
}

async function requireMetrics(...lines: readonly string[]): Promise<void> {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  for (const line of lines) assert.ok(text.includes(`\nmillrace_backup_${line}\n`), `no ${line}`);
}

/** A new backup, verified. */
async function nextExamined(before: string | undefined) {
  await until(() => lastComplete()?.id !== before, "a backup");
  await until(() => lastComplete()?.check !== undefined, "its verification");
  return lastComplete()!;
}

async function backUpByHand({ baseUrl, dataFolder }: TestServer, to: string): Promise<void> {
  const token = backupToken(secretFor("backups", secretOf(dataFolder, realSystem)));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ place: to });
  const started = await fetch(baseUrl + backupsPath, { method: "POST", headers, body });
  assert.equal(started.status, 202, await started.text());
  const state = async () => (await fetch(baseUrl + backupsPath, { headers })).json() as Promise<BackupsState>;
  await until(async () => (await state()).running === undefined, "the end of the backup");
}

test("a server makes no backup before the first one, not even to backups of another server", {
  skip,
}, async () => {
  nowMs += 2 * dayMs;
  await delay(2 * limits.backupTickMs);
  assert.deepEqual(runs(), []);
  assert.throws(() => readdirSync(place), /ENOENT/);
  const { status, store, backups } = await health();
  assert.deepEqual([status, store, backups.status], ["degraded", "open", "waiting"]);
  assert.match(backups.problem!, /Make the first one: millrace backup$/);
  assert.deepEqual([backups.nextTime, backups.recent], [undefined, []]);
  await requireMetrics(
    ...['status{status="waiting"} 1', 'status{status="ok"} 0', "failures_total 0"],
    ...["last_success_timestamp_seconds Nan", "last_verified Nan", "next_timestamp_seconds Nan"],
  );
});

test("the first backup is made by hand, and verified by the server", { skip }, async () => {
  await backUpByHand(server, place);
  const { check, bytes } = await nextExamined(undefined);
  assert.ok(bytes > 0);
  assert.deepEqual(check, { endedTime: nowMs, findings: [], removal: { backups: 0, chunks: 0 } });
  const { status, backups } = await health();
  assert.equal(status, "ok");
  const { recent, ...state } = backups;
  const nextTime = nowMs + 14 * 3_600_000;
  assert.deepEqual(state, { status: "ok", lastTime: nowMs, ageSeconds: 0, nextTime, isRunning: false });
  assert.deepEqual([recent[0]?.bytes, recent[0]?.verification], [bytes, "ok"]);
  await requireMetrics(
    ...['status{status="ok"} 1', `last_success_timestamp_seconds ${nowMs / 1_000}`, "last_verified 1"],
    ...[`last_bytes ${bytes}`, `next_timestamp_seconds ${nextTime / 1_000}`, "last_duration_seconds 0"],
  );
});

test("a backup by hand to the folder of the settings is encrypted as they say", { skip }, async () => {
  const folder = temporaryFolder();
  const passphraseFile = join(folder, "passphrase");
  writeFileSync(passphraseFile, "a passphrase of the settings");
  const encrypted = { ...plan, place: join(folder, "backups"), passphraseFile };
  const other = await startTestServer({ backups: encrypted });
  await backUpByHand(other, encrypted.place);
  await other.close();
  assert.match(readFileSync(join(encrypted.place, "millrace-backups.json"), "utf8"), /"encryption":/);
});

test("at its time, a backup is made and verified, and old ones are removed", { skip }, async () => {
  const first = lastComplete()!.id;
  for (const day of [1, 2]) {
    const before = lastComplete()!.id;
    await server.ask("POST /assets", { items: [{ name: `asset of day ${day}` }] });
    nowMs += dayMs;
    const { startedTime, check } = await nextExamined(before);
    assert.equal(startedTime, nowMs);
    assert.ok(check && "findings" in check);
    assert.deepEqual(check.findings, []);
  }
  assert.equal(idsIn().length, 2);
  assert.ok(!idsIn().includes(first), "the first is older than two days");
});

test("times that passed while the server was down are one backup", { skip }, async () => {
  const before = lastComplete()!.id;
  const known = runs().length;
  await server.restart(() => {
    nowMs += 5 * dayMs;
  });
  assert.equal((await health()).backups.recent.length >= known, true, "it remembers them");
  await nextExamined(before);
  assert.equal(runs().length, known + 1);
});

/** The processes of this one that verify backups. */
function verifying(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  const isVerifying = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("examine-process");
    } catch {
      return false; // It has ended.
    }
  };
  return children.split(" ").filter(Boolean).filter(isVerifying).map(Number);
}

/** A disk that does not respond for the chunk of the secret, which a verification reads once. */
function hangingChunk() {
  const name = createHash("sha256")
    .update(readFileSync(join(server.dataFolder, "secret")))
    .digest("hex");
  const path = join(place, "pool", name.slice(0, 2), name);
  const bytes = readFileSync(path);
  rmSync(path);
  execFileSync("mkfifo", [path]);
  return {
    /** Resolves when it is read, with a file for the bytes. */
    async reader(): Promise<number> {
      let file: number | undefined;
      await until(() => {
        try {
          file = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
          return true;
        } catch {
          return false; // It is not read yet.
        }
      }, "a verification");
      return file!;
    },
    bytes,
    mend() {
      rmSync(path, { force: true });
      writeFileSync(path, bytes);
    },
  };
}

test("signals to all processes end no verification; a stop does, and the next start makes it", {
  skip,
}, async (t) => {
  const chunk = hangingChunk();
  t.after(() => chunk.mend());
  const first = lastComplete()!.id;
  nowMs += dayMs;
  const reader = await chunk.reader();
  const [pid] = verifying();
  for (const signal of ["SIGTERM", "SIGINT"]) process.kill(pid!, signal);
  writeSync(reader, chunk.bytes);
  closeSync(reader);
  const survived = await nextExamined(first);
  assert.ok(survived.check && "findings" in survived.check, JSON.stringify(survived.check));

  nowMs += dayMs;
  const known = runs().length;
  const left = await chunk.reader();
  await server.restart(() => {
    closeSync(left);
    assert.deepEqual(verifying(), []);
    assert.equal(lastComplete()!.check, undefined);
    chunk.mend();
  });
  const { check } = await nextExamined(survived.id);
  assert.ok(check && "findings" in check, JSON.stringify(check));
  assert.deepEqual(check.findings, []);
  assert.equal(runs().length, Math.min(known + 1, limits.backupRunsKept));
});

test("a failed backup is tried again later", { skip }, async () => {
  const before = lastComplete()!.id;
  renameSync(place, `${place}-away`);
  nowMs += dayMs;
  await until(() => runs()[0]?.outcome === "failed", "a failed backup");
  const [failed] = runs();
  assert.match(failed?.outcome === "failed" ? failed.problem : "", /is not a folder of backups/);
  const { backups } = await health();
  assert.deepEqual([backups.status, backups.nextTime], ["failed", nowMs + limits.backupRetryMs]);
  assert.ok(!JSON.stringify(backups).includes(place), "everybody may read it");
  renameSync(`${place}-away`, place);
  nowMs += limits.backupRetryMs;
  await nextExamined(before);
});

test("a backup with damaged chunks is reported, and no old one is removed", { skip }, async () => {
  const before = idsIn();
  const pool = join(place, "pool");
  for (const path of readdirSync(pool, { recursive: true, encoding: "utf8" }).filter(isChunk))
    writeFileSync(join(pool, path), Buffer.concat([readFileSync(join(pool, path)), Buffer.of(1)]));
  nowMs += dayMs;
  const { id, check } = await nextExamined(before.at(-1));
  assert.ok(check && "findings" in check);
  assert.match(check.findings[0]!, /: pool\/.* its checksum is wrong$/);
  assert.equal(check.removal, undefined);
  const { status, backups } = await health();
  assert.deepEqual([status, backups.status], ["degraded", "damaged"]);
  assert.ok(backups.problem!.startsWith(`The backup ${id} is damaged. `));
  await requireMetrics('status{status="damaged"} 1', "last_verified 0");
  assert.deepEqual(idsIn().sort(), [...before, id].sort());
});

const isChunk = (path: string): boolean => /^..\/[0-9a-f]{64}$/.test(path);
