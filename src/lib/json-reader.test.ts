// The JSON reader returns the values of JSON.parse in steps of any size, and stops at its bounds.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type JsonBounds, JsonMalformed, JsonReader, JsonText, JsonTooLarge } from "./json-reader.ts";

const unbounded: JsonBounds = {
  values: Infinity,
  levels: Infinity,
  members: Infinity,
  stringBytes: Infinity,
  textBytes: Infinity,
};

type Reading = ConstructorParameters<typeof JsonReader>[1];

function read(text: string | Buffer, reading: Partial<Reading> = {}, step = Infinity): JsonReader {
  const reader = new JsonReader(Buffer.from(text), { ...unbounded, ...reading });
  while (!reader.read(step));
  return reader;
}

const blanks = fc.constantFrom("", "", "", " ", "\n", "\r\n\t");
const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;
const string = fc
  .oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\\", '"', '\\"', "{}[],:", "\n", "items", "o"))
  .chain((text) =>
    fc.constantFrom(
      JSON.stringify(text),
      `"${Array.from({ length: text.length }, (_, i) => escaped(text.charCodeAt(i))).join("")}"`,
    ),
  );
const key = fc.oneof(string, fc.constantFrom('"a"', '"__proto__"', '"1"', '"\\\\"', '"\\n"'));
const word = fc.oneof(
  fc.constantFrom("1.0", "1e400", "-0", "12345678901234567890", "1E-7", "true", "false", "null"),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);

/** Random JSON, every form of writing among them. */
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
      fc.array(fc.tuple(blanks, key, blanks, tie("value"), blanks), {
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

/** A value with its objects as lists of pairs, read by JSON.parse from a text without keys. */
function pairsIn(text: string): unknown {
  const marks: Readonly<Record<string, string>> = {
    "{": '["object",[',
    "}": "]]",
    ":": ",",
    "[": '["list",[',
    "]": "]]",
  };
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g, (piece) => marks[piece] ?? piece));
}

interface Naive {
  readonly value: unknown;
  readonly count: number;
  readonly levels: number;
}

function naive(pairs: unknown): Naive {
  if (!Array.isArray(pairs)) return { value: pairs, count: 1, levels: 0 };
  const [kind, parts] = pairs as ["list" | "object", unknown[]];
  const isList = kind === "list";
  const inner = parts.filter((_, index) => isList || index % 2 === 1).map(naive);
  const object = {};
  if (!isList)
    for (const [index, { value }] of inner.entries())
      Object.defineProperty(object, parts[2 * index] as string, {
        ...{ value, writable: true, enumerable: true, configurable: true },
      });
  return {
    value: isList ? inner.map(({ value }) => value) : object,
    count: inner.reduce((sum, one) => sum + one.count, 1),
    levels: 1 + Math.max(0, ...inner.map(({ levels }) => levels)),
  };
}

test("a value is what JSON.parse finds, and its size what a plain count finds, whatever the steps", () => {
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 40 }), blanks, (text, step, blank) => {
      JSON.parse('{"\\\\":0}'); // After this, JSON.parse reads other keys with escapes wrongly.
      const expected = naive(pairsIn(text));
      const reader = read(`${blank}${text}${blank}`, {}, step);
      assert.deepEqual(reader.value, expected.value);
      assert.equal(reader.count, expected.count);
      const { count: values, levels } = expected;
      assert.deepEqual(read(text, { values, levels }).value, expected.value);
      assert.throws(() => read(text, { values: values - 1 }), JsonTooLarge);
      if (levels > 0) assert.throws(() => read(text, { levels: levels - 1 }), JsonTooLarge);
    }),
    { numRuns: 2_000 },
  );
});

test("a text with a few bytes changed is refused exactly when JSON.parse refuses it", () => {
  const pieces = fc.constantFrom(
    ...'0123456789"{}[],:.-+eEu x\\tn\n',
    "null",
    "tru",
    "\\u00",
    "\ufeff",
    "\0",
    "ø",
  );
  fc.assert(
    fc.property(value, fc.array(fc.tuple(fc.nat(), fc.nat(2), pieces), { maxLength: 3 }), (text, edits) => {
      let changed = text;
      for (const [place, taken, put] of edits) {
        const at = place % (changed.length + 1);
        changed = changed.slice(0, at) + put + changed.slice(at + taken);
      }
      const whole = changed.toWellFormed();
      let isJson = true;
      try {
        JSON.parse(whole.replace(/^\ufeff/, ""));
      } catch {
        isJson = false;
      }
      if (isJson) read(whole, {}, 3);
      else assert.throws(() => read(whole, {}, 3), JsonMalformed, whole);
    }),
    { numRuns: 3_000 },
  );
});

test("strings, objects and numbers have their bounds, in open data as well", () => {
  const long = `"${"x".repeat(98)}"`;
  const keptText = ["data"];
  assert.equal(read(long, { stringBytes: 100 }).value, "x".repeat(98));
  const tooMany: [text: string, reading: Partial<Reading>, what: keyof JsonBounds][] = [
    [long, { stringBytes: 99 }, "stringBytes"],
    [`{${long}:1}`, { stringBytes: 99 }, "stringBytes"],
    [`{"data":{"a":${long}}}`, { textBytes: 99, keptText }, "textBytes"],
    [`{"data":{"a":"${"x".repeat(90)}","b":1}}`, { textBytes: 99, keptText }, "textBytes"],
    ['{"data":{"a":[[1]]}}', { levels: 3, keptText }, "levels"],
    ['{"a":1,"a":2,"a":3}', { members: 2 }, "members"],
  ];
  for (const [text, reading, what] of tooMany)
    assert.throws(
      () => read(text, reading),
      (problem) => problem instanceof JsonTooLarge && problem.what === what,
    );
  assert.throws(() => read(`[${"1".repeat(10_000)}]`), JsonMalformed);
  assert.throws(() => read('{"a":{"\\u005f_proto__":1}}', { refusedKey: "__proto__" }), JsonMalformed);
});

test("nulls are left out of objects alone, whichever of several members is the last", () => {
  const { value } = read('{"a":null,"b":1,"b":null,"c":null,"c":2,"d":[null,{"e":null}]}', {
    dropsNulls: true,
  });
  assert.equal(JSON.stringify(value), '{"c":2,"d":[null,{}]}');
});

test("objects at a path stay as they were written, each one value", () => {
  const text =
    ' {"items":[{"data": {"a" : 1.0,"\\n":[1e400, {}]} ,"data2":{"data":{}}},{"data":[{}]}],"data":{}}';
  const reader = read(text, { keptText: ["items", "data"] }, 1);
  const { items, data } = reader.value as {
    items: { data: unknown; data2?: { data: unknown } }[];
    data: object;
  };
  assert.equal(JsonText.of(items[0]?.data), '{"a" : 1.0,"\\n":[1e400, {}]}');
  assert.deepEqual([items[0]?.data2, items[1]?.data, data], [{ data: {} }, [{}], {}]);
  assert.equal(JsonText.of(data), undefined);
  assert.equal(reader.count, 10);
  for (const broken of ["01", '{"a"}', "[1,]", '"\\x"', "{", "nul"])
    assert.throws(
      () => read(`{"items":[{"data":{"a":${broken}}}]}`, { keptText: ["items", "data"] }),
      JsonMalformed,
    );
});
