// The simulated plant: the same for the same seed and end, within the ranges of its instruments, with faults
// that show in several series.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { readDescription } from "./description.ts";
import type { PlantEvent } from "./events/plant-event.ts";
import { Recording } from "./recording.ts";
import { historyResolution, type Value } from "./samples.ts";
import { dayMs, hourMs, minuteMs } from "./simulation/conditions.ts";

const endMs = Date.UTC(2026, 5, 15, 12);
const history = { seed: 24, endMs };
const description = readDescription();

interface Recorded {
  readonly points: ReadonlyMap<string, readonly (readonly [ms: number, value: Value])[]>;
  readonly begun: readonly PlantEvent[];
  readonly ended: readonly PlantEvent[];
}

/** Days before the end of the history. */
function recorded(from: number, to: number): Recorded {
  const startMs = endMs - from * dayMs;
  const recording = new Recording(description, history, { startMs });
  const points = new Map<string, [number, Value][]>(description.series.map(({ name }) => [name, []]));
  const [begun, ended]: [PlantEvent[], PlantEvent[]] = [[], []];
  for (let ms = startMs; ms < endMs - to * dayMs; ms += historyResolution.fastMs) {
    recording.record(ms, historyResolution, (at, time, value) =>
      points.get(description.series[at]!.name)!.push([time, value]),
    );
    const observed = recording.events.observe(ms);
    begun.push(...observed.begun);
    ended.push(...observed.ended);
  }
  return { points, begun, ended };
}

let days: Recorded;
before(() => {
  days = recorded(10, 0);
});

const meanOf = (name: string, from: number, to: number): number => {
  const within = days.points
    .get(name)!
    .filter(([ms]) => ms >= endMs - from * dayMs && ms < endMs - to * dayMs)
    .map(([, value]) => value as number);
  assert.ok(within.length > 0, `${name} has points`);
  return within.reduce((sum, value) => sum + value, 0) / within.length;
};

test("the same seed and end give the same points and events, another seed others", () => {
  assert.deepEqual(recorded(0.2, 0), recorded(0.2, 0));
  const valuesWith = (seed: number) => {
    const recording = new Recording(description, { seed, endMs }, { startMs: endMs });
    const values: Value[] = [];
    recording.record(endMs, historyResolution, (_, __, value) => values.push(value));
    return values;
  };
  assert.notDeepEqual(valuesWith(24), valuesWith(25));
});

test("a recording that begins later has nearly the same values: the plant forgets its start", () => {
  const later = recorded(0.1, 0).points;
  for (const { name, kind, low, high, rate } of description.series) {
    if (kind !== "number" || rate === "lab" || /^26-(IT|PT|FT)-32|26-TT-3211|FQ/.test(name)) continue;
    const own = new Map(days.points.get(name)!);
    const [ms, value] = later.get(name)!.at(-1)!;
    const distance = Math.abs((value as number) - (own.get(ms) as number));
    assert.ok(distance <= (high - low) * 0.03, `${name} differs by ${distance}`);
  }
});

test("every series has points, and numbers are in the range of the instrument, few at its ends", () => {
  for (const { name, kind, low, high, decimals, rate } of description.series) {
    const points = days.points.get(name)!;
    assert.ok(points.length > (rate === "lab" ? 20 : 35), `${name} has ${points.length} points`);
    if (kind === "string") {
      for (const [, value] of points) assert.match(String(value), /^[A-Z][\w.-]*$|^none$/, name);
      continue;
    }
    for (const [, value] of points) {
      assert.ok(typeof value === "number" && value >= low && value <= high, `${name}: ${value}`);
      assert.ok(Math.abs(value - Number(value.toFixed(decimals))) < 1e-9, `${name}: ${value}`);
    }
    const stuck = points.filter(([, value]) => value === high).length / points.length;
    assert.ok(kind === "step" || /OP$/.test(name) || stuck < 0.01, `${name} is at its upper end`);
  }
});

