// The settings of backups that a server makes by itself, and the times that these are due.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSettings } from "../config.ts";
import type { BackupRun } from "./backup-history.ts";
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
  };
  assert.deepEqual(settingsOf(all), {
    place: "/mnt/backups",
    schedule: { cron: "30 1 * * 1-5", timeZone: "Europe/Oslo" },
    keep: { days: 7, weeks: 4, months: 12 },
    passphraseFile: "/srv/passphrase",
  });
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
});

const schedule = parseSchedule("0 2 * * * Europe/Oslo")!;
/** In winter, 2:00 in Oslo is 1:00 UTC. */
const at = (text: string) => Date.parse(`2026-11-${text}:00Z`);
const ran = (start: string, outcome: "complete" | "failed"): BackupRun => {
  const times = { startedTime: at(start), endedTime: at(start) + 60_000 };
  if (outcome === "failed") return { ...times, outcome, problem: "the disk is away" };
  const counts = { bytes: 1, bytesStored: 1, missing: 0 };
  return { ...times, outcome, id: start, snapshotMs: at(start), ...counts };
};

test("a backup is due at the first time after the start of the last one", () => {
  const due = (runs: readonly BackupRun[], now: string) =>
    new Date(dueTime(schedule, runs, at(now))).toISOString().slice(8, 16);
  assert.equal(due([], "10T12:00"), "10T12:00", "none was made");
  assert.equal(due([ran("10T01:00", "complete")], "10T12:00"), "11T01:00");
  assert.equal(due([ran("10T00:59", "complete")], "10T12:00"), "10T01:00", "it is older than the time");
  assert.equal(due([ran("04T01:00", "complete")], "10T12:00"), "05T01:00", "the server was down");
  assert.equal(due([ran("10T09:00", "complete")], "10T12:00"), "11T01:00", "by hand, after the time");
  assert.equal(due([ran("10T01:00", "failed")], "10T01:02"), "10T02:01", "an hour after the failure");
  assert.equal(due([ran("30T01:00", "complete"), ran("10T01:00", "complete")], "10T12:00"), "11T01:00");
});

test("a backup is late when two times have passed since the snapshot", () => {
  assert.equal(isLate(schedule, at("10T01:00"), at("12T00:59")), false);
  assert.equal(isLate(schedule, at("10T01:00"), at("12T01:00")), true);
});
