// Keys written with escapes are parsed correctly, after any earlier parse in the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson } from "./json.ts";

const keys = fc.oneof(
  fc.constantFrom("", "\\", '"', "\0", "\n", "a\\", 'a"', "a", "o", "__proto__", "{", '":', "1"),
  fc.string({ unit: fc.constantFrom("a", "\\", '"', "\n", ":", "{"), maxLength: 4 }),
);

test("random objects come back as they were written", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, 1.5, true, "\\", '"{:'),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (data) => {
      JSON.parse('{"\\\\":0}'); // The key `\\` makes later calls of JSON.parse misread keys (json.ts).
      assert.equal(JSON.stringify(parseJson(JSON.stringify(data, undefined, 1))), JSON.stringify(data));
    }),
    { numRuns: 2_000 },
  );
});

test("what is not JSON is refused", () => {
  for (const text of ['{"a\\n":1', '{"a\\n",1}', '{"o\\n":1}}', '{"\\n":}', "", '["\\n":1]']) {
    assert.throws(() => parseJson(text), SyntaxError);
  }
});
