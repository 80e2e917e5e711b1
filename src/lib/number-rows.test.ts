// Rows of numbers as text have the digits that JSON.stringify writes.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BufferWriter } from "./buffer-writer.ts";
import { NumberRows, RowLayout } from "./number-rows.ts";
import { numberBytesMax } from "./number-text.ts";

const numberRows = new NumberRows();
const line = { start: "", labels: [","], end: "\n", isTable: true } as const;

type Numbers = readonly number[];

/** All rows, in as many steps as it takes. */
function written(layout: RowLayout, times: Numbers, columns: readonly Numbers[]): string {
  const writer = new BufferWriter();
  const rows = { times: Float64Array.from(times), columns: columns.map((one) => Float64Array.from(one)) };
  const to = times.length;
  for (let from = 0; from < to; ) from = numberRows.write(writer, layout, rows, { from, to });
  return writer.bytes.toString("utf8", 0, writer.at);
}

/** As JSON, with minus zero as it is. */
const expectedText = (value: number) => (Object.is(value, -0) ? "-0" : JSON.stringify(value));

function assertWritten(values: Numbers): void {
  const times = values.map(() => 0);
  const lines = written(new RowLayout(line), times, [values]).split("\n");
  assert.equal(lines.pop(), "");
  assert.equal(lines.length, values.length);
  for (const [at, text] of lines.entries()) {
    assert.equal(text, `0,${expectedText(values[at]!)}`);
    assert.ok(text.length - 2 <= numberBytesMax);
  }
}

test("numbers of every form", () => {
  const digits = [
    "1",
    "9",
    "15",
    "123",
    "1234567",
    "99999999",
    "123456789",
    "1234567890123456",
    "17976931348623157",
  ];
  const exponents = Array.from({ length: 660 }, (_, at) => at - 345);
  const values = digits.flatMap((one) => exponents.map((exponent) => Number(`${one}e${exponent}`)));
  assertWritten(values.filter(Number.isFinite).flatMap((value) => [value, -value]));
});

test("powers of two and their neighbours, whose distances to both sides differ", () => {
  const bits = new BigUint64Array(1);
  const [double] = [new Float64Array(bits.buffer)];
  const values: number[] = [];
  for (let exponent = 0n; exponent < 2047n; exponent += 1n)
    for (const change of [-2n, -1n, 0n, 1n, 2n]) {
      bits[0] = BigInt.asUintN(64, (exponent << 52n) + change);
      if (Number.isFinite(double[0]!)) values.push(double[0]!);
    }
  assertWritten(values);
});

test("random doubles, decimals and averages", () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const decimal = fc
    .tuple(fc.integer({ min: -(10 ** 13), max: 10 ** 13 }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, places]) => digits / 10 ** places);
  const average = fc
    .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 1, max: 10 ** 5 }))
    .map(([sum, count]) => sum / 1000 / count);
  const halfway = fc.maxSafeInteger().map((numerator) => numerator / 8);
  fc.assert(
    fc.property(fc.array(fc.oneof(finite, decimal, average, halfway, fc.maxSafeInteger())), assertWritten),
    { numRuns: 3000 },
  );
});

test("objects leave out cells without a number, and tables keep their place", () => {
  const rows = [
    [1, Number.NaN, -0, 4],
    [Number.NaN, Number.POSITIVE_INFINITY, 0.1 + 0.2, 1e21],
  ] as const;
  const times = [-5, 999_999_999_999, 1_780_000_999_999, 1_780_001_000_000];
  const labels = [',"a":', ',"longer than eight bytes, ü":'];
  const objects = new RowLayout({ start: '{"timestamp":', labels, end: "},", isTable: false });
  assert.deepEqual(JSON.parse(`[${written(objects, times, rows).slice(0, -1)}]`), [
    { timestamp: -5, a: 1 },
    { timestamp: 999_999_999_999 },
    { timestamp: 1_780_000_999_999, a: -0, "longer than eight bytes, ü": 0.1 + 0.2 },
    { timestamp: 1_780_001_000_000, a: 4, "longer than eight bytes, ü": 1e21 },
  ]);
  const table = new RowLayout({ start: "", labels: [",", ","], end: "\n", isTable: true });
  const lines = ["-5,1,", "999999999999,,", "1780000999999,-0,0.30000000000000004", "1780001000000,4,1e+21"];
  assert.equal(written(table, times, rows), `${lines.join("\n")}\n`);
});

test("times, also those a second and a day apart, over many steps", () => {
  for (const stepMs of [1, 1000, 86_400_000]) {
    const times = Array.from({ length: 1000 }, (_, at) => 1_599_999_000_000 + at * stepMs);
    const text = written(new RowLayout(line), times, [times]);
    assert.equal(text, times.map((time) => `${time},${time}\n`).join(""));
  }
});

test("a row of thousands of cells", () => {
  const columns = Array.from({ length: 20_000 }, (_, at) => [at / 7, -at]);
  const layout = new RowLayout({ start: "", labels: columns.map(() => ","), end: "\n", isTable: true });
  const lines = [0, 1].map((row) => [row, ...columns.map((one) => expectedText(one[row]!))].join(","));
  assert.equal(written(layout, [0, 1], columns), `${lines.join("\n")}\n`);
});
