// The forwarder when the server, or a proxy before it, refuses records: which records it gives up, and
// which stay in the buffer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { ServerProblem } from "../client/connection.ts";
import type { Destination, SeriesPoints } from "./destination.ts";
import { ForwardBuffer } from "./forward-buffer.ts";
import { Forwarder } from "./forwarder.ts";
import { Health } from "./health.ts";
import type { SourceEvent } from "./records.ts";

const point = (name: string, timestamp: number) => ({ series: { name }, timestamp, value: 1 });

interface Server {
  insert?(batch: readonly SeriesPoints[]): void;
  createEvents?(events: readonly SourceEvent[]): void;
}

/** Forwards to a server of the test until the condition holds; returns the names of inserted series. */
async function forwarded(
  buffer: ForwardBuffer,
  { insert, createEvents }: Server,
  isDone: (state: { inserted: readonly string[]; attempts: number }) => boolean,
): Promise<{ inserted: string[]; health: Health }> {
  const inserted: string[] = [];
  let attempts = 0;
  const stop = new AbortController();
  const health = new Health(() => {});
  const stopIfDone = () => {
    if (isDone({ inserted, attempts })) stop.abort();
  };
  const destination = {
    nameOf: ({ name }: { name: string }) => name,
    insert: async (batch: readonly SeriesPoints[]) => {
      attempts += 1;
      stopIfDone();
      insert?.(batch);
      inserted.push(...batch.map(({ series }) => series.name));
    },
    createEvents: async (events: readonly SourceEvent[]) => createEvents?.(events),
  };
  const forwarder = new Forwarder({
    ...{ buffer, health, destination: destination as unknown as Destination, signal: stop.signal },
    prepare: async () => stopIfDone(),
  });
  const timer = setInterval(() => {
    stopIfDone();
    forwarder.stored();
  }, 20);
  await forwarder.run();
  clearInterval(timer);
  return { inserted, health };
}

const bounds = { bytesMax: 1e9, ageMsMax: 1e12 };
const newBuffer = () => new ForwardBuffer(temporaryFolder(), bounds);

for (const [what, problem] of [
  ["a proxy that responds 404", new ServerProblem("not found", { status: 404 })],
  ["a proxy that responds 400", new ServerProblem("bad request", { status: 400 })],
  ["a project that is gone", new ServerProblem("unknown", { status: 404, error: { code: 404 } })],
  ["a key without the right", new ServerProblem("forbidden", { status: 403, error: { code: 403 } })],
] as const)
  test(`${what} loses no records`, async () => {
    const buffer = newBuffer();
    buffer.put({ points: [point("a", 1), point("b", 1)] });
    let failures = 2;
    const insert = () => {
      if (failures-- > 0) throw problem;
    };
    const { inserted } = await forwarded(buffer, { insert }, ({ inserted }) => inserted.length >= 2);
    assert.deepEqual(inserted, ["a", "b"]);
    assert.equal(buffer.counts.refused, 0);
    buffer.close();
  });

test("records that Millrace refuses are counted, and the others are written", async () => {
  const buffer = newBuffer();
  buffer.put({ points: ["a", "b", "c", "d"].map((name) => point(name, 1)) });
  const insert = (batch: readonly SeriesPoints[]) => {
    if (batch.some(({ series }) => series.name === "c"))
      throw new ServerProblem("Invalid value", { status: 400, error: { code: 400 } });
  };
  const isDone = () => buffer.state.items === 0;
  const { inserted } = await forwarded(buffer, { insert }, isDone);
  assert.deepEqual(inserted, ["a", "b", "d"]);
  assert.deepEqual([buffer.counts.refused, buffer.counts.written], [1, 3]);
  buffer.close();
});

test("points are sent with the type that they have, whatever a later point of the series is", async () => {
  const buffer = newBuffer();
  buffer.put({ points: [point("a", 1)] });
  buffer.put({ points: [{ series: { name: "a", isString: true }, timestamp: 2, value: "n/a" }] });
  const sent: unknown[] = [];
  const insert = (batch: readonly SeriesPoints[]) => {
    for (const { series, values } of batch) sent.push([series, [...values]]);
  };
  await forwarded(buffer, { insert }, () => buffer.state.items === 0);
  assert.deepEqual(sent, [
    [{ name: "a", isString: false }, [1]],
    [{ name: "a", isString: true }, ["n/a"]],
  ]);
  buffer.close();
});

test("an hour without the server is forwarded in order, while new records arrive", async () => {
  const buffer = newBuffer();
  const names = Array.from({ length: 50 }, (_, i) => `s${i}`);
  let second = 0;
  const secondMax = 3_620;
  const putSecond = () => {
    if (second === secondMax) return;
    buffer.put({ points: names.map((name) => point(name, 1_000 * second)) });
    second += 1;
  };
  while (second < 3_600) putSecond();
  const times = new Map(names.map((name) => [name, [] as number[]]));
  let failures = 2;
  const insert = (batch: readonly SeriesPoints[]) => {
    putSecond();
    if (failures-- > 0) throw new ServerProblem("no response", { mayBeDone: true });
    for (const one of batch) times.get(one.series.name)!.push(...one.times);
  };
  const isDone = () => second === secondMax && buffer.state.items === 0;
  const timer = setInterval(putSecond, 100);
  await forwarded(buffer, { insert }, isDone);
  clearInterval(timer);
  const expected = Array.from({ length: secondMax }, (_, i) => 1_000 * i);
  for (const [name, found] of times) assert.deepEqual(found, expected, name);
  const items = names.length * secondMax;
  assert.deepEqual(buffer.counts, { received: items, written: items, refused: 0, dropped: 0 });
  buffer.close();
});

test("a proxy with a lower bound for bodies gets smaller requests", async () => {
  const buffer = newBuffer();
  buffer.put({ points: ["a", "b", "c", "d"].map((name) => point(name, 1)) });
  const insert = (batch: readonly SeriesPoints[]) => {
    if (batch.length > 1) throw new ServerProblem("<html>", { status: 413 });
  };
  const { inserted } = await forwarded(buffer, { insert }, () => buffer.state.items === 0);
  assert.deepEqual(inserted, ["a", "b", "c", "d"]);
  buffer.close();
});

test("a key that may not write events does not slow down the records", async () => {
  const buffer = newBuffer();
  buffer.dropUnstored({ why: "memory", items: 5, fromMs: 1, toMs: 2 });
  const createEvents = () => {
    throw new ServerProblem("forbidden", { status: 403, error: { code: 403 } });
  };
  const startedMs = performance.now();
  let put = 0;
  const isDone = () => {
    if (put < 10 && buffer.state.items === 0) buffer.put({ points: [point("a", ++put)] });
    return put === 10 && buffer.state.items === 0;
  };
  const { health } = await forwarded(buffer, { createEvents }, isDone);
  // The waits after ten failures would be minutes together.
  assert.ok(performance.now() - startedMs < 60_000);
  assert.match(health.current.map(({ message }) => message).join(), /events about dropped records/);
  assert.equal(buffer.finalDrops().length, 1, "the drop is told later");
  buffer.close();
});
