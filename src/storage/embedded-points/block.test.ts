// A block decodes to exactly the points encoded, and a changed block is always detected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { runs } from "../../../test/support/proof.ts";
import { Kernels } from "../kernels.ts";
import {
  blockPointsMax,
  DamagedBlock,
  decodeAtOnce,
  decodeBlock,
  decodeInParts,
  decodeVerified,
  encodeBlock,
} from "./block.ts";

const kernels = new Kernels();

const countMax = 700;

/** Gaps between points: regular, jittered, with holes, or anything. */
const stepsMs = fc.oneof(
  fc.record({ step: fc.integer({ min: 1, max: 100_000 }) }).map(
    ({ step }) =>
      () =>
        step,
  ),
  fc.integer({ min: 1, max: 60_000 }).map((step) => (random: number) => step + Math.floor(random * 5)),
  fc
    .integer({ min: 1, max: 60_000 })
    .map((step) => (random: number) => (random > 0.98 ? Math.ceil(random * 1e9) : step)),
  fc.constant((random: number) => 1 + Math.floor(2 ** (random * 39))),
);

const wild = fc.oneof(
  fc.double({ noNaN: true }),
  fc.constantFrom(
    0,
    -0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    2 ** 53,
  ),
  fc.constantFrom(2 ** 50, 2 ** 50 + 1, 1e22, 1e23, 0.1 + 0.2, 1 / 3, 123456789012345.67, 1e-7, 4.35, 0.07),
);

/** Makes a value from a random number between 0 and 1. */
const shapes: fc.Arbitrary<(random: number, index: number, last: number) => number> = fc.oneof(
  wild.map((value) => () => value),
  fc.tuple(fc.integer({ min: 0, max: 17 }), fc.integer({ min: 0, max: 40 })).map(([digits, bits]) => {
    return (random: number) => Number(((random - 0.5) * 2 ** bits).toFixed(digits));
  }),
  fc
    .integer({ min: 0, max: 6 })
    .map(
      (digits) => (random: number, _index: number, last: number) =>
        Number((last + random - 0.5).toFixed(digits)),
    ),
  fc.constant((random: number, index: number) => Math.sin(index / 50) * 40 + random),
  fc.constant((random: number, _index: number, last: number) => (random > 0.97 ? 1 - last : last)),
  fc.constant((random: number) => Math.fround(random * 100)),
  fc.constant((random: number) => (random > 0.95 ? -0 : Math.round(random * 10) / 10)),
  fc.constant((_random: number, index: number) => index * 3600),
  fc
    .integer({ min: 1, max: 12 })
    .map((digits) => (random: number) => Math.round((random - 0.5) * 10 ** digits) * 10 ** -(digits >> 1)),
  fc.constant((random: number) => Math.fround(Math.round(random * 1000) / 100)),
  fc.constant((random: number) => Math.sqrt(Math.floor(random * 5))),
  fc.constant((random: number, index: number) => (index % 17 ? Math.round(random * 100) * 0.01 : random)),
);

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const columnsOf = (counts: { min: number; max: number }) =>
  fc
    .record({
      seed: fc.integer(),
      count: fc.integer(counts),
      firstMs: fc.integer({ min: Date.UTC(1900), max: Date.UTC(2100) }),
      stepOf: stepsMs,
      shape: shapes,
      odd: fc.array(fc.tuple(fc.nat(counts.max), wild), { maxLength: 20 }),
    })
    .map(({ seed, count, firstMs, stepOf, shape, odd }) => {
      const random = seeded(seed);
      const times = new Float64Array(count);
      const values = new Float64Array(count);
      for (let index = 0; index < count; index++) {
        times[index] = index === 0 ? firstMs : times[index - 1]! + stepOf(random());
        values[index] = shape(random(), index, values[index - 1] ?? 0);
      }
      for (const [at, value] of odd) if (at < count) values[at] = value;
      return { times, values };
    });
const columns = columnsOf({ min: 1, max: countMax });

const bitsOf = (numbers: Float64Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);

function assertReturns(times: Float64Array, values: Float64Array): Uint8Array {
  const block = encodeBlock(times, values);
  const decoded = decodeBlock(block, kernels);
  assert.deepEqual(decoded.times, times);
  assert.ok(decoded.values instanceof Float64Array);
  assert.ok(bitsOf(decoded.values).equals(bitsOf(values)), "every bit of every value");
  for (const index of [0, 1, 9, times.length >> 1, times.length - 1])
    assertBegins(block, values, times[index]);
  return block;
}

