// A head has the same points as a map, in order of time, in whatever order they are added.
import assert from "node:assert/strict";
import { it } from "node:test";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { numberKind, stringKind, type ValueKind } from "../point-columns.ts";
import { Head, HeadVersions } from "./head.ts";

const rounds = times(400, 20_000);
const random = randomFrom(seed);
const versions = new HeadVersions();
const whole = (below: number) => Math.floor(random() * below);

/** Times mostly in order, some late, some repeated; sometimes so many that the head sorts them at once. */
function someTimes(span: number): Float64Array {
  const count = random() < 0.4 ? 1 : 1 + whole(random() < 0.05 ? 6_000 : 40);
  let timeMs = whole(span);
  return Float64Array.from({ length: count }, () => {
    timeMs = random() < 0.85 ? timeMs + whole(3) : whole(span);
    return timeMs;
  });
}

function play(kind: ValueKind): void {
  const head = new Head(1, kind, versions);
  const expected = new Map<number, number | string>();
  const span = 1 + whole(random() < 0.1 ? 20_000 : 100);
  for (let step = whole(9); step >= 0; step--) {
    const added = someTimes(span);
    const drawn = Array.from(added, random);
    head.add(
      { times: added, values: kind === stringKind ? drawn.map(String) : Float64Array.from(drawn) },
      0,
      added.length,
    );
    for (const [at, timeMs] of added.entries())
      expected.set(timeMs, kind === stringKind ? String(drawn[at]) : drawn[at]!);
    if (random() < 0.7) continue;
    const startMs = whole(span);
    head.removeBetween(startMs, startMs + 20);
    for (let timeMs = startMs; timeMs < startMs + 20; timeMs++) expected.delete(timeMs);
  }
  const points = head.points();
  const sorted = [...expected].sort(([one], [other]) => one - other);
  assert.deepEqual(
    Array.from(points.times),
    sorted.map(([timeMs]) => timeMs),
  );
  assert.deepEqual(
    Array.from(points.values as ArrayLike<number | string>),
    sorted.map(([, value]) => value),
  );
}

it(`points in any order, removed in between, PROOF_SEED=${seed}`, () => {
  for (let round = 0; round < rounds; round++) play(random() < 0.3 ? stringKind : numberKind);
});

/** The points in [startMs, endMs), to compare them later. */
function seenIn(head: Head, startMs: number, endMs: number) {
  const { times, values } = head.points();
  const points = [...times].flatMap((timeMs, at) =>
    timeMs >= startMs && timeMs < endMs ? [`${timeMs} ${values[at]}`] : [],
  );
  return { startMs, endMs, version: head.version, points: points.join() };
}

it(`equal numbers of points in an unchanged head are the same points, PROOF_SEED=${seed}`, () => {
  let [same, late] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const head = new Head(1, numberKind, versions);
    const seen: ReturnType<typeof seenIn>[] = [];
    for (let step = 0; step < 40; step++) {
      const startMs = whole(200);
      if (random() < 0.2) head.removeBetween(startMs, startMs + whole(20));
      else {
        const times = random() < 0.6 ? Float64Array.of(step * 6 + whole(9)) : someTimes(200).slice(0, 20);
        head.add({ times, values: Float64Array.from(times, random) }, 0, times.length);
      }
      for (const before of seen) {
        const isUnchanged = head.isUnchanged(before.version, before.startMs, before.endMs);
        const now = seenIn(head, before.startMs, before.endMs);
        const isSame = before.points === now.points;
        const isSameCount = head.countBetween(before.startMs, before.endMs) === countOf(before.points);
        if (isUnchanged && isSameCount) assert.ok(isSame, `${before.points} became ${now.points}`);
        if (isUnchanged && isSameCount && before.points !== "" && before.version < now.version) late++;
        if (isUnchanged && isSame) same++;
      }
      seen.push(seenIn(head, startMs, startMs + 10));
    }
    assert.equal(new Head(1, numberKind, versions).isUnchanged(head.version, 0, Infinity), false);
  }
  assert.ok(same > 0 && late > 0, "late points elsewhere leave others unchanged");
});

const countOf = (points: string): number => (points === "" ? 0 : points.split(",").length);
