// The tokens of queries, as SQLite reads them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SqlFailure } from "./sql-runner.ts";
import { sameName, tokensOf } from "./tokens.ts";

const kindsOf = (sql: string) => tokensOf(sql).map(({ kind, value }) => `${kind} ${value}`);

test("names, strings, numbers and comments", () => {
  const sql = `SELECT "a""b".\`c\`, [d e], 'it''s -- no' -- is_new('x')\n/* 'y' */ ->> 1.5e-3 <> .5 é$`;
  assert.deepEqual(kindsOf(sql), [
    "word SELECT",
    'identifier a"b',
    "symbol .",
    "identifier c",
    "symbol ,",
    "identifier d e",
    "symbol ,",
    "string it's -- no",
    "symbol ->>",
    "number 1.5e-3",
    "symbol <>",
    "number .5",
    "word é$",
  ]);
  const [, second] = tokensOf(sql);
  assert.equal(sql.slice(second!.start, second!.end), '"a""b"');
});

test("a quote without its end is refused at its place", () => {
  for (const sql of ["select 'a", 'select "a""', "select `a", "select [a"])
    assert.throws(
      () => tokensOf(sql),
      (problem) => problem instanceof SqlFailure && problem.problem.kind === "syntax",
      sql,
    );
});

test("names are compared without regard to the case of ASCII letters only", () => {
  assert.ok(sameName("Pumps", "pUMPS"));
  assert.ok(!sameName("ÅL", "ål"));
});
