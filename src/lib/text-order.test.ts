// Strings sorted with a radix sort are in the order of `compareText`.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareText } from "./text.ts";
import { TextColumn } from "./text-order.ts";

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."ab-1"), maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 4 }),
  fc
    .array(fc.constantFrom("\ud800", "\udfff", "\ue000", "\uffff", "\u{10000}"), { maxLength: 3 })
    .map((all) => all.join("")),
);

test("strings are sorted by code point, forwards and backwards, equal ones in stable order", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 40 }), (strings) => {
      const numbered = strings.map((one, at) => ({ one, at }));
      const expected = numbered.toSorted((a, b) => compareText(a.one, b.one)).map(({ at }) => at);
      const column = TextColumn.of(strings);
      assert.deepEqual([...column.order()], expected);
      const backwards = strings.map((one) => one.split("").reverse().join(""));
      assert.deepEqual(column.reversed(), TextColumn.of(backwards));
    }),
    { numRuns: 500 },
  );
});
