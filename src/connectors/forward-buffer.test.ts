// The buffer keeps records in order until the server has them, and counts each record that it drops.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { temporaryFolder } from "../../test/support/folder.ts";
import { type Entry, ForwardBuffer } from "./forward-buffer.ts";
import { decodeNumbers, decodeStrings } from "./point-columns.ts";
import type { SeriesDescription, SourcePoint } from "./records.ts";

const wide = { bytesMax: 2 ** 30, ageMsMax: 86_400_000 };
const number: SeriesDescription = { name: "n" };
const point = (timestamp: number, value: number | string = 1, series = number): SourcePoint => ({
  ...{ series, timestamp, value },
});
const timesIn = (entries: readonly Entry[]) =>
  entries.flatMap(({ kind, body }) =>
    kind === "strings" ? decodeStrings(body).map(([, time]) => time) : [...decodeNumbers(body).times],
  );

/** A wall clock that can be stepped, and a steady one. */
class TestClock {
  #wallMs = 1_000;
  #steadyMs = 0;
  nowMs = () => this.#wallMs;
  monotonicMs = () => this.#steadyMs;
  pass(ms: number): void {
    this.#wallMs += ms;
    this.#steadyMs += ms;
  }
  step(ms: number): void {
    this.#wallMs += ms;
  }
  /** The steady clock of another process begins again. */
  restart(): void {
    this.#steadyMs = 0;
  }
}

test("records, marks and counts are there after the buffer is opened again", () => {
  const folder = temporaryFolder();
  const before = new ForwardBuffer(folder, wide);
  const text = { name: "s", isString: true, unit: "-" };
  before.put({
    points: [point(1, 2.5), point(2, "on", text), point(3, -0)],
    events: [{ sourceId: "e", type: "t", startTime: 5 }],
    rows: [{ database: "d", table: "t", key: "k", columns: { a: null } }],
    marks: { position: "17" },
  });
  before.refuse(2);
  before.close();
  const after = new ForwardBuffer(folder, wide);
  assert.equal(after.instance, before.instance);
  assert.equal(after.mark("position"), "17");
  assert.equal(after.mark("none"), undefined);
  assert.deepEqual(after.counts, { received: 7, written: 0, refused: 2, dropped: 0 });
  assert.equal(after.state.items, 5);
  const kinds: string[] = [];
  for (let entries = after.oldest(10); entries.length > 0; entries = after.oldest(10)) {
    kinds.push(entries[0]!.kind);
    if (entries[0]!.kind === "numbers") {
      const { series, times, values } = decodeNumbers(entries[0]!.body);
      assert.deepEqual(
        [[...times], [...values]],
        [
          [1, 3],
          [2.5, -0],
        ],
      );
      assert.deepEqual(after.seriesOf(series[0]!), number);
    }
    if (entries[0]!.kind === "strings") {
      const [[series, ...rest]] = decodeStrings(entries[0]!.body) as [[number, number, string]];
      assert.deepEqual([after.seriesOf(series), rest], [text, [2, "on"]]);
    }
    after.remove(entries, 0);
  }
  assert.deepEqual(kinds, ["numbers", "strings", "events", "rows"]);
  assert.deepEqual(after.counts, { received: 7, written: 5, refused: 2, dropped: 0 });
  assert.deepEqual([after.state.items, after.state.bytes], [0, 0]);
  after.close();
});

test("a second connector cannot open the folder", () => {
  const folder = temporaryFolder();
  const first = new ForwardBuffer(folder, wide);
  first.put({ points: [point(1)] });
  assert.throws(() => new ForwardBuffer(folder, wide), /Another connector uses the buffer/);
  first.close();
  new ForwardBuffer(folder, wide).close();
});

test("a full buffer drops the oldest entries, and an old entry is dropped; both are noted once", () => {
  const clock = new TestClock();
  const buffer = new ForwardBuffer(temporaryFolder(), { bytesMax: 100, ageMsMax: 500 }, clock);
  for (const time of [1, 2, 3, 4, 5, 6, 7]) buffer.put({ points: [point(time)] });
  assert.deepEqual(timesIn(buffer.oldest(10)), [3, 4, 5, 6, 7]);
  const [full] = buffer.finalDrops();
  assert.deepEqual([full!.why, full!.items, full!.fromMs, full!.toMs], ["full", 2, 1, 2]);
  clock.pass(501);
  assert.deepEqual(buffer.oldest(10), []);
  buffer.removeDrops([full!]);
  const [age, ...none] = buffer.finalDrops();
  assert.deepEqual([age!.why, age!.items, age!.fromMs, age!.toMs, none], ["age", 5, 3, 7, []]);
  assert.deepEqual(buffer.counts, { received: 7, written: 0, refused: 0, dropped: 7 });
  buffer.close();
});

