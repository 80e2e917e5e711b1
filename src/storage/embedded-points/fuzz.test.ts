// Arbitrary bytes with right checksums: the decoders of blocks and of the journal return points or report
// damage, and never fail in another way.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { randomFrom, runs } from "../../../test/support/proof.ts";
import { Kernels } from "../kernels.ts";
import { DamagedBlock, decodeBlock, encodeBlock } from "./block.ts";
import type { Change } from "./change.ts";
import { decodeRecord, planRecord, writeRecord } from "./journal-record.ts";
import { recordsOf, segmentHeader, segmentName } from "./segment.ts";

const kernels = new Kernels();

/** Kinds of values, each with another codec as the best. */
const kinds: Readonly<Record<string, (random: () => number, index: number) => number | string>> = {
  constant: () => 17.25,
  decimal: (random) => Math.round(random() * 1e4) / 100,
  wild: (random) => (random() - 0.5) * 2 ** Math.floor(random() * 1000 - 500),
  slow: (_, index) => 1e9 / 3 + Math.floor(index / 50),
  few: (random) => Math.floor(random() * 4) / 3,
  computed: (random) => Math.floor(random() * 1e4) * 0.01,
  single: (random) => Math.fround(Math.floor(random() * 1e4) / 100),
  smooth: (_, index) => Math.sin(index / 1000),
  texts: (random) => ["open", "shut", "Öl", ""][Math.floor(random() * 4)]!,
  halves: (random, index) => (random() < 0.5 ? "\ud83d" : `${index}`),
};

const fixture = join(import.meta.dirname, "../../../test/fixtures/blocks/version-1.json");
/** Blocks of every codec, also of those that random points seldom lead to. */
const fixed = Object.values(JSON.parse(readFileSync(fixture, "utf8")) as Record<string, string>);

const newBlock = fc
  .record({
    kind: fc.constantFrom(...Object.keys(kinds)),
    count: fc.integer({ min: 1, max: 300 }),
    isRegular: fc.boolean(),
    seed: fc.nat(),
  })
  .map(({ kind, count, isRegular, seed }) => {
    const random = randomFrom(seed);
    let timeMs = 1e12;
    const times = Float64Array.from({ length: count }, () => {
      timeMs += isRegular ? 1000 : 1 + Math.floor(random() * 1e5);
      return timeMs;
    });
    const values = Array.from({ length: count }, (_, index) => kinds[kind]!(random, index));
    const isText = typeof values[0] === "string";
    return encodeBlock(times, isText ? (values as string[]) : Float64Array.from(values as number[]));
  });

const block = fc.oneof(
  { arbitrary: newBlock, weight: 3 },
  fc.constantFrom(...fixed).map((text) => Uint8Array.from(Buffer.from(text, "base64"))),
);

/** Changed bytes by offset. Most are near the start, where the interesting fields are. */
const edits = fc.array(
  fc.record({
    at: fc.oneof(fc.nat(80), fc.nat(10_000)),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc.constantFrom(Uint8Array.of(0xff, 0xff, 0xff, 0xff), Uint8Array.of(0, 0, 0, 0), Uint8Array.of(1)),
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

/** A copy with the edits after the first `from` bytes. */
function edited(bytes: Uint8Array, all: readonly { at: number; bytes: Uint8Array }[], from: number): Buffer {
  const copy = Buffer.from(bytes);
  for (const { at, bytes: written } of all) {
    const offset = from + (at % (copy.length - from));
    copy.set(written.subarray(0, copy.length - offset), offset);
  }
  return copy;
}

test("blocks with right checksums around other bytes", () => {
  const codecs = new Set<string>();
  let [read, damaged] = [0, 0];
  fc.assert(
    fc.property(block, edits, fc.integer({ min: -20, max: 20 }), (whole, all, longer) => {
      codecs.add(`times ${whole[5]! & 0x7f}`).add(`values ${whole[6]! & 0x7f}`);
      assert.doesNotThrow(() => decodeBlock(whole, kernels));
      const forged = edited(whole, all, 4);
      const resized = Buffer.concat([forged, Buffer.alloc(Math.max(0, longer))]);
      const bytes = resized.subarray(0, Math.max(8, forged.length + longer));
      bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
      try {
        const { times, values } = decodeBlock(bytes, kernels);
        assert.equal(times.length, bytes.readUInt32LE(8));
        assert.equal(values.length, times.length);
        read++;
      } catch (why) {
        assert.ok(why instanceof DamagedBlock, String(why));
        damaged++;
      }
    }),
    runs(3000, 300_000),
  );
  assert.ok(read > 0 && damaged > 0);
  assert.ok(codecs.size >= codecsThere, `no block with codecs but ${[...codecs]}`);
});

/** Three of times, six of numbers, one of strings. */
const codecsThere = 10;

test("blocks of any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.throws(() => decodeBlock(bytes, kernels), DamagedBlock);
    }),
    runs(1000, 100_000),
  );
});