/** The values before this time are there. */
function assertBegins(block: Uint8Array, values: Float64Array, endMs: number | undefined): void {
  const decoded = decodeBlock(block, kernels, endMs);
  const wanted = endMs === undefined ? values.length : decoded.times.indexOf(endMs);
  assert.equal(decoded.times.length, values.length);
  assert.ok(decoded.values.length >= wanted);
  const before = (decoded.values as Float64Array).subarray(0, wanted);
  assert.ok(bitsOf(before).equals(bitsOf(values.subarray(0, wanted))), `the values before ${endMs}`);
}

test("times and numbers of any shape decode bit for bit", () => {
  fc.assert(
    fc.property(columns, ({ times, values }) => {
      assertReturns(times, values);
    }),
    runs(400, 40_000),
  );
});

test("blocks of the size that the store writes decode bit for bit", () => {
  fc.assert(
    fc.property(columnsOf({ min: 4000, max: 13_000 }), ({ times, values }) => {
      assertReturns(times, values);
    }),
    runs(60, 6000),
  );
});

test("numbers without any order decode bit for bit", () => {
  fc.assert(
    fc.property(fc.array(wild, { minLength: 1, maxLength: 60 }), (values) => {
      assertReturns(Float64Array.from(values.keys()), Float64Array.from(values));
    }),
  );
});

test("strings decode without loss, also of unpaired surrogates", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "RUN", "STOP", "ålarm", "\ud800", "\udc00x"),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 80 }), (values) => {
      const decoded = decodeBlock(encodeBlock(Float64Array.from(values.keys()), values), kernels);
      assert.deepEqual(decoded.values, values);
    }),
  );
});

test("a flipped bit, a missing end and an added byte are detected", () => {
  const touch = fc.record({ at: fc.nat(), bit: fc.nat(7), how: fc.constantFrom("flip", "cut", "add") });
  fc.assert(
    fc.property(columns, fc.array(touch, { minLength: 10, maxLength: 10 }), ({ times, values }, touches) => {
      const block = encodeBlock(times, values);
      for (const { at, bit, how } of touches) {
        const index = at % block.length;
        const touched =
          how === "cut" ? block.slice(0, index) : Uint8Array.from([...block, ...(how === "add" ? [0] : [])]);
        if (how === "flip") touched[index] = touched[index]! ^ (1 << bit);
        assert.throws(() => decodeBlock(touched, kernels), DamagedBlock);
      }
    }),
    runs(100, 10_000),
  );
});

/** The bits of the columns that are decoded up to a time, or the error. */
function outcomeOf(decode: typeof decodeVerified, block: Uint8Array, endMs: number): unknown {
  try {
    const { times, values } = decode(block, kernels, endMs);
    const numbers = values as Float64Array;
    return { times: bitsOf(times).toString("hex"), values: bitsOf(numbers).toString("hex") };
  } catch (error) {
    assert.ok(error instanceof DamagedBlock, String(error));
    return error.message;
  }
}

test("the kernel for whole blocks and the code for their parts decode and refuse the same", () => {
  const forgery = fc.record({ at: fc.nat(), byte: fc.nat(255), isInHeader: fc.boolean() });
  const forgeries = fc.array(fc.array(forgery, { minLength: 1, maxLength: 3 }), { maxLength: 10 });
  const ends = fc.array(fc.nat(countMax), { maxLength: 3 });
  let [decoded, refused] = [0, 0];
  fc.assert(
    fc.property(columns, forgeries, ends, ({ times, values }, forged, ends) => {
      const block = encodeBlock(times, values);
      const endsMs = [Infinity, ...ends.map((end) => times[end % times.length]! + (end % 2))];
      for (const changes of [[], ...forged]) {
        const changed = block.slice();
        // Bytes near the start have the codecs and the sizes of columns.
        for (const { at, byte, isInHeader } of changes)
          changed[4 + (at % (isInHeader ? Math.min(60, block.length - 4) : block.length - 4))] = byte;
        for (const endMs of endsMs) {
          const expected = outcomeOf(decodeInParts, changed, endMs);
          assert.deepEqual(outcomeOf(decodeVerified, changed, endMs), expected);
          if (typeof expected === "string") refused++;
          else decoded++;
        }
      }
    }),
    runs(400, 40_000),
  );
  assert.ok(decoded > 100 && refused > 100, `${decoded} decoded and ${refused} refused`);
});

