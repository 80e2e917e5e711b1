// Strings that a spreadsheet would run are escaped, numbers and ordinary strings are not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutFormula } from "./csv.ts";

test("formulas get an apostrophe", () => {
  const formulas = [
    ...["=1+2", "=cmd|' /C calc'!A0", "+1+2", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\nx", "  =1", "\u0000=1"],
    ...["-", "+x", "-a", "\uff1d1", "+1 2", "-1-1", "-0x1F", "-.", "\u00a0=1"],
  ];
  for (const text of formulas) assert.equal(withoutFormula(text), `'${text}`, JSON.stringify(text));
});

test("numbers and other strings stay as they are", () => {
  const others = [
    "",
    "-1",
    "+1",
    "-1.5e-3",
    "-.5",
    "+5.",
    " -1",
    "1-1",
    "a=b",
    "pump-1",
    "'=1",
    "x@y",
    " x",
    "{}",
  ];
  for (const text of others) assert.equal(withoutFormula(text), text, JSON.stringify(text));
});
