// Blocks of format version 1 stay readable: fixed bytes of every codec decode to the points they hold.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { Kernels } from "../kernels.ts";
import { decodeBlock } from "./block.ts";

const kernels = new Kernels();

const fixture = join(import.meta.dirname, "../../../test/fixtures/blocks/version-1.json");
const blocks = JSON.parse(readFileSync(fixture, "utf8")) as Record<string, string>;
const bytesOf = (name: string): Buffer => Buffer.from(blocks[name]!, "base64");

const made = <One>(count: number, make: (index: number) => One): One[] =>
  Array.from({ length: count }, (_, index) => make(index));
const column = (count: number, make: (index: number) => number) => Float64Array.from(made(count, make));
const everySecond = (count: number) => column(count, (i) => -1000 + i * 1000);

/** Deterministic numbers in [0, 1). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 2 ** 31;
  };
}

function summed(steps: Float64Array): Float64Array {
  let sum = 0;
  return steps.map((step) => {
    sum += step;
    return sum;
  });
}

const cases = [
  {
    name: "regular times, constant",
    points: { times: everySecond(3), values: Float64Array.of(7.5, 7.5, 7.5) },
  },
  {
    name: "a grid of times of which one is off, decimal",
    points: {
      times: Float64Array.of(-5, 0, 3, 1000000, 1000005),
      values: Float64Array.of(1.25, -0.5, 3, 2.75, 1000),
    },
  },
  {
    name: "decimal with a value aside",
    points: {
      times: everySecond(16),
      values: column(16, (i) => (i === 5 ? -0 : i / 10)),
    },
  },
  {
    name: "few numbers of many digits",
    points: { times: everySecond(6), values: Float64Array.of(1 / 3, 1 / 3, 2 / 3, 1 / 3, 1 / 7, 1 / 3) },
  },
  {
    name: "raw",
    points: { times: everySecond(2), values: Float64Array.of(1 / 3, -1 / 7) },
  },
  {
    name: "raw through zstd",
    points: { times: everySecond(40), values: column(40, (i) => 1 / ((i % 4) + 3)) },
  },
  {
    name: "strings",
    points: { times: everySecond(3), values: ["on", "off", "on"] },
  },
  {
    name: "strings in UTF-16",
    points: { times: everySecond(2), values: ["\ud800", "å"] },
  },
  {
    name: "beat of times with wide gaps, decimal with numbers outside",
    points: (() => {
      const [g, v] = [random(1), random(2)];
      return {
        times: summed(column(200, () => 1000 + (g() < 0.05 ? Math.floor(g() * 1e9) : 0))),
        values: summed(column(200, () => Math.floor(v() * 20) - 10)).map(
          (x) => (x + (v() < 0.03 ? 1e6 : 0)) / 10,
        ),
      };
    })(),
  },
  {
    name: "times more than 32 bits apart",
    points: (() => {
      const g = random(3);
      return { times: summed(column(40, () => 1 + Math.floor(g() * 2 ** 40))), values: column(40, () => 1) };
    })(),
  },
  {
    name: "beat of times, decimal with symbols through zstd",
    points: {
      times: column(300, (i) => i * 1000 + (i % 3 === 0 ? 7 : 0)),
      values: column(300, (i) => ((i * 37) % 11) / 10),
    },
  },
  {
    name: "strings through zstd",
    points: { times: everySecond(300), values: made(300, (i) => `state ${i % 70} of the valve`) },
  },
  {
    name: "grid of times with a jump, decimal of smoothed noise",
    points: (() => {
      const [g, v] = [random(1), random(2)];
      return {
        times: column(300, (i) => i * 1000 + (i < 150 ? 0 : 60_000) + (g() < 0.1 ? Math.floor(g() * 50) : 0)),
        values: column(300, (i) => (Math.floor(v() * 6) + Math.floor(i / 9)) / 100),
      };
    })(),
  },
  {
    name: "beat of times, decimal with numbers outside and aside",
    points: (() => {
      const [g, v] = [random(3), random(4)];
      return {
        times: column(200, (i) => i * 250 + Math.floor(g() * 9)),
        values: column(200, (i) =>
          i === 77 ? -0 : v() < 0.02 ? Math.floor(v() * 2 ** 45) : Math.floor(v() * 40000) / 8,
        ),
      };
    })(),
  },
  {
    name: "wide numbers, second differences",
    points: (() => {
      const g = random(5);
      return {
        times: summed(column(60, () => 1 + Math.floor(g() * 2 ** 40))),
        values: column(60, (i) => i * i * 1001 - 3 * i),
      };
    })(),
  },
  {
    name: "symbols through zstd",
    points: { times: everySecond(900), values: column(900, (i) => ((i * i) % 37) / 10) },
  },
  {
    name: "strings, some of them repeated",
    points: { times: everySecond(40), values: made(40, (i) => ["open", "shut", "moving"][(i * i) % 3]!) },
  },
  {
    name: "thirds, a whole number apart",
    points: { times: everySecond(80), values: column(80, (i) => 1e9 / 3 + i) },
  },
  {
    name: "decimal with rounding errors",
    points: (() => {
      const g = random(6);
      return {
        times: everySecond(150),
        values: column(150, (i) => (i === 9 ? 1 / 3 : Math.floor(g() * 90 - 45) * 0.01)),
      };
    })(),
  },
  {
    name: "decimal in single precision",
    points: (() => {
      const g = random(7);
      return {
        times: everySecond(150),
        values: column(150, () => Math.fround(Math.floor(g() * 90 - 45) / 100)),
      };
    })(),
  },
  {
    name: "ordinals",
    points: (() => {
      const g = random(8);
      return {
        times: everySecond(200),
        values: column(200, (i) => (i === 5 ? -0 : Math.sin(i / 9) * 7 + g() / 9)),
      };
    })(),
  },
  {
    name: "ordinals in single precision",
    points: (() => {
      const g = random(9);
      return { times: everySecond(150), values: column(150, () => Math.fround(Math.exp(g() * 40))) };
    })(),
  },
  {
    name: "dictionary",
    points: (() => {
      const g = random(10);
      return { times: everySecond(80), values: column(80, () => Math.sqrt(Math.floor(g() * 5))) };
    })(),
  },
  {
    name: "four coders, a few numbers outside",
    points: (() => {
      const [g, v] = [random(11), random(12)];
      return {
        times: column(611, (i) => i * 500 + Math.floor(g() * 40)),
        values: summed(column(611, () => Math.floor(v() * 30) - 15 + (v() < 0.02 ? 5e6 : 0))).map(
          (x) => x / 100,
        ),
      };
    })(),
  },
  {
    name: "few numbers, whose symbols are all 0",
    points: { times: Float64Array.of(0, 3, 10, 11), values: Float64Array.of(1.25, 7, -2, 7) },
  },
];

for (const { name, points } of cases) {
  test(`a block of version 1 decodes: ${name}`, () => {
    assert.deepEqual(decodeBlock(bytesOf(name), kernels), points);
  });
}

test("the fixed blocks cover every codec, with and without zstd", () => {
  const found = (position: number) => new Set(cases.map(({ name }) => bytesOf(name)[position]!));
  const compressed = 0x80;
  assert.deepEqual([...found(5)].sort(), [0, 1, 2]);
  assert.deepEqual(
    [...found(6)].sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 16, compressed | 1, compressed | 16],
  );
});

test("a block written by hand from FORMAT.md decodes: regular times, raw values", () => {
  const bytes = Buffer.alloc(36 + 16);
  bytes.set([1, 0, 1, 0], 4);
  bytes.writeUInt32LE(2, 8);
  bytes.writeDoubleLE(-1000, 12);
  bytes.writeDoubleLE(500, 20);
  bytes.writeUInt32LE(16, 32);
  // The doubles 1 and -2 are 3ff0000000000000 and c000000000000000.
  bytes.set([0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0], 36 + 6);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  assert.deepEqual(decodeBlock(bytes, kernels), {
    times: Float64Array.of(-1000, 500),
    values: Float64Array.of(1, -2),
  });
});
