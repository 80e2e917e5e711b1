// The offsets that browsers without Temporal compute are those that Temporal has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clockFormat, quarterHourAt, ZoneClock } from "./zone-clock.ts";

const zones = [
  "Europe/Oslo",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Africa/Casablanca",
];

test("offsets are equal with and without Temporal, also around changes of the clock", () => {
  for (const zone of zones) {
    const clock = new ZoneClock(zone);
    const format = clockFormat(zone);
    for (let timeMs = Date.UTC(2025, 0, 1); timeMs < Date.UTC(2027, 0, 1); timeMs += 40 * 60_000) {
      const { fromMs, untilMs, offsetMs } = quarterHourAt(timeMs, format);
      assert.ok(fromMs <= timeMs && timeMs < untilMs);
      if (clock.offsetMs(timeMs) !== offsetMs) assert.fail(`${zone} at ${new Date(timeMs).toISOString()}`);
    }
  }
});
