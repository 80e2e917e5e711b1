// The catalogue of failures lists every status and shows no regular expression.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { catalogue, fail } from "./errors.ts";
import { describe } from "./resources.ts";
import { patternWords } from "./rest/fields.ts";
import { apiVersions } from "./rest/route.ts";

const page = readFileSync(new URL("../docs/ERRORS.md", import.meta.url), "utf8");

test("every status of a refusal is in the catalogue and on its page", () => {
  const statuses = Object.values(catalogue).map(({ status }) => status);
  for (const status of [400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429, 431, 500, 503]) {
    assert.ok(statuses.includes(status as 400), `${status}`);
    assert.match(page, new RegExp(`^\\| [\\w-]+ \\| ([\\d or]+ )?${status} `, "m"));
  }
  assert.match(page, /^\| ids-unknown \| 400 or 404 \|/m);
  const unlisted = { field: "items", ids: [1], status: 409 } as unknown as { field: string; ids: number[] };
  assert.throws(() => fail("ids-unknown", unlisted), /ids-unknown lists the status 409/);
});

/** The value of each member `pattern` within. */
function patternsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "pattern" && typeof member === "string" ? [member] : patternsIn(member),
  );
}

test("each pattern of a body has words for its refusal", () => {
  const patterns = new Set(apiVersions.flatMap((version) => patternsIn(describe(version))));
  assert.ok(patterns.size > 3);
  for (const pattern of patterns) assert.ok(patternWords[pattern], pattern);
});
