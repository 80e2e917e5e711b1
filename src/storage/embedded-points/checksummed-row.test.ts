// The checksum of a row detects any other key, any other byte, and a null instead of a zero.
import assert from "node:assert/strict";
import { it } from "node:test";
import { Kernels } from "../kernels.ts";
import { DamagedBlock } from "./block.ts";
import { decodeRow, encodeRow } from "./checksummed-row.ts";

const kernels = new Kernels();

const [times, values] = [Float64Array.of(0, 10, 30), Float64Array.of(1, 5, 2)];
const rowKeys = { series: 2 ** 40 + 4096, kind: 0, id: 7, firstMs: 0, lastMs: 30, count: 3 };
const keys = Object.keys(rowKeys) as (keyof typeof rowKeys)[];

const parts = [kernels.summarise(times, values, 0, 1), kernels.summarise(times, values, 1, 3)];

for (const [title, summaries] of [
  ["numbers", [kernels.summarise(times, values, 0, 3)]],
  ["numbers with several summaries", parts],
  ["strings", []],
] as const) {
  const { header } = encodeRow(rowKeys, { summaries, blockChecksum: 0xfedcba98 });

  it(`a row of ${title} decodes to its content`, () => {
    const { summaries: found, blockChecksum } = decodeRow(rowKeys, header);
    assert.deepEqual([found, blockChecksum], [summaries, 0xfedcba98]);
  });

  it(`a row of ${title} with any key changed is damaged`, () => {
    for (const key of keys)
      for (const other of [
        rowKeys[key] + 1,
        rowKeys[key] + 2 ** 32,
        -rowKeys[key] - 1,
        null,
        0.5,
        `${rowKeys[key]}`,
      ])
        assert.throws(() => decodeRow({ ...rowKeys, [key]: other }, header), DamagedBlock, `${key} ${other}`);
  });

  it(`a row of ${title} with any bit changed, or cut, is damaged`, () => {
    for (let bit = 0; bit < header.length * 8; bit++) {
      const changed = header.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      assert.throws(() => decodeRow(rowKeys, changed), DamagedBlock, `bit ${bit}`);
    }
    for (let length = 0; length < header.length; length++)
      assert.throws(() => decodeRow(rowKeys, header.subarray(0, length)), DamagedBlock, `${length} bytes`);
  });
}
