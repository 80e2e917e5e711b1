// The settings of backups that a server makes by itself, the times that these are due, and their state.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSettings } from "../config.ts";
import { backupHealth } from "./backup-health.ts";
import type { BackupCheck, BackupRun } from "./backup-history.ts";
import { dueTime, isLate, parseSchedule } from "./backup-plan.ts";

const settingsOf = (given: Readonly<Record<string, string>>) => readSettings(given, "/srv").backups;

test("the settings of backups", () => {
  assert.equal(settingsOf({}), undefined);
  assert.deepEqual(settingsOf({ MILLRACE_BACKUP_TO: "backups" }), {
    place: "/srv/backups",
    schedule: { cron: "0 2 * * *", timeZone: "UTC" },
  });
  const all = {
    MILLRACE_BACKUP_TO: "/mnt/backups",
    MILLRACE_BACKUP_SCHEDULE: "30 1 * * 1-5 Europe/Oslo",
    MILLRACE_BACKUP_KEEP: "7,4,12",
    MILLRACE_BACKUP_PASSPHRASE_FILE: "passphrase",
    MILLRACE_BACKUP_JOURNAL: "60",
  };
  assert.deepEqual(settingsOf(all), {
    place: "/mnt/backups",
    schedule: { cron: "30 1 * * 1-5", timeZone: "Europe/Oslo" },
    keep: { days: 7, weeks: 4, months: 12 },
    passphraseFile: "/srv/passphrase",
    journalSeconds: 60,
  });
  const s3 = settingsOf({ MILLRACE_BACKUP_TO: "s3://plant/millrace/?endpoint=http://s3:9000" });
  assert.equal(s3?.place, "s3://plant/millrace?endpoint=http%3A%2F%2Fs3%3A9000");
});

