// A head has the same points as a map, in order of time, in whatever order they are added.
import assert from "node:assert/strict";
import { it } from "node:test";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { numberKind, stringKind, type ValueKind } from "../point-columns.ts";
import { Head } from "./head.ts";

const rounds = times(400, 20_000);
const random = randomFrom(seed);
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
  const head = new Head(1, kind);
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
