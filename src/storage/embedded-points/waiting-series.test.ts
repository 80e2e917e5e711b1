// The series of a checkpoint come in ascending order, whatever their order in memory.
import assert from "node:assert/strict";
import { it } from "node:test";
import { randomFrom, seed } from "../../../test/support/proof.ts";
import { WaitingSeries } from "./waiting-series.ts";

const random = randomFrom(seed);
const someSeries = (length: number) =>
  Float64Array.from({ length }, () => Math.floor(random() * 2 ** (random() < 0.5 ? 10 : 52)));

function takeEach(waiting: WaitingSeries): number[] {
  const taken = [];
  for (let series = waiting.next(); series !== undefined; series = waiting.next()) taken.push(series);
  return taken;
}

it(`series in any order, and those put back first, PROOF_SEED=${seed}`, () => {
  const waiting = new WaitingSeries();
  for (let length = 0; length < 200; length++) {
    const series = someSeries(length);
    const sorted = [...series.slice().sort()];
    waiting.start(series);
    assert.equal(waiting.isEmpty, length === 0);
    const first = waiting.next();
    if (first !== undefined) waiting.putBack(first);
    assert.deepEqual(takeEach(waiting), sorted);
    assert.equal(waiting.isEmpty, true);
  }
});

it("all that are left are taken at once", () => {
  const waiting = new WaitingSeries();
  waiting.start(Float64Array.of(5, 3, 9, 1));
  assert.equal(waiting.next(), 1);
  waiting.putBack(1);
  assert.deepEqual(waiting.takeAll().sort(), [1, 3, 5, 9]);
  assert.deepEqual([waiting.isEmpty, waiting.next()], [true, undefined]);
});
