// Blocks of real sensor and market data: they come back bit for bit, and in fewer bits than zstd needs.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { decodeBlock, encodeBlock } from "./block.ts";

const folder = join(import.meta.dirname, "../../../../shared/data");
const skip = existsSync(folder) ? false : "the data sets of ../shared/data are not here";
const blockPoints = 1024;

const bytesOf = (numbers: Float64Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Bits a value in blocks, header included, against zstd over the same vectors. */
function measure(values: Float64Array): { block: number; zstd: number } {
  let [block, zstd] = [0, 0];
  for (let from = 0; from < values.length; from += blockPoints) {
    const vector = values.slice(from, from + blockPoints);
    const bytes = encodeBlock(Float64Array.from(vector.keys()), vector);
    const decoded = decodeBlock(bytes).values;
    assert.ok(
      decoded instanceof Float64Array && bytesOf(decoded).equals(bytesOf(vector)),
      "every bit comes back",
    );
    block += bytes.length;
    zstd += zstdCompressSync(bytesOf(vector)).length;
  }
  return { block: (block * 8) / values.length, zstd: (zstd * 8) / values.length };
}

const linesOf = (path: string): string[] => readFileSync(join(folder, path), "utf8").trim().split("\n");

function* sets(): Generator<{ name: string; values: Float64Array }> {
  const samples = readdirSync(join(folder, "alp-samples")).filter((name) => name.endsWith(".csv"));
  for (const name of samples.filter((one) => !one.startsWith("published"))) {
    yield { name, values: Float64Array.from(linesOf(`alp-samples/${name}`), Number) };
  }
  for (const name of ["ambient_temperature_system_failure", "machine_temperature_system_failure"]) {
    const rows = linesOf(`nab-industrial/${name}.csv`).slice(1);
    yield { name, values: Float64Array.from(rows, (row) => Number(row.split(",")[1])) };
  }
  const rows = linesOf("tep/measurements.csv").map((row) => row.split(","));
  for (const [column, name] of rows[0]!.entries()) {
    // XMEAS and XMV are the tags; the other columns say which run and which minute a row belongs to.
    if (!name.startsWith("X")) continue;
    yield { name: `tep ${name}`, values: Float64Array.from(rows.slice(1), (row) => Number(row[column])) };
  }
}

test("real data comes back bit for bit, in fewer bits than zstd needs", { skip }, (t) => {
  const plant: number[] = [];
  for (const { name, values } of sets()) {
    const { block, zstd } = measure(values);
    if (name.startsWith("tep ")) plant.push(block);
    else t.diagnostic(`${name}: ${block.toFixed(2)} bits a value, zstd ${zstd.toFixed(2)}`);
    // The header of a block counts as well, a third of a bit a value for blocks of this size.
    assert.ok(block < zstd + 0.3, `${name}: ${block} bits a value, zstd ${zstd}`);
  }
  const mean = plant.reduce((sum, bits) => sum + bits, 0) / plant.length;
  t.diagnostic(`tep, mean of ${plant.length} tags: ${mean.toFixed(2)} bits a value`);
});
