// Another implementation of protobuf writes and reads the same messages
// (docs/reference/datapoints.md#protobuf).
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import protobuf from "protobufjs";
import { emptyColumns, insertContext, storePlan } from "../../../test/support/insert-context.ts";
import type { Run } from "../../../test/support/plain-insert.ts";
import { plainInsertMessage } from "../../../test/support/plain-insert-message.ts";
import { isLong, runs, seed } from "../../../test/support/proof.ts";
import { Failure } from "../../errors.ts";
import { BufferWriter } from "../../lib/buffer-writer.ts";
import { limits } from "../../limits.ts";
import type { IncomingPoints } from "./inserts/incoming-points.ts";
import { dataFieldHeader, decodeInsertMessage, writePoints } from "./protobuf.ts";

const ctx = insertContext();

const { root } = protobuf.parse(`
  syntax = "proto3";
  package api.v2;
  message StringDatapoint { int64 timestamp = 1; string value = 2; }
  message NumericDatapoint { int64 timestamp = 1; double value = 2; }
  message StringTimeseriesData { repeated StringDatapoint points = 1; }
  message NumericTimeseriesData { repeated NumericDatapoint points = 1; }
  message TimeseriesData {
    oneof data { StringTimeseriesData stringData = 1; NumericTimeseriesData numericData = 2; }
  }
  message NamedTimeseriesData {
    string name = 1;
    oneof data { StringTimeseriesData stringData = 2; NumericTimeseriesData numericData = 3; }
  }
  message MultiNamedTimeseriesData { repeated NamedTimeseriesData namedTimeseriesData = 1; }
`);
const oneType = root.lookupType("api.v2.TimeseriesData");
const manyType = root.lookupType("api.v2.MultiNamedTimeseriesData");

const timestamp = fc.oneof(fc.constant(0), fc.integer({ min: limits.timeMsMin, max: limits.timeMsMax }));
const value = fc.oneof(fc.constant(0), fc.double({ noNaN: true, noDefaultInfinity: true }));
const numbers = fc.array(fc.record({ timestamp, value }, { noNullPrototype: true }), { maxLength: 8 });
const strings = fc.array(
  fc.record({ timestamp, value: fc.string({ unit: "grapheme" }) }, { noNullPrototype: true }),
  { maxLength: 8 },
);
const data = fc.oneof(
  numbers.map((points) => ({ numericData: { points } })),
  strings.map((points) => ({ stringData: { points } })),
);
type Data = { numericData?: { points: unknown[] }; stringData?: { points: unknown[] } };
const encoded = (type: protobuf.Type, message: object) =>
  Buffer.from(type.encode(type.fromObject(message)).finish());
const columnsOf = ({ times, values }: { times: Float64Array; values: ArrayLike<unknown> }) =>
  Array.from(times, (timestamp, i) => ({ timestamp, value: values[i] }));

test("the message of one series is read", () => {
  fc.assert(
    fc.property(data, (sent: Data) => {
      const found = decodeInsertMessage(ctx, encoded(oneType, sent), "x");
      assert.deepEqual(found.keys, ["x"]);
      assert.deepEqual(columnsOf(found.numbers), sent.numericData?.points ?? []);
      assert.deepEqual(columnsOf(found.strings ?? emptyColumns(found)), sent.stringData?.points ?? []);
    }),
  );
});

const series = fc.tuple(fc.string({ unit: "grapheme" }), data).map(([name, one]) => ({ name, ...one }));

test("the message of many series is read, run by run", () => {
  fc.assert(
    fc.property(fc.array(series, { maxLength: 5 }), (sent: (Data & { name: string })[]) => {
      const found = decodeInsertMessage(ctx, encoded(manyType, { namedTimeseriesData: sent }));
      assert.deepEqual(
        found.keys,
        sent.map(({ name }) => name),
      );
      assert.deepEqual(
        columnsOf(found.numbers),
        sent.flatMap(({ numericData }) => numericData?.points ?? []),
      );
      assert.deepEqual(
        columnsOf(found.strings ?? emptyColumns(found)),
        sent.flatMap(({ stringData }) => stringData?.points ?? []),
      );
      let end = 0;
      const ends = sent.map(({ numericData }) => (end += numericData?.points.length ?? 0));
      assert.deepEqual([...found.numbers.ends], ends);
    }),
  );
});

