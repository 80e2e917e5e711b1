// Times formatted into bytes equal those formatted one by one.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BufferWriter } from "./buffer-writer.ts";
import { timeBytesMax, timeText, writeTime } from "./time-text.ts";

function written(ms: number): string {
  const sheet = new BufferWriter();
  sheet.ensure(timeBytesMax);
  return sheet.bytes.toString("latin1", 0, writeTime(sheet, 0, ms));
}

test("a time is ISO text in UTC, without a fraction that is zero, within the years 1 to 9999", () => {
  assert.equal(timeText(Date.UTC(2024, 1, 29, 7, 8, 9)), "2024-02-29T07:08:09Z");
  assert.equal(timeText(-1), "1969-12-31T23:59:59.999Z");
  assert.equal(timeText(8.64e15), "9999-12-31T23:59:59.999Z");
  assert.equal(timeText(-8.64e15), "0001-01-01T00:00:00Z");
});

test("formatted times, also written into bytes, equal those of Date", () => {
  const anyTime = fc.oneof(
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    fc.integer({ min: -1e12, max: 3e12 }),
    fc.integer({ min: -4000, max: 4000 }),
    fc.integer({ min: -4000, max: 4000 }).map((seconds) => seconds * 1000),
  );
  fc.assert(
    fc.property(anyTime, (ms) => assert.equal(written(ms), timeText(ms))),
    { numRuns: 2000 },
  );
});