const number = fc.double({ noNaN: true });
const time = fc.integer({ min: -1e9, max: 1e9 });
const series = fc.integer({ min: 1, max: 2 ** 50 });
const runsOf = <Value>(value: fc.Arbitrary<Value>) =>
  fc.array(fc.record({ series, points: fc.array(fc.tuple(time, value), { minLength: 1, maxLength: 5 }) }), {
    minLength: 1,
    maxLength: 3,
  });

/** Changes of all kinds. */
const change: fc.Arbitrary<Change> = fc.oneof(
  series.map((one) => ({ kind: "delete" as const, series: one })),
  fc.record({ series, startMs: time, endMs: time }).map(({ series, ...range }) => ({
    kind: "delete" as const,
    series,
    range,
  })),
  runsOf(number).map((numbers) => ({
    kind: "append" as const,
    batch: { numbers: columnsOf(numbers, (values) => Float64Array.from(values)) },
  })),
  runsOf(fc.string({ unit: "binary" })).map((strings) => ({
    kind: "append" as const,
    batch: { strings: columnsOf(strings, (values) => values) },
  })),
);

function columnsOf<Value, Values>(
  all: readonly { series: number; points: readonly (readonly [number, Value])[] }[],
  pack: (values: Value[]) => Values,
) {
  let end = 0;
  return {
    series: Float64Array.from(all, (run) => run.series),
    ends: Uint32Array.from(all, (run) => (end += run.points.length)),
    times: Float64Array.from(all.flatMap((run) => run.points.map(([timeMs]) => timeMs))),
    values: pack(all.flatMap((run) => run.points.map(([, value]) => value))),
  };
}

function recordOf(sequence: number, one: Change): Uint8Array<ArrayBuffer> {
  const plan = planRecord(one);
  const bytes = new Uint8Array(plan.bytes).fill(0xff);
  writeRecord(plan, { sequence, durableSequence: sequence - 1 }, bytes);
  return bytes;
}

test("records decode without loss; with other bytes and a right checksum they decode or are refused", () => {
  fc.assert(
    fc.property(change, edits, (one, all) => {
      const whole = recordOf(7, one);
      assert.deepStrictEqual(decodeRecord(whole, 0), {
        sequence: 7,
        durableSequence: 6,
        change: one,
        bytes: whole,
      });
      const forged = Uint8Array.from(edited(whole, all, 8));
      new DataView(forged.buffer).setUint32(4, crc32(forged.subarray(8)), true);
      const found = decodeRecord(forged, 0);
      assert.ok(found === undefined || found.bytes.length === forged.length);
    }),
    runs(2000, 200_000),
  );
});

test("a segment with arbitrary bytes yields only records that were written, in order", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), edits, fc.boolean(), (changes, all, isFinalSegment) => {
      const records = changes.map((one, index) => recordOf(index + 1, one));
      const whole = Buffer.concat([segmentHeader(1), ...records]);
      const bytes = Uint8Array.from(edited(whole, all, 0));
      const report = { damage: [], length: 0 };
      const found = [...recordsOf(bytes, { name: segmentName(1), isFinalSegment }, report)];
      let last = 0;
      for (const { sequence, change: one } of found) {
        assert.ok(sequence > last);
        last = sequence;
        assert.deepStrictEqual(one, changes[sequence - 1]);
      }
      assert.ok(isFinalSegment || found.length === changes.length || report.damage.length > 0);
    }),
    runs(2000, 200_000),
  );
});