const messageOf = (names: readonly string[]) =>
  encoded(manyType, {
    namedTimeseriesData: names.map((name, i) => ({
      name,
      numericData: { points: [{ timestamp: i + 1, value: i / 2 }] },
    })),
  });

test("a name whose letters are the bytes of another in UTF-8 is not taken for it", () => {
  const planned = insertContext();
  const [name, bytesAsLetters] = ["p\u00fcmp", "p\u00c3\u00bcmp"];
  const plan = Array.from({ length: 10 }, (_, i) => `pump${i}`);
  storePlan(planned, decodeInsertMessage(planned, messageOf(plan.with(4, bytesAsLetters))));
  for (const names of [plan.with(4, name), plan.with(4, bytesAsLetters)])
    assert.deepEqual(decodeInsertMessage(planned, messageOf(names)).keys, names);
});

test("names that differ in any way from those of an earlier message are read as they are", () => {
  const planned = insertContext();
  const plan = Array.from({ length: 10 }, (_, i) => `pump${i}`);
  storePlan(planned, decodeInsertMessage(planned, messageOf(plan)));
  const readAgain = (names: readonly string[]) => {
    const found = decodeInsertMessage(planned, messageOf(names));
    assert.deepEqual(found.keys, names);
    assert.deepEqual(
      columnsOf(found.numbers),
      names.map((_, i) => ({ timestamp: i + 1, value: i / 2 })),
    );
    return found.earlierPlan;
  };
  assert.ok(readAgain(plan));
  for (const other of ["pump", "pump4x", "pump5", "Pump4", "xump4", "\u0170ump4", "pum\u0170", ""])
    assert.equal(readAgain(plan.with(4, other)), undefined, other);
  assert.equal(readAgain(plan.slice(0, 9)), undefined);
  assert.equal(readAgain([...plan, "pump10"]), undefined);
});

test("unknown fields are passed over", () => {
  const later = protobuf.parse(`
    syntax = "proto3";
    message Point {
      int64 timestamp = 1; double value = 2; fixed32 a = 3; fixed64 b = 4; string c = 5; int64 d = 99;
    }
    message Points { repeated Point points = 1; string unit = 7; }
    message Data { Points numericData = 2; bool late = 15; }
  `).root;
  const point = { timestamp: 5, value: 1.5, a: 1, b: 2, c: "x", d: -1 };
  const bytes = encoded(later.lookupType("Data"), {
    numericData: { points: [point], unit: "bar" },
    late: true,
  });
  assert.deepEqual(columnsOf(decodeInsertMessage(ctx, bytes, "x").numbers), [{ timestamp: 5, value: 1.5 }]);
});

let [read, refused] = [0, 0];

/** Both as the message of one series and of many, and in the midst of other bytes. */
function check(bytes: Buffer): void {
  const around = Buffer.concat([Buffer.alloc((read + refused) % 9, 10), bytes, Buffer.alloc(20, 8)]);
  const placed = around.subarray((read + refused) % 9).subarray(0, bytes.length);
  for (const key of ["x", undefined]) {
    const expected = plainInsertMessage(bytes, key);
    let found: Run[] | undefined;
    try {
      found = runsOf(decodeInsertMessage(ctx, placed, key));
    } catch (refusal) {
      assert.ok(refusal instanceof Failure && refusal.status === 400, String(refusal));
    }
    if (expected === undefined) refused++;
    else read++;
    assert.deepEqual(found, expected, `${key === undefined ? "many" : "one"}: ${bytes.toString("hex")}`);
  }
}

/** The columns as runs again, numbers before strings as in the columns. */
function runsOf(points: IncomingPoints): Run[] {
  const { keys, numbers, strings = emptyColumns(points) } = points;
  const part = (columns: typeof numbers | typeof strings, run: number) =>
    columnsOf({
      times: columns.times.subarray(run === 0 ? 0 : columns.ends[run - 1]!, columns.ends[run]),
      values: columns.values.slice(run === 0 ? 0 : columns.ends[run - 1]!, columns.ends[run]),
    }) as Run["points"];
  return keys.map((key, run) => ({ key, points: [...part(numbers, run), ...part(strings, run)] }));
}

