// Patterns over browse paths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathMatcher } from "./patterns.ts";

test("`*` stays within a name, `**` takes any number of names", () => {
  const cases: readonly (readonly [pattern: string, path: string, isMatch: boolean])[] = [
    ["**", "A", true],
    ["**", "A/B/C", true],
    ["A/*", "A/B", true],
    ["A/*", "A/B/C", false],
    ["A/*", "A", false],
    ["A/**", "A", true],
    ["A/**", "A/B/C", true],
    ["A/**", "AB/C", false],
    ["**/Speed", "Speed", true],
    ["**/Speed", "A/B/Speed", true],
    ["**/Speed", "A/MaxSpeed", false],
    ["A/**/T*1", "A/T11", true],
    ["A/**/T*1", "A/B/T2", false],
    ["A.B/(1)+", "A.B/(1)+", true],
    ["A.B", "AxB", false],
  ];
  for (const [pattern, path, isMatch] of cases)
    assert.equal(pathMatcher([pattern])(path), isMatch, `${pattern} ${path}`);
  assert.equal(pathMatcher([])("A"), false);
});
