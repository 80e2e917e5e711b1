// The reader of JSON bytes returns the values of JSON.parse, or undefined.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/support/proof.ts";
import { JsonBytes, memberName, openBrace } from "./json-bytes.ts";
import { StringCache } from "./string-cache.ts";

const jsonBytes = (bytes: Buffer) => new JsonBytes(bytes, new StringCache(1));

const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{0,${max}}$`));
const numberLike = fc
  .tuple(
    fc.constantFrom("", "-", "+", " ", "--"),
    digits(20),
    fc.constantFrom("", "."),
    digits(20),
    fc.constantFrom("", "", "e", "E", "e+", "e-"),
    digits(3),
  )
  .map((parts) => parts.join(""));

/** The result of JSON.parse for a number and nothing else. */
function parsed(text: string): number | undefined {
  try {
    const value: unknown = JSON.parse(`[${text}]`)[0];
    return typeof value === "number" ? value : undefined;
  } catch {
    return undefined;
  }
}

function assertSameNumber(text: string): void {
  const reader = jsonBytes(Buffer.from(`${text}}`));
  const value = reader.number();
  const isWhole = !Number.isNaN(value) && reader.take(125) && reader.end();
  const expected = parsed(text);
  if (expected === undefined) assert.ok(!isWhole, `${text} is no number but was read as ${value}`);
  else assert.ok(isWhole && Object.is(value, expected), `${text} was read as ${value}`);
}

test("numbers are the doubles that JSON.parse finds", () => {
  const known = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "1e3",
    "1E-7",
    "01",
    "1.",
    ".5",
    "-",
    "",
    "1e",
    "1e+",
    "+1",
    "0x1",
    "1e999",
  ];
  const long = [
    "123456789012345",
    "1234567890123456",
    "9007199254740993",
    "0.1234567890123456789",
    "84.12345678901234",
  ];
  for (const text of [...known, ...long, "123456789.123456", "999999999.999999", "1234567890.5", " 7"])
    assertSameNumber(text);
  fc.assert(fc.property(numberLike, assertSameNumber), runs(5000, 500_000));
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }).map(JSON.stringify), assertSameNumber),
  );
});

test("strings without escapes are read, others are passed to JSON.parse", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const json = JSON.stringify(text);
      const found = jsonBytes(Buffer.from(json)).string();
      assert.equal(found, json.includes("\\") ? undefined : text);
    }),
  );
  assert.equal(jsonBytes(Buffer.from('"no end')).string(), undefined);
  assert.equal(jsonBytes(Buffer.from('"line\nbreak"')).string(), undefined);
});

test("members are passed with the blanks around them, others are left where they are", () => {
  const reader = jsonBytes(Buffer.from(' {\n"value" :\t1'));
  assert.ok(reader.take(openBrace));
  assert.ok(!reader.member(memberName("val")));
  assert.ok(!reader.member(memberName("values")));
  assert.ok(reader.member(memberName("value")));
  assert.equal(reader.number(), 1);
  assert.ok(reader.end());
});