const point = { timestamp: 1_600_000_000_000, value: 2.5 };
const messages = [
  encoded(oneType, { numericData: { points: [point, { timestamp: -1, value: -0 }] } }),
  encoded(oneType, {
    stringData: {
      points: [
        { timestamp: 5, value: "\u00f8" },
        { timestamp: 0, value: "" },
      ],
    },
  }),
  encoded(manyType, {
    namedTimeseriesData: [{ name: "a", numericData: { points: [point] } }, { name: "b" }],
  }),
  encoded(manyType, {
    namedTimeseriesData: [{ name: "s", stringData: { points: [{ timestamp: 1, value: "x" }] } }],
  }),
];

test("a message cut short, or with any byte another one, is refused or means what its fields say", () => {
  for (const whole of messages) {
    for (let at = 0; at <= whole.length; at++) check(whole.subarray(0, at));
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      for (let byte = (seed + at) % (isLong ? 1 : 5); byte < 256; byte += isLong ? 1 : 5) {
        changed[at] = byte;
        check(changed);
      }
    }
  }
});

test("random bytes, and messages with bytes changed, are refused or mean what their fields say", () => {
  [read, refused] = [0, 0];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => check(Buffer.from(bytes))),
    runs(1500, 300_000),
  );
  const edits = fc.array(fc.record({ at: fc.nat(), byte: fc.nat(255), taken: fc.nat(2) }), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(series, { minLength: 1, maxLength: 3 }), edits, fc.boolean(), (sent, all, isOne) => {
      let bytes = isOne ? encoded(oneType, sent[0]!) : encoded(manyType, { namedTimeseriesData: sent });
      for (const { at, byte, taken } of all) {
        const place = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place + taken)]);
      }
      check(bytes);
    }),
    runs(2000, 300_000),
  );
  assert.ok(read > 300 && refused > 300, `${read} read, ${refused} refused`);
});

test("values and times that cannot be are refused", () => {
  const point = (one: object) => () =>
    decodeInsertMessage(ctx, encoded(oneType, { numericData: { points: [one] } }), "x");
  const invalid = { status: 400, failure: "field-invalid" };
  assert.throws(point({ timestamp: 1, value: Number.NaN }), invalid);
  assert.throws(point({ timestamp: 1, value: Number.POSITIVE_INFINITY }), invalid);
  assert.throws(point({ timestamp: limits.timeMsMax + 1, value: 1 }), invalid);
  assert.throws(point({ timestamp: limits.timeMsMin - 1, value: 1 }), invalid);
});

test("messages written are read by others", () => {
  const written = (isString: boolean, points: readonly { timestamp: number; value: number | string }[]) => {
    const times = Float64Array.from(points, (point) => point.timestamp);
    const values = points.map((point) => point.value);
    const writer = new BufferWriter();
    writePoints(writer, {
      times,
      values: isString ? (values as string[]) : Float64Array.from(values as number[]),
    });
    const content = writer.takeWritten();
    const message = Buffer.concat([dataFieldHeader(isString, content.length), content]);
    return oneType.toObject(oneType.decode(message), { longs: Number, defaults: true, arrays: true });
  };
  fc.assert(
    fc.property(numbers, (points) => {
      assert.deepEqual(written(false, points)["numericData"], { points });
    }),
  );
  fc.assert(
    fc.property(strings, (points) => {
      assert.deepEqual(written(true, points)["stringData"], { points });
    }),
  );
});

test("far more points or series than one insert may hold are refused before all is read", () => {
  const broken = Buffer.from([0xff]);
  const series = Buffer.concat([...Array<Buffer>(300_000).fill(Buffer.from([0x0a, 0])), broken]);
  assert.throws(() => decodeInsertMessage(ctx, series), { failure: "too-many" });
  const points = Buffer.concat(Array<Buffer>(300_000).fill(Buffer.from([0x0a, 2, 0x08, 1])));
  const length = Buffer.from([
    0x12,
    (points.length % 128) | 128,
    ((points.length >> 7) % 128) | 128,
    points.length >> 14,
  ]);
  assert.throws(() => decodeInsertMessage(ctx, Buffer.concat([length, points, broken]), "x"), {
    failure: "too-many",
  });
});
