// Numbers written as text are read back as the same doubles.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { numberBytesMax, writeInteger, writeNumber } from "./number-text.ts";

const bytes = Buffer.alloc(100);
const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

function written(write: typeof writeNumber, value: number): string {
  bytes.fill("#");
  const end = write(view, 3, value);
  assert.ok(end - 3 <= numberBytesMax, `${value} fits`);
  const around = bytes.toString("latin1", 0, 3) + bytes.toString("latin1", 3 + numberBytesMax);
  assert.match(around, /^#+$/, `${value} stays within its room`);
  return bytes.toString("latin1", 3, end);
}

test("known numbers", () => {
  const strings: [number, string][] = [
    [0, "0"],
    [-0, "-0"],
    [7, "7"],
    [-42, "-42"],
    [10, "10"],
    [99.5, "99.5"],
    [100.123, "100.123"],
    [0.001, "0.001"],
    [-0.000001, "-0.000001"],
    [1e9, "1000000000"],
    [999999999.999, "999999999.999"],
    [123456.789012, "123456.789012"],
    [-1999999.999, "-1999999.999"],
    [2000000.001, "2000000.001"],
    [1000.001, "1000.001"],
    [-20.05, "-20.05"],
    [1e15, "1000000000000000"],
    [0.1 + 0.2, "0.30000000000000004"],
    [5e-324, "5e-324"],
    [-Number.MAX_VALUE, "-1.7976931348623157e+308"],
    [1600000000001, "1600000000001"],
    [2 ** 53, "9007199254740992"],
  ];
  for (const [value, text] of strings) assert.equal(written(writeNumber, value), text);
});

test("every finite double survives", () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const decimals = fc
    .tuple(fc.integer({ min: -(10 ** 13), max: 10 ** 13 }), fc.integer({ min: 0, max: 9 }))
    .map(([digits, places]) => digits / 10 ** places);
  fc.assert(
    fc.property(fc.oneof(finite, decimals), (value) => {
      const text = written(writeNumber, value);
      if (Math.abs(value) >= 1e-6 && Math.abs(value) < 1e21 && value !== 0) assert.equal(text, String(value));
      assert.ok(Object.is(JSON.parse(text), value), `${value} came back as ${text}`);
    }),
    { numRuns: 2000 },
  );
});

test("every safe integer is written in digits", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.integer({ min: -4e12, max: 4e12 })),
      (value) => {
        assert.equal(written(writeInteger, value), String(value));
      },
    ),
    { numRuns: 2000 },
  );
});