test("the kernel for whole blocks decodes those of most series", () => {
  const random = seeded(1);
  const made = (make: (index: number) => number) => Float64Array.from({ length: 900 }, (_, at) => make(at));
  const regular = made((index) => index * 1000);
  const grid = made((index) => index * 1000 + (random() < 0.05 ? 1 + Math.floor(random() * 50) : 0));
  const beat = made((index) => index * 1000 + Math.floor(random() * 50));
  const exact = made((index) => (index === 7 ? -0 : Math.round(random() * 500 + index) / 10));
  const raw = made(() => (random() - 0.5) * 2 ** (random() * 2000 - 1000));
  for (const times of [regular, grid, beat])
    for (const values of [exact, exact.map(Math.fround), new Float64Array(900).fill(3), raw])
      assert.deepEqual(decodeAtOnce(encodeBlock(times, values), kernels, Infinity), { times, values });
  // It has the times for values in other codecs.
  const ordinals = made((index) => Math.sin(index / 9) * 7 + random() / 9);
  const found = decodeAtOnce(encodeBlock(grid, ordinals), kernels, Infinity);
  assert.deepEqual(found, { times: grid, values: undefined });
});

test("a block with a right checksum around wrong contents is refused, not read", () => {
  const headerBytes = 36;
  const times = Float64Array.of(1, 2, 4, 5, 9);
  for (const values of [Float64Array.of(1.5, 2, 3, 1, 1), ["a", "b", "a", "a", "b"]]) {
    const block = encodeBlock(times, values);
    for (let at = 4; at < headerBytes + 12; at++) {
      for (const byte of [0, 1, 7, 64, 127, 128, 255]) {
        const forged = block.slice();
        forged[at] = byte;
        new DataView(forged.buffer).setUint32(0, crc32(forged.subarray(4)), true);
        try {
          assert.equal(
            decodeBlock(forged, kernels).times.length,
            new DataView(forged.buffer).getUint32(8, true),
          );
        } catch (error) {
          assert.ok(error instanceof DamagedBlock, String(error));
        }
      }
    }
  }
});

test("a block whose times begin or end with no number, or end before they begin, is refused", () => {
  const [firstAt, lastAt] = [12, 20];
  const block = encodeBlock(
    Float64Array.from({ length: 9 }, (_, at) => at * 1000),
    new Float64Array(9),
  );
  for (const [at, time] of [
    [firstAt, Number.NaN],
    [lastAt, Number.NaN],
    [firstAt, -Infinity],
    [lastAt, Infinity],
    [lastAt, 2 ** 60],
    [firstAt, -(2 ** 60)],
    [lastAt, -1],
    [lastAt, 8000.5],
  ] as const) {
    const forged = Buffer.from(block);
    forged.writeDoubleLE(time, at);
    forged.writeUInt32LE(crc32(forged.subarray(4)), 0);
    assert.throws(() => decodeBlock(forged, kernels), DamagedBlock, `${time} at ${at}`);
  }
});

test("the error for a damaged block has the expected and the found content", () => {
  const block = encodeBlock(Float64Array.of(1, 2), Float64Array.of(1, 2));
  block[20] = block[20]! ^ 1;
  assert.throws(
    () => decodeBlock(block, kernels),
    /expected checksum [0-9a-f]{8}, found checksum [0-9a-f]{8}/,
  );
});

test("times that are not ascending integers are refused", () => {
  const two = Float64Array.of(1, 2);
  assert.throws(() => encodeBlock(Float64Array.of(2, 1), two), /ascending/);
  assert.throws(() => encodeBlock(Float64Array.of(1, 1), two), /ascending/);
  assert.throws(() => encodeBlock(Float64Array.of(1, 1.5), two), /ascending/);
  assert.throws(() => encodeBlock(Float64Array.of(1), two), /times and values/);
  assert.throws(() => encodeBlock(new Float64Array(0), new Float64Array(0)), /times and values/);
  assert.throws(() => encodeBlock(new Float64Array(blockPointsMax + 1), two), /times and values/);
});

test("an hourly constant takes less than fifty bytes, whatever its length", () => {
  const times = Float64Array.from({ length: 5000 }, (_, index) => index * 3_600_000);
  assert.ok(assertReturns(times, new Float64Array(5000).fill(17.25)).length < 50);
});
