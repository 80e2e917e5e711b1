// Parts cut out of a JSON text have the values of JSON.parse, in their original form.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson } from "./json.ts";
import { elementsIn, membersIn, stringIn } from "./json-text.ts";

const blanks = fc.constantFrom("", "", "", " ", "\n", "\r\n\t");
const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;
const string = fc
  .oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\\", '"', '\\"', "{}[],:", "__proto__", "items"))
  .chain((text) =>
    fc.constantFrom(
      JSON.stringify(text),
      `"${Array.from({ length: text.length }, (_, i) => escaped(text.charCodeAt(i))).join("")}"`,
    ),
  );
const word = fc.constantFrom("1.0", "1e400", "-0", "12345678901234567890", "1E-7", "true", "false", "null");

/** Random JSON documents in every notation. */
const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, depthIdentifier: "json" }, word, string, tie("list"), tie("object")),
  list: fc
    .tuple(
      fc.array(fc.tuple(blanks, tie("value"), blanks), { maxLength: 4, depthIdentifier: "json" }),
      blanks,
    )
    .map(([all, blank]) => `[${all.map((parts) => parts.join("")).join(",") || blank}]`),
  object: fc
    .tuple(
      fc.array(fc.tuple(blanks, string, blanks, tie("value"), blanks), {
        maxLength: 4,
        depthIdentifier: "json",
      }),
      blanks,
    )
    .map(
      ([all, blank]) =>
        `{${all.map(([a, name, b, one, c]) => `${a}${name}${b}:${b}${one}${c}`).join(",") || blank}}`,
    ),
}));

/** A value assembled from its parts. */
function rebuilt(text: string): unknown {
  if (text[0] === "[") return elementsIn(text, 0).map(({ start, end }) => rebuilt(text.slice(start, end)));
  if (text[0] === "{")
    return new Map(
      membersIn(text, 0).map(({ name, valueStart, end }) => [name, rebuilt(text.slice(valueStart, end))]),
    );
  assert.equal(text.trim(), text, "a value is cut without the blanks around it");
  return text[0] === '"' ? stringIn(text, 0, text.length) : JSON.parse(text);
}

const asMaps = (found: unknown): unknown => {
  if (Array.isArray(found)) return found.map(asMaps);
  if (typeof found !== "object" || found === null) return found;
  return new Map(Object.entries(found).map(([name, one]) => [name, asMaps(one)]));
};

test("the parts of a JSON text have the values of JSON.parse", () => {
  fc.assert(
    fc.property(value, (text) => {
      assert.deepEqual(rebuilt(text), asMaps(parseJson(text)));
    }),
    { numRuns: 2000 },
  );
});

test("numbers are cut as they were written", () => {
  const written = ["1.0", "1e400", "-0", "12345678901234567890123", "1E-7", "0.10"];
  const text = `[ ${written.join(" , ")} ]`;
  assert.deepEqual(
    elementsIn(text, 0).map(({ start, end }) => text.slice(start, end)),
    written,
  );
});

test("a member includes its name and its value", () => {
  const text = ' {"a" : 1.0 , "b\\"\\\\":{"x":[1e400]},"":"}"}';
  const cut = membersIn(text, 1).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(cut, ['"a" : 1.0', '"b\\"\\\\":{"x":[1e400]}', '"":"}"']);
});
