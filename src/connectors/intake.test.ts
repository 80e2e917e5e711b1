// The promises of the intake: `add` resolves when the records are on disk, and rejects when the connector
// stops before; nothing that is in the buffer leaves it for records that may wait.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { limits } from "../limits.ts";
import { ForwardBuffer, type UnstoredDrop, type WhenFull } from "./forward-buffer.ts";
import { Health } from "./health.ts";
import { Intake } from "./intake.ts";
import { decodeNumbers } from "./point-columns.ts";
import type { SourceEvent, SourceRecords, SourceRow } from "./records.ts";

const points = (first: number, count: number): SourceRecords => ({
  points: Array.from({ length: count }, (_, i) => ({
    ...{ series: { name: "a" }, timestamp: first + i, value: 1 },
  })),
});

/** A buffer whose disk can be full. */
class FailingBuffer extends ForwardBuffer {
  isFull = false;
  #require(): void {
    if (this.isFull) throw new Error("database or disk is full");
  }
  override put(records: SourceRecords, whenFull: WhenFull): boolean {
    this.#require();
    return super.put(records, whenFull);
  }
  override refuse(items: number): void {
    this.#require();
    super.refuse(items);
  }
  override dropUnstored(drop: UnstoredDrop): void {
    this.#require();
    super.dropUnstored(drop);
  }
}

function opened(bytesMax: number, whenFull: WhenFull) {
  const buffer = new FailingBuffer(temporaryFolder(), { bytesMax, ageMsMax: 1e12 });
  const stop = new AbortController();
  const health = new Health(() => {});
  const intake = new Intake(buffer, { whenFull, onStored: () => {}, health, signal: stop.signal });
  return { buffer, intake, stop, health };
}

const timesOf = (buffer: ForwardBuffer) =>
  buffer.oldest(1_000_000).flatMap(({ body }) => [...decodeNumbers(body).times]);

test("a stop while a source waits for space drops nothing, and takes nothing", async () => {
  const { buffer, intake, stop } = opened(1_000, "wait");
  await intake.add(points(0, 50));
  const waiting = assert.rejects(intake.add(points(50, 10)), /stops before the records are on disk/);
  setTimeout(() => stop.abort(), 50);
  await waiting;
  await intake.drain();
  assert.deepEqual(timesOf(buffer), [...Array(50).keys()]);
  assert.deepEqual(buffer.counts, { received: 50, written: 0, refused: 0, dropped: 0 });
  buffer.close();
});

test("large rows wait for space as small ones do", async () => {
  const { buffer, intake, stop } = opened(2_000, "wait");
  const row = (key: string) => ({ database: "d", table: "t", key, columns: { text: "x".repeat(1_500) } });
  await intake.add({ rows: [row("1")] });
  const waiting = assert.rejects(intake.add({ rows: [row("2")] }), /stops before/);
  setTimeout(() => stop.abort(), 50);
  await waiting;
  assert.deepEqual(buffer.counts, { received: 1, written: 0, refused: 0, dropped: 0 });
  buffer.close();
});

test("a stop while a source waits counts what the source cannot hold back", async () => {
  const { buffer, intake, stop } = opened(1_000, "wait");
  await intake.add(points(0, 50));
  intake.offer(points(50, 10));
  intake.offer(points(60, 10));
  stop.abort();
  await intake.drain();
  assert.deepEqual(timesOf(buffer), [...Array(50).keys()]);
  assert.deepEqual(buffer.counts, { received: 70, written: 0, refused: 0, dropped: 20 });
  const [drop] = buffer.finalDrops();
  assert.deepEqual([drop!.why, drop!.items, drop!.fromMs, drop!.toMs], ["stopped", 20, 50, 69]);
  buffer.close();
});

for (const whenFull of ["wait", "drop-oldest"] as const)
  test(`a stop on a full disk ends in order (${whenFull})`, async () => {
    const { buffer, intake, stop } = opened(1e6, whenFull);
    buffer.isFull = true;
    const waiting = assert.rejects(intake.add(points(0, 5)), /stops before the records are on disk/);
    intake.offer(points(5, 5));
    setTimeout(() => stop.abort(), 50);
    await waiting;
    await intake.drain();
    assert.equal(buffer.state.items, 0);
    buffer.close();
  });

test("records are stored when the disk has space again; refusals of meanwhile are counted", async () => {
  const { buffer, intake, health } = opened(1e6, "drop-oldest");
  buffer.isFull = true;
  const adding = intake.add(points(0, 5));
  intake.refuse(3, "no number");
  intake.offer(points(5, 500_000));
  setTimeout(() => (buffer.isFull = false), 50);
  await adding;
  await intake.drain();
  assert.equal(buffer.state.items, 5);
  assert.deepEqual(buffer.counts, { received: 500_008, written: 0, refused: 3, dropped: 500_000 });
  assert.deepEqual(health.current, []);
  buffer.close();
});

test("a source that waits for space can hand over more than the buffer takes at once", async () => {
  const { buffer, intake } = opened(1_000, "wait");
  await intake.add(points(0, 100));
  assert.equal(buffer.state.items, 100);
  buffer.close();
});

test("events and rows that cannot be stored are refused, and the others are stored", async () => {
  const { buffer, intake, health } = opened(1e6, "drop-oldest");
  const event = { sourceId: "1", type: "t", startTime: 5 };
  const row = { database: "d", table: "t", key: "k", columns: {} };
  const wrong = [
    { ...event, startTime: undefined },
    { ...event, startTime: "2026-01-01" },
    { ...event, startTime: Object.create(null) },
    { ...event, endTime: Number.NaN },
    { ...event, sourceId: undefined },
  ];
  const events = [...wrong, event] as unknown as SourceEvent[];
  const noText = { ...row, database: Object.create(null) };
  const rows = [{ ...row, key: "" }, { ...row, table: undefined }, noText, row] as unknown as SourceRow[];
  await intake.add({ events, rows });
  assert.deepEqual(buffer.counts, { received: 10, written: 0, refused: 8, dropped: 0 });
  assert.equal(buffer.state.items, 2);
  assert.match(health.last!.message, /A row has no valid key/);
  buffer.close();
});

test("rows with names or keys that no request can have are refused, and the others are stored", async () => {
  const { buffer, intake, health } = opened(1e6, "drop-oldest");
  const row = { database: "d", table: "t", key: "k", columns: {} };
  const names = [".", "..", "\ud800", "a\0b", "x".repeat(limits.nameLengthMax + 1)];
  const wrong = [
    ...names.map((database) => ({ ...row, database })),
    ...names.map((table) => ({ ...row, table })),
    ...["\ud800", "a\0b", "x".repeat(limits.rawKeyLengthMax + 1)].map((key) => ({ ...row, key })),
  ];
  const valid = [
    { ...row, database: "🏭".repeat(limits.nameLengthMax), table: "...", key: ".." },
    { ...row, key: "🏭".repeat(limits.rawKeyLengthMax) },
  ];
  await intake.add({ rows: [...wrong, ...valid] });
  const [entry] = buffer.oldest(100);
  assert.deepEqual(JSON.parse(Buffer.from(entry!.body).toString()), valid);
  assert.deepEqual(buffer.counts, { received: 15, written: 0, refused: 13, dropped: 0 });
  assert.match(health.last!.message, /A row has no valid database: database "\.", table "t", key "k"/);
  buffer.close();
});
