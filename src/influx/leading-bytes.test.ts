// Words compare and read the same as bytes, at every offset.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/support/proof.ts";
import { endOfLeading, LeadingBytes, wholeNumber } from "./leading-bytes.ts";

const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const someBytes = (lengths: fc.ArrayConstraints) =>
  fc.array(fc.integer({ min: 0, max: 255 }), lengths).map((bytes) => Buffer.from(bytes));

test("leading bytes are found where they are, and nowhere else", () => {
  const found = { yes: 0, no: 0 };
  fc.assert(
    fc.property(
      someBytes({ maxLength: 5 }),
      someBytes({ minLength: 1, maxLength: 25 }),
      fc.nat(6),
      fc.option(fc.tuple(fc.nat(24), fc.nat(7)), { nil: undefined }),
      (before, expected, after, flip) => {
        const sent = Buffer.from(expected);
        if (flip) sent[flip[0] % sent.length]! ^= 1 << flip[1];
        const bytes = Buffer.concat([before, sent, Buffer.alloc(after, 255)]);
        const leading = new LeadingBytes(expected);
        const end = endOfLeading(viewOf(bytes), bytes.length, before.length, leading);
        const isThere = !flip && after >= 3;
        assert.equal(end, isThere ? before.length + expected.length : -1);
        found[isThere ? "yes" : "no"] += 1;
      },
    ),
    runs(2_000, 200_000),
  );
  assert.ok(Math.min(found.yes, found.no) > 100, JSON.stringify(found));
});

const digits = (lengths: fc.StringConstraints) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), ...lengths });

test("1 to 15 digits are read as their number", () => {
  fc.assert(
    fc.property(
      fc.oneof(digits({ minLength: 13, maxLength: 13 }), digits({ minLength: 1, maxLength: 15 })),
      fc.nat(5),
      (text, at) => {
        const bytes = Buffer.from(`${"9".repeat(at)}${text}9`);
        assert.equal(wholeNumber(viewOf(bytes), at, at + text.length), Number(text));
      },
    ),
    runs(2_000, 200_000),
  );
});

test("no number has another byte among its digits, or more or fewer of them", () => {
  for (const length of [1, 4, 10, 13, 15])
    for (let at = 0; at < length; at += 1)
      for (let byte = 0; byte < 256; byte += 1) {
        const bytes = Buffer.from("1".repeat(length));
        bytes[at] = byte;
        const isDigit = byte >= 48 && byte <= 57;
        const expected = isDigit ? Number(bytes.toString()) : Number.NaN;
        assert.equal(wholeNumber(viewOf(bytes), 0, length), expected, `byte ${byte} at ${at} of ${length}`);
      }
  const many = Buffer.from("1".repeat(20));
  for (const [from, to] of [
    [0, 0],
    [3, 1],
    [0, 16],
  ] as const)
    assert.equal(wholeNumber(viewOf(many), from, to), Number.NaN);
});
