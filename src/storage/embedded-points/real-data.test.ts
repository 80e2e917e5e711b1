// Real sensor and market data: blocks decode bit for bit, and are smaller than with zstd.
import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { hasDataSets, machineSeries, plantSeries, publishedVectors } from "../../../bench/data-sets.ts";
import { Kernels } from "../kernels.ts";
import { decodeBlock, encodeBlock } from "./block.ts";

const kernels = new Kernels();

const skip = hasDataSets ? false : "the data sets of ../shared/data are not here";
const blockPoints = 1024;

const bytesOf = (numbers: Float64Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Bits for each value in blocks, header included, compared with zstd over the same values. */
function measure(values: Float64Array): { block: number; zstd: number } {
  let [block, zstd] = [0, 0];
  for (let from = 0; from < values.length; from += blockPoints) {
    const vector = values.slice(from, from + blockPoints);
    const bytes = encodeBlock(Float64Array.from(vector.keys()), vector);
    const decoded = decodeBlock(bytes, kernels).values;
    assert.ok(
      decoded instanceof Float64Array && bytesOf(decoded).equals(bytesOf(vector)),
      "every bit is equal",
    );
    block += bytes.length;
    zstd += zstdCompressSync(bytesOf(vector)).length;
  }
  return { block: (block * 8) / values.length, zstd: (zstd * 8) / values.length };
}

test("real data decodes bit for bit, and takes fewer bits than with zstd", { skip }, () => {
  for (const { name, values } of [...publishedVectors(), ...machineSeries(), ...plantSeries()]) {
    const { block, zstd } = measure(values);
    // The header of a block counts as well: a third of a bit for each value in blocks of this size.
    assert.ok(block < zstd + 0.3, `${name}: ${block} bits a value, zstd ${zstd}`);
  }
});
