// Times (docs/reference/common.md#times), granularities and buckets (docs/aggregates.md#buckets).
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseGranularity, parseTimePoint, timePointMs, wholeBuckets } from "./time.ts";

const nowMs = Date.UTC(2026, 0, 15, 12, 30);
const hour = 3_600_000;

const daysMax = 100_000;

test("a time is milliseconds, now, or a duration ago", () => {
  const meanings: [string | number, number][] = [
    [1541210091980, 1541210091980],
    ["1541210091980", 1541210091980],
    ["1541210091980.0", 1541210091980],
    [-5, -5],
    ["-5", -5],
    ["1e3", 1000],
    ["now", nowMs],
    ["NOW", nowMs],
    ["2h-ago", nowMs - 2 * hour],
    ["1d-ago", nowMs - 24 * hour],
    ["1w-ago", nowMs - 7 * 24 * hour],
    ["3m-ago", nowMs - 180_000],
    ["0s-ago", nowMs],
  ];
  for (const [sent, expected] of meanings) {
    const found = parseTimePoint(sent);
    assert.ok(found, `${sent} is a time`);
    assert.equal(timePointMs(found, nowMs), expected, `${sent}`);
  }
});

test("nothing else is a time", () => {
  const others = ["", " ", "yesterday", "2h", "h-ago", "1.5h-ago", "2y-ago", "-2h-ago", "1.5", 1.5, 1e17];
  for (const sent of [...others, Number.NaN, "0x10", "1,5", "99999999999999w-ago", "2h-ago "])
    assert.equal(parseTimePoint(sent), undefined, `${sent} is no time`);
});

test("a granularity is a unit, perhaps after a multiple", () => {
  const meanings: [string, number][] = [
    ["d", 24 * hour],
    ["day", 24 * hour],
    ["h", hour],
    ["hour", hour],
    ["m", 60_000],
    ["minute", 60_000],
    ["s", 1000],
    ["second", 1000],
    ["1hour", hour],
    ["2h", 2 * hour],
    ["20d", 480 * hour],
    ["13day", 312 * hour],
    ["7minute", 420_000],
    ["12H", 12 * hour],
  ];
  for (const [sent, bucketMs] of meanings)
    assert.equal(parseGranularity(sent, daysMax)?.bucketMs, bucketMs, sent);
});

test("nothing else is a granularity", () => {
  for (const sent of [
    "30",
    "dd",
    "d30",
    "d2",
    "1",
    "0",
    "0d",
    "1.2d",
    "",
    " d",
    "-1h",
    "1w",
    "hours",
    "100001d",
  ])
    assert.equal(parseGranularity(sent, daysMax), undefined, `${sent} is no granularity`);
});

test("buckets start at the unit, not at its multiple", () => {
  const startMs = Date.UTC(2026, 0, 15, 3, 43, 25);
  const endMs = startMs + hour;
  const minutes = wholeBuckets({ startMs, endMs }, parseGranularity("60m", daysMax)!);
  assert.equal(minutes.startMs, Date.UTC(2026, 0, 15, 3, 43));
  assert.equal(minutes.endMs, Date.UTC(2026, 0, 15, 5, 43));
  const hours = wholeBuckets({ startMs, endMs }, parseGranularity("1h", daysMax)!);
  assert.equal(hours.startMs, Date.UTC(2026, 0, 15, 3));
  assert.equal(hours.endMs, Date.UTC(2026, 0, 15, 5));
  const startOfDay = 1514592000000;
  const days = wholeBuckets(
    { startMs: startOfDay, endMs: startOfDay + 1 },
    parseGranularity("60d", daysMax)!,
  );
  assert.deepEqual(days, { startMs: startOfDay, endMs: startOfDay + 60 * 24 * hour });
});

test("buckets are whole, cover the range, and begin less than a unit before it", () => {
  const times = fc.integer({ min: -4e12, max: 4e12 });
  const granularities = fc.tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom("d", "h", "m", "s"));
  fc.assert(
    fc.property(times, times, granularities, (a, b, [count, unit]) => {
      const span = { startMs: Math.min(a, b), endMs: Math.max(a, b) };
      const granularity = parseGranularity(`${count}${unit}`, daysMax)!;
      const whole = wholeBuckets(span, granularity);
      assert.equal((whole.endMs - whole.startMs) % granularity.bucketMs, 0);
      assert.equal(Math.abs(whole.startMs % granularity.unitMs), 0);
      assert.ok(span.startMs - whole.startMs >= 0 && span.startMs - whole.startMs < granularity.unitMs);
      if (span.startMs === span.endMs) assert.equal(whole.endMs, whole.startMs);
      else assert.ok(whole.endMs >= span.endMs && whole.endMs - granularity.bucketMs < span.endMs);
    }),
  );
});