test("times increase in every series", () => {
  for (const [name, points] of days.points)
    for (let at = 1; at < points.length; at++)
      assert.ok(points[at]![0] > points[at - 1]![0], `${name} at ${points[at]![0]}`);
});

test("a pump trip shows in flow, standby pump, vibration before it, an alarm and a work order", () => {
  assert.ok(meanOf("23-VT-1012A", 0.6, 0.4) > 1.7 * meanOf("23-VT-1012A", 9.5, 8.5));
  assert.equal(meanOf("23-YS-1012A", 0.35, 0.1), 0);
  assert.equal(meanOf("23-YS-1012B", 0.34, 0.1), 1);
  const low = days.points
    .get("23-FT-1012")!
    .filter(([ms, v]) => ms > endMs - 0.37 * dayMs && Number(v) < 0.1);
  assert.ok(low.length >= 3 && low.length < 15, `${low.length} minutes without flow`);
  const kinds = days.begun.filter(({ startMs }) => startMs > endMs - 0.37 * dayMs);
  const has = (type: string, tag: string) =>
    kinds.some((event) => event.type === type && event.metadata["tag"] === tag);
  assert.ok(has("alarm", "23-PM-1012A") && has("alarm", "23-FT-1012") && has("work order", "23-P-1012A"));
});

test("a sticking valve makes its flow cycle", () => {
  const deviation = (from: number, to: number) => {
    const mean = meanOf("23-ZT-1012", from, to);
    const points = days.points.get("23-ZT-1012")!;
    const within = points.filter(([ms]) => ms >= endMs - from * dayMs && ms < endMs - to * dayMs);
    const moves = within.filter(
      ([, value], at) => at > 0 && Math.abs(Number(value) - Number(within[at - 1]![1])) > 3,
    );
    return moves.length / mean;
  };
  assert.ok(deviation(6.5, 5.5) > 20 * (deviation(3, 2) + 0.01), `${deviation(6.5, 5.5)} ${deviation(3, 2)}`);
});

test("a later recording ends the events that were open, each at its time", () => {
  const at = (before: number) => endMs - before * dayMs;
  const first = new Recording(description, history, { startMs: at(0.4) });
  const run = (recording: Recording, fromMs: number, toMs: number) => {
    const ended: PlantEvent[] = [];
    for (let ms = fromMs; ms < toMs; ms += minuteMs) {
      recording.record(ms, historyResolution, () => undefined);
      ended.push(...recording.events.observe(ms).ended);
    }
    return ended;
  };
  run(first, at(0.4), at(0.2));
  const open = first.events.open.map((event) => ({ ...event, assets: [] }));
  assert.ok(open.some(({ key }) => key === "work order 23-P-1012A pumpTrip"));
  const second = new Recording(description, history, { startMs: at(0.2), open });
  const keys = new Set(open.map(({ key }) => key));
  const ended = (recording: Recording) =>
    run(recording, at(0.2), endMs + 0.3 * dayMs)
      .filter(({ key }) => keys.has(key))
      .map(({ key, endMs: to }) => [key, to]);
  const continued = ended(first);
  assert.equal(continued.length, open.length);
  assert.deepEqual(ended(second), continued);
});

test("batches begin and end, with their results; most events end", () => {
  const batches = days.ended.filter(({ type }) => type === "batch");
  assert.ok(batches.length > 55 && batches.length < 76, `${batches.length} batches`);
  for (const { startMs, endMs: to, metadata } of batches) {
    assert.ok(to! - startMs > 4.5 * hourMs && to! - startMs < 6.4 * hourMs);
    assert.match(metadata["conversion"]!, /^6\d\.\d %$/);
  }
  const alarms = days.begun.filter(({ type }) => type === "alarm");
  assert.ok(alarms.length > 5 && alarms.length < 150, `${alarms.length} alarms in ten days`);
  for (const { startMs, endMs: to } of days.ended) assert.ok(to! >= startMs + minuteMs);
  const assets = new Set(description.assets.map(({ name }) => name));
  for (const event of days.begun)
    for (const name of event.assets) assert.ok(assets.has(name), `${event.key}: ${name}`);
});
