// The seal of a row is broken by any other key, any other byte, and by a null where a zero was.
import assert from "node:assert/strict";
import { it } from "node:test";
import { DamagedBlock } from "./block.ts";
import { openRow, sealRow } from "./sealed-row.ts";
import { summarise } from "./summary.ts";

const summary = summarise(Float64Array.of(0, 10, 30), Float64Array.of(1, 5, 2), 0, 3);
const place = { series: 2 ** 40 + 4096, kind: 0, id: 7, firstMs: 0, lastMs: 30, count: 3 };
const keys = Object.keys(place) as (keyof typeof place)[];

for (const [title, one] of [
  ["numbers", summary],
  ["strings", undefined],
] as const) {
  const { sealed } = sealRow(place, { summary: one, blockSum: 0xfedcba98 });

  it(`a row of ${title} opens to what was sealed`, () => {
    const { summary: found, blockSum } = openRow(place, sealed);
    assert.deepEqual([found, blockSum], [one, 0xfedcba98]);
  });

  it(`a row of ${title} with any key changed is damaged`, () => {
    for (const key of keys)
      for (const other of [place[key] + 1, place[key] + 2 ** 32, -place[key] - 1, null, 0.5, `${place[key]}`])
        assert.throws(() => openRow({ ...place, [key]: other }, sealed), DamagedBlock, `${key} ${other}`);
  });

  it(`a row of ${title} with any bit changed, or cut, is damaged`, () => {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = sealed.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      assert.throws(() => openRow(place, changed), DamagedBlock, `bit ${bit}`);
    }
    for (let length = 0; length < sealed.length; length++)
      assert.throws(() => openRow(place, sealed.subarray(0, length)), DamagedBlock, `${length} bytes`);
  });
}
