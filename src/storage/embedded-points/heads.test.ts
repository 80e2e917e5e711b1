// The heads of many series have the same points as a map for each, whether they are small or not.
import assert from "node:assert/strict";
import { it } from "node:test";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { numberKind, type PointValues, stringKind, type ValueKind } from "../point-columns.ts";
import type { PointRuns } from "../points.ts";
import { type Head, HeadVersions } from "./head.ts";
import { Heads } from "./heads.ts";

const rounds = times(150, 10_000);
const random = randomFrom(seed);
const whole = (below: number) => Math.floor(random() * below);

/** The points by time. */
type Expected = Map<number, number | string>;

/** Runs of a few points, most of them in order after those before; a series may have several. */
function someRuns(kind: ValueKind, seriesMax: number, clock: { ms: number }): PointRuns<PointValues> {
  const [series, ends, added, values] = [[], [], [], []] as [number[], number[], number[], unknown[]];
  for (let run = whole(12); run >= 0; run--) {
    series.push(1 + whole(seriesMax));
    for (let count = random() < 0.8 ? 1 : whole(random() < 0.1 ? 200 : 8); count > 0; count--) {
      added.push(random() < 0.97 ? ++clock.ms : whole(clock.ms + 1));
      values.push(kind === stringKind ? String(random()) : random());
    }
    ends.push(added.length);
  }
  const columns = kind === stringKind ? (values as string[]) : Float64Array.from(values as number[]);
  return {
    ...{ series: Float64Array.from(series), ends: Uint32Array.from(ends) },
    ...{ times: Float64Array.from(added), values: columns },
  };
}

/** Adds the runs of series with even ids to the maps. */
function expectRuns(
  { series, ends, times: added, values }: PointRuns<PointValues>,
  all: Map<number, Expected>,
) {
  for (const [run, one] of series.entries()) {
    if (one % 2 === 1) continue;
    if (!all.has(one)) all.set(one, new Map());
    for (let at = run === 0 ? 0 : ends[run - 1]!; at < ends[run]!; at++)
      all.get(one)!.set(added[at]!, values[at]!);
  }
}

function pointsOf(head: Head): [number, number | string][] {
  const { times: ms, values } = head.points();
  return Array.from(ms, (timeMs, at) => [timeMs, values[at]!]);
}

const sorted = (points: Iterable<[number, number | string]>) =>
  [...points].sort(([one], [other]) => one - other);

function play(kind: ValueKind): void {
  const heads = new Heads(kind, new HeadVersions(), (series) => series % 2 === 0);
  const all = new Map<number, Expected>();
  const clock = { ms: 0 };
  const seriesMax = 2 + whole(30);
  let seen:
    | { series: number; version: number; endMs: number; points: [number, number | string][] }
    | undefined;
  for (let step = 0; step < 60; step++) {
    const runs = someRuns(kind, seriesMax, clock);
    heads.addRuns(runs, (head) => assert.equal(heads.large(head.series), head));
    expectRuns(runs, all);
    const series = 2 * (1 + whole(seriesMax / 2));
    if (random() < 0.1) {
      heads.remove(series);
      all.delete(series);
    }
    if (random() < 0.1) {
      const startMs = whole(clock.ms + 1);
      const head = heads.take(series);
      head?.removeBetween(startMs, startMs + 20);
      assert.equal(heads.large(series), head);
      for (let timeMs = startMs; timeMs < startMs + 20; timeMs++) all.get(series)?.delete(timeMs);
    }
    for (const [one, expected] of all) assert.deepEqual(pointsOf(heads.get(one)!), sorted(expected));
    assert.deepEqual(new Set(heads.series()), new Set(all.keys()));
    assert.ok(heads.points >= [...all.values()].reduce((sum, { size }) => sum + size, 0));
    if (seen) {
      const { version, endMs, points } = seen;
      const head = heads.get(seen.series);
      const now = head ? pointsOf(head).filter(([timeMs]) => timeMs < endMs) : [];
      if (head?.isUnchanged(version, Number.NEGATIVE_INFINITY, endMs))
        assert.deepEqual(now.slice(0, points.length), points);
    }
    const head = heads.get(series);
    if (!head || (seen && random() < 0.7)) continue;
    const endMs = whole(clock.ms + 1);
    const points = pointsOf(head).filter(([timeMs]) => timeMs < endMs);
    seen = { series, version: head.version, endMs, points };
  }
}

it(`points of many series, removed in between, PROOF_SEED=${seed}`, () => {
  for (let round = 0; round < rounds; round++) play(random() < 0.3 ? stringKind : numberKind);
});

it("a head that was not changed but by points at its end has its version, small or not", () => {
  const heads = new Heads(numberKind, new HeadVersions(), () => true);
  const add = (from: number, to: number) => {
    const ms = Float64Array.from({ length: to - from }, (_, at) => from + at);
    const runs = { series: Float64Array.of(1), ends: Uint32Array.of(ms.length), times: ms, values: ms };
    heads.addRuns(runs, () => {});
  };
  add(0, 10);
  const { version } = heads.get(1)!;
  assert.equal(heads.large(1), undefined);
  add(10, 500);
  assert.ok(heads.large(1));
  assert.equal(heads.get(1)!.isUnchanged(version, 0, 10), true);
  add(5, 6);
  assert.equal(heads.get(1)!.isUnchanged(version, 0, 10), false);
});

it("points that are sent again or come late leave a small head small", () => {
  const heads = new Heads(numberKind, new HeadVersions(), () => true);
  const add = (...points: (readonly [timeMs: number, value: number])[]) =>
    heads.addRuns(
      {
        ...{ series: Float64Array.of(1), ends: Uint32Array.of(points.length) },
        ...{ times: Float64Array.from(points, ([timeMs]) => timeMs) },
        values: Float64Array.from(points, ([, value]) => value),
      },
      () => {},
    );
  add([10, 1], [20, 2], [30, 3], [40, 4], [50, 5]);
  const { version } = heads.get(1)!;
  add([50, 5]);
  add([10, 1], [20, 2], [30, 3], [40, 4], [50, 5]);
  assert.deepEqual([heads.get(1)!.version, heads.points], [version, 5]);
  add([50, 6]);
  assert.equal(heads.get(1)!.isUnchanged(version, 0, 100), false);
  assert.equal(heads.get(1)!.isUnchanged(version, 0, 50), true);
  const { version: overwritten } = heads.get(1)!;
  add([60, 7], [25, 8], [5, 9]);
  for (const [startMs, isUnchanged] of [
    [0, false],
    [20, false],
    [26, true],
  ] as const)
    assert.equal(heads.get(1)!.isUnchanged(overwritten, startMs, 100), isUnchanged, String(startMs));
  const { times: ms, values } = heads.get(1)!.points();
  assert.deepEqual([...ms], [5, 10, 20, 25, 30, 40, 50, 60]);
  assert.deepEqual([...values], [9, 1, 2, 8, 3, 4, 6, 7]);
  assert.deepEqual([heads.largeCount, heads.points], [0, 8]);
});