for (const schedule of ["0 2 * * *", "0 2 * * * Mars/North", "0 25 * * * UTC", "0 0 30 2 * UTC", "daily"])
  test(`the schedule "${schedule}" is refused`, () => {
    const given = { MILLRACE_BACKUP_TO: "b", MILLRACE_BACKUP_SCHEDULE: schedule };
    assert.throws(() => settingsOf(given), /^Error: MILLRACE_BACKUP_SCHEDULE must be minute, .* but is "/);
  });

test("settings without a folder, and wrong numbers, are refused", () => {
  const message = "MILLRACE_BACKUP_KEEP is set, but MILLRACE_BACKUP_TO is not";
  assert.throws(() => settingsOf({ MILLRACE_BACKUP_KEEP: "7,4,12" }), { message });
  assert.throws(
    () => settingsOf({ MILLRACE_BACKUP_TO: "b", MILLRACE_BACKUP_KEEP: "0,0,0" }),
    /three numbers/,
  );
  const journal = { MILLRACE_BACKUP_TO: "b", MILLRACE_BACKUP_JOURNAL: "0" };
  assert.throws(() => settingsOf(journal), /off or a number of seconds from 1 to 86400, but is "0"/);
});

const schedule = parseSchedule("0 2 * * * Europe/Oslo")!;
/** In winter, 2:00 in Oslo is 1:00 UTC. */
const at = (text: string) => Date.parse(`2026-11-${text}:00Z`);
const ran = (start: string, outcome: "complete" | "failed", more: MoreOfRun = {}): BackupRun => {
  const times = { startedTime: at(start), endedTime: at(start) + 60_000 };
  if (outcome === "failed") return { ...times, outcome, problem: "the disk is away" };
  const counts = { bytes: 1, bytesStored: 1, missing: 0 };
  return { ...times, outcome, id: start, snapshotMs: at(start), ...counts, ...more };
};

interface MoreOfRun {
  readonly missing?: number;
  readonly check?: BackupCheck;
}

test("a backup is due at the first time after the start of the last one", () => {
  const due = (runs: readonly BackupRun[], now: string) =>
    new Date(dueTime(schedule, runs, at(now))!).toISOString().slice(8, 16);
  assert.equal(dueTime(schedule, [], at("10T12:00")), undefined, "the first one is made by hand");
  assert.equal(due([ran("10T01:00", "complete")], "10T12:00"), "11T01:00");
  assert.equal(due([ran("10T00:59", "complete")], "10T12:00"), "10T01:00", "it is older than the time");
  assert.equal(due([ran("04T01:00", "complete")], "10T12:00"), "05T01:00", "the server was down");
  assert.equal(due([ran("10T09:00", "complete")], "10T12:00"), "11T01:00", "by hand, after the time");
  const failed = [ran("10T01:00", "failed"), ran("09T01:00", "complete")];
  assert.equal(due(failed, "10T01:02"), "10T02:01", "an hour after the failure");
  assert.equal(due([ran("30T01:00", "complete"), ran("10T01:00", "complete")], "10T12:00"), "11T01:00");
});

test("a backup is late when two times have passed since the snapshot", () => {
  assert.equal(isLate(schedule, at("10T01:00"), at("12T00:59")), false);
  assert.equal(isLate(schedule, at("10T01:00"), at("12T01:00")), true);
});

const good: BackupCheck = { endedTime: at("10T02:00"), findings: [] };
const complete = (start: string, check?: BackupCheck, missing = 0) =>
  ran(start, "complete", { missing, ...(check && { check }) });

for (const [status, problem, now, ...runs] of [
  ["waiting", /Make the first one/, "10T12:00"],
  ["ok", undefined, "10T01:01", complete("10T01:00")],
  ["ok", undefined, "10T12:00", complete("10T01:00", good)],
  [
    "unpruned",
    /could not be removed/,
    "10T12:00",
    complete("10T01:00", { ...good, removal: { problem: "it is locked" } }),
  ],
  [
    "unverified",
    /10T01:00 could not be verified/,
    "10T12:00",
    complete("10T01:00", { endedTime: 0, problem: "no space" }),
  ],
  ["incomplete", /lacks 3 files/, "10T12:00", complete("10T01:00", good, 3)],
  ["failed", /The last backup failed/, "11T01:05", ran("11T01:00", "failed"), complete("10T01:00", good)],
  ["late", /of 2026-11-10T01:00:00.000Z$/, "12T01:00", complete("10T01:00", good)],
  ["late", /10T.*The last backup failed/, "12T01:05", ran("12T01:00", "failed"), complete("10T01:00", good)],
  ["damaged", /10T01:00 is damaged/, "12T01:00", complete("10T01:00", { ...good, findings: ["pool/a"] })],
  [
    "damaged",
    /09T01:00/,
    "10T01:01",
    complete("10T01:00"),
    complete("09T01:00", { ...good, findings: ["pool/a"] }),
  ],
  [
    "damaged",
    /09T01:00/,
    "10T01:01",
    complete("10T01:00", { endedTime: 0, problem: "no space" }),
    complete("09T01:00", { ...good, findings: ["pool/a"] }),
  ],
  [
    "ok",
    undefined,
    "10T12:00",
    complete("10T01:00", good),
    complete("09T01:00", { ...good, findings: ["pool/a"] }),
  ],
] as const)
  test(`at ${now}, after ${runs.length} backups, their state is ${status}`, () => {
    const plan = { place: "/backups", schedule };
    const health = backupHealth({ plan, runs, nowMs: at(now), isRunning: false });
    assert.equal(health.status, status);
    if (problem) assert.match(health.problem!, problem);
    else assert.equal(health.problem, undefined);
  });

test("increments that are not made are a problem, except while a backup is made", () => {
  const plan = { place: "/backups", schedule, journalSeconds: 60 };
  const runs = [complete("10T01:00", good)];
  const stateAt = (now: string, reachMs: number | undefined, isRunning = false) =>
    backupHealth({ plan, runs, nowMs: at(now), isRunning, reachMs });
  const inOrder = stateAt("10T12:00", at("10T11:56"));
  assert.deepEqual([inOrder.status, inOrder.reachTime], ["ok", at("10T11:56")]);
  const behind = stateAt("10T12:00", at("10T11:55"));
  assert.equal(behind.status, "behind");
  assert.match(behind.problem!, /^A restore reaches 2026-11-10T11:55:00.000Z at the latest/);
  assert.equal(stateAt("10T12:00", undefined).reachTime, at("10T01:00"), "after a restart");
  assert.equal(stateAt("10T12:00", undefined).status, "behind");
  assert.equal(stateAt("10T12:00", at("10T01:00"), true).status, "ok");
});
