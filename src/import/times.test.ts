// Times in the formats of data files become the right milliseconds, and nothing else is parsed as a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { detectTimeFormat, Epochs, parseEpochBy, parseIso, timeReader } from "./times.ts";

test("ISO 8601 in its common spellings, UTC without a zone", () => {
  const noon = Date.UTC(2013, 11, 2, 12, 0, 0);
  const spellings = [
    "2013-12-02T12:00:00Z",
    "2013-12-02 12:00:00",
    "2013-12-02 12:00",
    "2013-12-02T12:00:00.000000Z",
    "2013-12-02T13:00:00+01:00",
    "2013-12-02T13:00:00 +0100",
    "2013-12-02T06:30:00-05:30",
    "2013-12-02T12:00:00,0",
  ];
  for (const one of spellings) assert.equal(parseIso(one), noon, one);
  assert.equal(parseIso("2013-12-02"), Date.UTC(2013, 11, 2));
  assert.equal(parseIso("2013-12-02T12:00:00.1239"), noon + 123);
  assert.equal(parseIso("1901-01-01"), Date.UTC(1901, 0, 1));
});

test("what is not a date or a time of day is refused", () => {
  const wrong = [
    "",
    "now",
    "2013-02-29",
    "2013-13-01",
    "2013-12-02T24:00",
    "2013-12-02T12:60",
    "02.12.2013",
    "12",
  ];
  for (const one of wrong) assert.equal(parseIso(one), undefined, one);
});

test("every millisecond survives its own ISO spelling", () => {
  const times = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2099, 11, 31) });
  fc.assert(fc.property(times, (ms) => parseIso(new Date(ms).toISOString()) === ms));
});

test("numbers count in their unit from their epoch", () => {
  assert.equal(timeReader("s")("1541210091.98", 0), 1541210091980);
  assert.equal(timeReader("ms")("-5", 0), -5);
  assert.equal(timeReader("min")("10", Date.UTC(2026, 0, 2)), Date.UTC(2026, 0, 2, 0, 10));
  assert.equal(timeReader("ns")("1541210091980000000", 0), 1541210091980);
  for (const wrong of ["", "x", "1e400", "0x10", "1 2", "NaN"])
    assert.equal(timeReader("s")(wrong, 0), undefined);
});

test("a date without an offset is on the clock of the zone", () => {
  const pattern = { pattern: "dd.MM.yyyy HH:mm" };
  assert.equal(timeReader(pattern)("31.12.2025 10:00", 0), Date.UTC(2025, 11, 31, 10));
  assert.equal(timeReader(pattern, "Europe/Oslo")("31.12.2025 10:00", 0), Date.UTC(2025, 11, 31, 9));
  assert.equal(timeReader(pattern, "Europe/Oslo")("01.07.2025 10:00", 0), Date.UTC(2025, 6, 1, 8));
  for (const wrong of ["", "31.02.2025 10:00", "31.12.2025", "2025-12-31 10:00"])
    assert.equal(timeReader(pattern)(wrong, 0), undefined, wrong);
  const iso = timeReader("iso", "Europe/Oslo");
  assert.equal(iso("2025-12-31 10:00", 0), Date.UTC(2025, 11, 31, 9));
  assert.equal(iso("2025-12-31 10:00Z", 0), Date.UTC(2025, 11, 31, 10));
  assert.equal(iso("2025-12-31", 0), Date.UTC(2025, 11, 30, 23));
});

test("the format is read off the first cell", () => {
  assert.equal(detectTimeFormat("2013-07-04 00:00:00"), "iso");
  assert.equal(detectTimeFormat("1541210091"), "s");
  assert.equal(detectTimeFormat("1541210091980"), "ms");
  assert.equal(detectTimeFormat("IDV1"), undefined);
});

test("each value of a column has its own epoch, in order of appearance and across a continuation", () => {
  const by = parseEpochBy("scenario=2026-01-01+1d");
  assert.deepEqual(by, { column: "scenario", startMs: Date.UTC(2026, 0, 1), stepMs: 86_400_000 });
  if (!by) return;
  const epochs = new Epochs(by, []);
  assert.deepEqual(
    ["IDV1", "IDV2", "IDV1"].map((one) => epochs.epochOf(one)),
    [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 1)],
  );
  const later = new Epochs(by, epochs.values);
  assert.equal(later.epochOf("IDV3"), Date.UTC(2026, 0, 3));
  for (const wrong of ["scenario", "scenario=2026-01-01", "scenario=soon+1d", "a=2026-01-01+0d"])
    assert.equal(parseEpochBy(wrong), undefined, wrong);
});
