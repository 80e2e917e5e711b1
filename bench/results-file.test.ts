// A section of the figures of record is replaced by its heading, and all others stay.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { chartsOf } from "./charts.ts";
import { withSection } from "./results-file.ts";

test("a section is added after the others, and replaced in its position", () => {
  const first = withSection("# Results\n", "Scale", "one\n");
  assert.equal(first, "# Results\n\n## Scale\n\none\n");
  const both = withSection(first, "Codecs", "two");
  assert.equal(both, "# Results\n\n## Scale\n\none\n\n## Codecs\n\ntwo\n");
  const again = withSection(both, "Scale", "three\n\n### Part\n\nfour");
  assert.equal(again, "# Results\n\n## Scale\n\nthree\n\n### Part\n\nfour\n\n## Codecs\n\ntwo\n");
  assert.equal(withSection(again, "Scale", "one"), both);
  assert.match(withSection(again, "Sca", "one"), /## Sca\n\none\n$/);
});

test("the charts show the figures of the tables", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const charts = chartsOf(read("RESULTS.md"));
  assert.equal(charts.length, 2);
  for (const { file, svg } of charts)
    assert.equal(read(`images/${file}`), svg, `images/${file} is out of date`);
});
