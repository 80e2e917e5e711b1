// Integers that no number holds are found in every way that they are written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exactInteger, exactNumberIn } from "./integers.ts";

test("an integer is a number if one has its value, also beyond 2^53", () => {
  for (const exact of [0n, -5n, 2n ** 53n, 2n ** 60n, -(2n ** 63n)])
    assert.equal(exactInteger(exact), Number(exact));
  for (const other of [2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 64n - 1n]) {
    assert.equal(exactInteger(other), other);
    assert.equal(exactInteger(other, "rounded"), Number(other));
  }
});

test("decimal digits are a number only without a loss; all other strings are none", () => {
  const strings: readonly (readonly [text: string, expected: number | bigint])[] = [
    ["9007199254740992", 2 ** 53],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["+9007199254740993", 9_007_199_254_740_993n],
    [" -9007199254740993 ", -9_007_199_254_740_993n],
    ["000000000000000000001", 1],
    ["0.12345678901234567890", 0.12345678901234568],
    ["9007199254740993e0", 2 ** 53],
    ["1234567890123456x", Number.NaN],
    [" 1.5e3 ", 1_500],
    ["", Number.NaN],
    ["  ", Number.NaN],
    ["0x10", Number.NaN],
    ["Infinity", Number.NaN],
  ];
  for (const [text, expected] of strings) assert.equal(exactNumberIn(text), expected, text);
});
