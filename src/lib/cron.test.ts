// Times of cron while the clocks change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextCronTime } from "./cron.ts";

const minuteMs = 60_000;

/** Expressions, and whether a local hour and minute match. */
const schedules: readonly [cron: string, matches: (hour: number, minute: number) => boolean][] = [
  ["*/15 * * * *", (_, minute) => minute % 15 === 0],
  ["0 * * * *", (_, minute) => minute === 0],
  ["50 0-23 * * *", (_, minute) => minute === 50],
  ["0 2 * * *", (hour, minute) => hour === 2 && minute === 0],
  ["30 1 * * *", (hour, minute) => hour === 1 && minute === 30],
  ["30 2 * * *", (hour, minute) => hour === 2 && minute === 30],
  ["*/20 1-3 * * *", (hour, minute) => hour >= 1 && hour <= 3 && minute % 20 === 0],
  ["0 */2 * * *", (hour, minute) => hour % 2 === 0 && minute === 0],
];
const runsEveryHour = new Set(["*/15 * * * *", "0 * * * *", "50 0-23 * * *"]);

/** The local times of all minutes of 30 hours, by the formatter of the platform. */
function minutesOf(from: string, timeZone: string) {
  const format = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" },
  });
  const numbers = (timeMs: number) => format.format(timeMs).match(/\d+/g)!.map(Number);
  return Array.from({ length: 30 * 60 }, (_, index) => {
    const timeMs = Date.parse(from) + index * minuteMs;
    const [day, month, year, hour, minute] = numbers(timeMs);
    return { timeMs, wallMs: Date.UTC(year!, month! - 1, day, hour, minute) };
  });
}

/** Goes over the minutes one by one, with the local time of each. */
function expectedTimes(minutes: ReturnType<typeof minutesOf>, [cron, matches]: (typeof schedules)[number]) {
  const isMatching = (wallMs: number) =>
    matches(new Date(wallMs).getUTCHours(), new Date(wallMs).getUTCMinutes());
  const times: number[] = [];
  let lastWallMs = minutes[0]!.wallMs - minuteMs;
  for (const { timeMs, wallMs } of minutes) {
    // Local times since the latest one: none in a repeated hour, several after a skipped one.
    let isDue = runsEveryHour.has(cron) && isMatching(wallMs);
    for (let wall = lastWallMs + minuteMs; wall <= wallMs && !runsEveryHour.has(cron); wall += minuteMs)
      isDue ||= isMatching(wall);
    if (isDue) times.push(timeMs);
    lastWallMs = Math.max(lastWallMs, wallMs);
  }
  return times;
}

for (const [from, timeZone] of [
  ["2026-10-31T20:00Z", "America/New_York"],
  ["2026-03-07T20:00Z", "America/New_York"],
  ["2026-10-24T16:00Z", "Europe/Oslo"],
  ["2026-03-28T16:00Z", "Europe/Oslo"],
  ["2026-04-04T06:00Z", "Australia/Lord_Howe"],
  ["2026-10-03T06:00Z", "Australia/Lord_Howe"],
  ["2026-06-01T00:00Z", "Asia/Kolkata"],
] as const)
  test(`every time of a schedule in ${timeZone} comes once, from ${from}`, () => {
    const minutes = minutesOf(from, timeZone);
    for (const schedule of schedules) {
      const expected = expectedTimes(minutes, schedule);
      const times = { cron: schedule[0], timeZone };
      for (const { timeMs: afterMs } of minutes.slice(0, 24 * 60)) {
        const next = nextCronTime(times, afterMs + 30_000);
        const wanted = expected.find((time) => time > afterMs + 30_000);
        if (wanted === undefined) continue; // It is after these hours.
        assert.equal(next, wanted, `${times.cron} after ${new Date(afterMs).toISOString()}`);
        assert.equal(nextCronTime(times, wanted - 1), wanted);
      }
    }
  });

test("after 1:10 in the second hour, a schedule of minutes is due at 1:15", () => {
  const times = { cron: "*/15 * * * *", timeZone: "America/New_York" };
  const next = nextCronTime(times, Date.parse("2026-11-01T06:10Z"))!;
  assert.equal(new Date(next).toISOString(), "2026-11-01T06:15:00.000Z");
});

test("a day that a zone left out runs at its end", () => {
  const times = { cron: "0 2 * * *", timeZone: "Pacific/Apia" };
  const next = nextCronTime(times, Date.parse("2011-12-29T12:00Z"))!;
  assert.equal(new Date(next).toISOString(), "2011-12-30T10:00:00.000Z");
});

test("the time of the change itself comes after an earlier time", () => {
  const times = { cron: "0 * 25 10 *", timeZone: "Europe/Oslo" };
  const next = nextCronTime(times, Date.parse("2026-10-25T00:00Z"))!;
  assert.equal(new Date(next).toISOString(), "2026-10-25T01:00:00.000Z");
  assert.equal(nextCronTime({ ...times, cron: "0 0 30 2 *" }, 0), undefined);
});
