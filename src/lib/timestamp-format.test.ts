// Times of zones over changes of the clock, against offsets that the zones had.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromTimestamp, toTimestamp } from "./timestamp-format.ts";

const format = "yyyy-MM-dd HH:mm:ss";

/** A time on the clock of a zone, and the same time with its offset from UTC. */
const table: readonly (readonly [zone: string, clock: string, iso: string])[] = [
  ["Europe/Oslo", "2026-03-29 01:59:59", "2026-03-29T01:59:59+01:00"],
  ["Europe/Oslo", "2026-03-29 03:00:00", "2026-03-29T03:00:00+02:00"],
  ["Europe/Oslo", "2026-10-25 01:59:59", "2026-10-25T01:59:59+02:00"],
  ["Europe/Oslo", "2026-10-25 03:00:00", "2026-10-25T03:00:00+01:00"],
  ["Europe/London", "2026-03-29 00:59:59", "2026-03-29T00:59:59+00:00"],
  ["Europe/London", "2026-03-29 02:00:00", "2026-03-29T02:00:00+01:00"],
  ["America/New_York", "2026-03-08 01:59:59", "2026-03-08T01:59:59-05:00"],
  ["America/New_York", "2026-03-08 03:00:00", "2026-03-08T03:00:00-04:00"],
  ["America/New_York", "2026-11-01 00:59:59", "2026-11-01T00:59:59-04:00"],
  ["America/New_York", "2026-11-01 02:00:00", "2026-11-01T02:00:00-05:00"],
  ["Australia/Lord_Howe", "2026-04-05 02:00:00", "2026-04-05T02:00:00+10:30"],
  ["Australia/Lord_Howe", "2026-10-04 02:30:00", "2026-10-04T02:30:00+11:00"],
  ["Asia/Kolkata", "2026-03-29 02:30:00", "2026-03-29T02:30:00+05:30"],
  ["Asia/Kathmandu", "2026-03-29 02:30:00", "2026-03-29T02:30:00+05:45"],
  // The day that Samoa left out, and the winter in which Oslo kept its summer time.
  ["Pacific/Apia", "2011-12-29 23:59:59", "2011-12-29T23:59:59-10:00"],
  ["Pacific/Apia", "2011-12-31 00:00:00", "2011-12-31T00:00:00+14:00"],
  ["Europe/Oslo", "1941-01-15 12:00:00", "1941-01-15T12:00:00+02:00"],
  ["America/Sao_Paulo", "2018-11-03 23:59:59", "2018-11-03T23:59:59-03:00"],
  ["America/Sao_Paulo", "2018-11-04 01:00:00", "2018-11-04T01:00:00-02:00"],
  ["UTC", "2026-03-29 02:30:00", "2026-03-29T02:30:00Z"],
];

test("times beside a change of the clock are read and written with the offset of the zone", () => {
  for (const [zone, clock, iso] of table) {
    const expected = BigInt(Date.parse(iso));
    assert.equal(toTimestamp(clock, format, zone), expected, `${clock} ${zone}`);
    assert.equal(toTimestamp(clock, null, zone), expected, `${clock} ${zone} in ISO 8601`);
    assert.equal(fromTimestamp(Number(expected), format, zone), clock, `${iso} in ${zone}`);
    const offset = iso.endsWith("Z") ? "+00:00" : iso.slice(-6);
    assert.equal(fromTimestamp(Number(expected), "X".repeat(3), zone), offset, `${iso} in ${zone}`);
    assert.equal(toTimestamp(iso, null, "Asia/Tokyo"), expected, "an offset of the text counts");
  }
});

test("a time that the clock shows twice is the first one; one that it skips is later", () => {
  const cases: readonly (readonly [zone: string, clock: string, iso: string])[] = [
    ["Europe/Oslo", "2026-10-25 02:30:00", "2026-10-25T02:30:00+02:00"],
    ["America/New_York", "2026-11-01 01:30:00", "2026-11-01T01:30:00-04:00"],
    ["Australia/Lord_Howe", "2026-04-05 01:45:00", "2026-04-05T01:45:00+11:00"],
    ["Europe/Oslo", "2026-03-29 02:30:00", "2026-03-29T03:30:00+02:00"],
    ["America/New_York", "2026-03-08 02:00:00", "2026-03-08T03:00:00-04:00"],
    ["Australia/Lord_Howe", "2026-10-04 02:15:00", "2026-10-04T02:45:00+11:00"],
    ["America/Sao_Paulo", "2018-11-04 00:30:00", "2018-11-04T01:30:00-02:00"],
  ];
  for (const [zone, clock, iso] of cases)
    assert.equal(toTimestamp(clock, format, zone), BigInt(Date.parse(iso)), `${clock} ${zone}`);
});

test("every hour of a year is the same after both functions, or an hour earlier when it is repeated", () => {
  for (const zone of ["Europe/Oslo", "America/New_York", "Australia/Lord_Howe"]) {
    const before = new Map<string, number>();
    let repeated = 0;
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 1_800_000) {
      const clock = fromTimestamp(at, format, zone) as string;
      const first = before.get(clock);
      if (first !== undefined) repeated += 1;
      else before.set(clock, at);
      assert.equal(toTimestamp(clock, format, zone), BigInt(first ?? at), `${clock} ${zone}`);
    }
    assert.equal(repeated, zone === "Australia/Lord_Howe" ? 1 : 2, zone);
  }
});
