// The index of slots has the same entries as a map, whatever is added and removed in any order.
import assert from "node:assert/strict";
import { it } from "node:test";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { SlotIndex } from "./slot-index.ts";

const rounds = times(40, 2_000);
const random = randomFrom(seed);
const whole = (below: number) => Math.floor(random() * below);

/** Ids that follow each other, are far apart, or are large; few, so that they are removed and added again. */
function idsOf(count: number): number[] {
  const [first, apart] = [whole(2 ** 20), [1, 3, 1024, 4096, 2 ** 20, 2 ** 32][whole(6)]!];
  return Array.from({ length: count }, (_, at) => first + at * apart);
}

function play(): void {
  const series: number[] = [];
  const index = new SlotIndex((slot) => series[slot]!);
  const expected = new Map<number, number>();
  const ids = idsOf(1 + whole(random() < 0.2 ? 6_000 : 300));
  const addedPart = 0.4 + 0.3 * random();
  for (let step = ids.length * 4; step >= 0; step--) {
    const id = ids[whole(ids.length)]!;
    const isIn = expected.has(id);
    if (!isIn && random() < addedPart) {
      expected.set(id, series.length);
      series.push(id);
      index.add(id, series.length - 1);
    } else if (isIn && random() > addedPart) {
      index.remove(id);
      series[expected.get(id)!] = -1;
      expected.delete(id);
    }
    if (step % 1_000 === 0) for (const one of ids) assert.equal(index.get(one), expected.get(one));
    assert.equal(index.get(id), expected.get(id));
  }
  index.clear();
  for (const one of ids) assert.equal(index.get(one), undefined);
}

it(`the entries of a map, PROOF_SEED=${seed}`, () => {
  for (let round = 0; round < rounds; round++) play();
});
