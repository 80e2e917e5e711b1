// Every spelling of a parameter that published clients use, and invalid ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../errors.ts";
import * as parameters from "./parameters.ts";

type Declared = parameters.Parameter<unknown>;
const decoded = (parameter: Declared, ...sent: string[]) =>
  parameters.parametersDecoder({ it: parameter })(sent.length === 1 ? { it: sent[0]! } : { it: sent })["it"];
const refused = (parameter: Declared, sent: string) =>
  assert.throws(
    () => decoded(parameter, sent),
    (problem) => problem instanceof Failure && problem.status === 400,
    sent,
  );

test("booleans in any capitalisation", () => {
  const parameter = parameters.boolean("");
  for (const sent of ["true", "True", "TRUE"]) assert.equal(decoded(parameter, sent), true);
  for (const sent of ["false", "False"]) assert.equal(decoded(parameter, sent), false);
  assert.equal(decoded(parameter), undefined);
  refused(parameter, "1");
});

test("lists of ids as JSON, with blanks, as repeated parameters, as strings, as one number", () => {
  const parameter = parameters.idList("");
  for (const sent of [["[1,2]"], ["[1, 2]"], ["1", "2"], ['["1","2"]'], ["[1]", "2"]])
    assert.deepEqual(decoded(parameter, ...sent), [1, 2]);
  assert.deepEqual(decoded(parameter, "7"), [7]);
  for (const sent of ["[]", ""]) assert.equal(decoded(parameter, sent), undefined);
  for (const sent of ["pump", "[1.5]", "[null]", "{}", "[[1]]"]) refused(parameter, sent);
});

test("metadata as JSON and as Python prints a dict; unreadable is no error", () => {
  const parameter = parameters.metadata("");
  assert.deepEqual(decoded(parameter, '{"a":"b"}'), { a: "b" });
  assert.deepEqual(decoded(parameter, "{'a': 'b', 'c\"d': 'e\\'f'}"), { a: "b", 'c"d': "e'f" });
  assert.deepEqual(decoded(parameter, `{"it's": 'a', 'b': "l'eau"}`), { "it's": "a", b: "l'eau" });
  assert.deepEqual(decoded(parameter, "{'n': 'a\\nb', 'x': '\\x7f\\\\', 'q': '\"'}"), {
    n: "a\nb",
    x: "\x7f\\",
    q: '"',
  });
  assert.equal(decoded(parameter, "null"), undefined);
  assert.equal(decoded(parameter, "{a:b"), "unreadable");
});

test("metadata has at most as many pairs as that of a record", () => {
  const parameter = parameters.metadata("");
  const pairs = (count: number) => Array.from({ length: count }, (_, i) => [`k${i}`, "v"]);
  const most = Object.fromEntries(pairs(256));
  assert.deepEqual(decoded(parameter, JSON.stringify(most)), most);
  assert.throws(() => decoded(parameter, JSON.stringify({ ...most, more: "v" })), {
    message: "it may hold at most 256 items but holds 257",
  });
});

test("integers within their bounds, as decimal digits", () => {
  const parameter = parameters.integer("", { min: 0 });
  assert.equal(decoded(parameter, "100"), 100);
  assert.equal(decoded(parameter, "100.0"), 100);
  for (const sent of ["-1", "1.5", "ten", "0x10", " ", "1e400", "9007199254740992"]) refused(parameter, sent);
});

test("page sizes are lowered to the maximum and have a default", () => {
  const parameter = parameters.pageSize({ byDefault: 25, max: 1000 });
  assert.equal(decoded(parameter), 25);
  assert.equal(decoded(parameter, "100000"), 1000);
  assert.equal(decoded(parameter, "0"), 0);
  refused(parameter, "-1");
});

test("words in any capitalisation come out as declared; required ones are missed by name", () => {
  const parameter = parameters.oneOfWords("", ["asc", "desc"]);
  assert.equal(decoded(parameter, "DESC"), "desc");
  refused(parameter, "up");
  assert.throws(() => decoded(parameters.required(parameter)), /Missing required field - it/);
});