test("without a bound of age no entry is too old", () => {
  const clock = new TestClock();
  const bounds = { bytesMax: 100, ageMsMax: Number.POSITIVE_INFINITY };
  const buffer = new ForwardBuffer(temporaryFolder(), bounds, clock);
  buffer.put({ points: [point(1)] });
  clock.pass(1e12);
  assert.deepEqual(timesIn(buffer.oldest(10)), [1]);
  assert.equal(buffer.counts.dropped, 0);
  buffer.close();
});

test("a step of the wall clock makes no entry old; time between two processes does", () => {
  const folder = temporaryFolder();
  const clock = new TestClock();
  const bounds = { bytesMax: 1e6, ageMsMax: 500 };
  let buffer = new ForwardBuffer(folder, bounds, clock);
  buffer.put({ points: [point(1)] });
  clock.step(1_700_000_000_000);
  assert.deepEqual(timesIn(buffer.oldest(10)), [1]);
  assert.equal(buffer.state.oldestMs, clock.nowMs());
  buffer.put({ points: [point(2)] });
  clock.step(-1_000_000);
  assert.deepEqual(timesIn(buffer.oldest(10)), [1, 2]);
  buffer.close();
  clock.restart();
  buffer = new ForwardBuffer(folder, bounds, clock);
  assert.deepEqual(timesIn(buffer.oldest(10)), [1, 2], "after a restart with an earlier clock");
  clock.pass(400);
  buffer.put({ points: [point(3)] });
  buffer.close();
  clock.pass(200);
  clock.restart();
  buffer = new ForwardBuffer(folder, bounds, clock);
  assert.deepEqual(timesIn(buffer.oldest(10)), [3]);
  assert.equal(buffer.state.oldestMs, clock.nowMs() - 200);
  buffer.close();
});

test("entries that are being sent are not dropped", () => {
  const clock = new TestClock();
  const buffer = new ForwardBuffer(temporaryFolder(), { bytesMax: 100, ageMsMax: 500 }, clock);
  for (const time of [1, 2, 3]) buffer.put({ points: [point(time)] });
  const sent = buffer.take(2);
  for (const time of [4, 5, 6, 7]) buffer.put({ points: [point(time)] });
  assert.deepEqual(timesIn(buffer.oldest(10)), [1, 2, 5, 6, 7]);
  buffer.remove(sent, 0);
  assert.deepEqual(buffer.counts, { received: 7, written: 2, refused: 0, dropped: 2 });
  assert.deepEqual(timesIn(buffer.take(1)), [5]);
  buffer.putBack();
  for (const time of [8, 9, 10]) buffer.put({ points: [point(time)] });
  assert.deepEqual(timesIn(buffer.oldest(10)), [6, 7, 8, 9, 10]);
  buffer.close();
});

test("drops while the server is told of earlier ones become a note of their own", () => {
  const buffer = new ForwardBuffer(temporaryFolder(), { bytesMax: 20, ageMsMax: 500 }, new TestClock());
  for (const time of [1, 2]) buffer.put({ points: [point(time)] });
  const told = buffer.finalDrops();
  buffer.put({ points: [point(3)] });
  buffer.removeDrops(told);
  assert.deepEqual(
    buffer.finalDrops().map(({ fromMs, toMs }) => [fromMs, toMs]),
    [[2, 2]],
  );
  buffer.close();
});

test("every record is in the buffer, written, refused or dropped, in the order of arrival", () => {
  const operation = fc.oneof(
    { weight: 4, arbitrary: fc.record({ put: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 3, arbitrary: fc.record({ send: fc.integer({ min: 1, max: 12 }), refused: fc.boolean() }) },
    { weight: 1, arbitrary: fc.constant("open") },
  );
  const property = fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
    const folder = temporaryFolder();
    const bounds = { bytesMax: 400, ageMsMax: 1_000 };
    const clock = new TestClock();
    let buffer = new ForwardBuffer(folder, bounds, clock);
    let next = 0;
    let left: number[][] = [];
    for (const one of operations) {
      if (one === "open") {
        buffer.close();
        buffer = new ForwardBuffer(folder, bounds, clock);
      } else if ("put" in one) {
        const times = Array.from({ length: one.put }, () => next++);
        buffer.put({ points: times.map((time) => point(time)) });
        while (left.length > 0 && 20 * (left.flat().length + times.length) > bounds.bytesMax) left.shift();
        left.push(times);
      } else {
        const entries = buffer.oldest(one.send);
        buffer.remove(entries, one.refused && entries.length > 0 ? 1 : 0);
        left = left.slice(entries.length);
      }
      const { received, written, refused, dropped } = buffer.counts;
      assert.equal(received, next);
      assert.equal(received, written + refused + dropped + buffer.state.items);
      assert.deepEqual(timesIn(buffer.oldest(1_000)), left.flat());
    }
    buffer.close();
  });
  fc.assert(property, { numRuns: 30 });
});
