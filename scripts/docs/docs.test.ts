// The checks on pages find what is missing and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generatedPages, table } from "./generated.ts";
import { problemsIn } from "./mentions.ts";

const root = new URL("../..", import.meta.url).pathname;
const place = { root, page: "docs/GUIDE.md", scripts: { check: "", bench: "" }, commands: ["serve"] };

test("a link, a file or a command that is not there is named", () => {
  assert.deepEqual(problemsIn("[a](../missing.md)", place), ["links to ../missing.md, which does not exist"]);
  assert.deepEqual(problemsIn("see `src/missing.ts`", place), [
    "names the file src/missing.ts, which does not exist",
  ]);
  assert.deepEqual(problemsIn("npm run misspelt", place), [
    "names the npm script misspelt, which does not exist",
  ]);
  assert.deepEqual(problemsIn("`millrace sreve`", place), ["names millrace sreve, which does not exist"]);
});

test("what is there, and what is elsewhere, is left alone", () => {
  const links = "[a](../package.json) [b](https://example.com/x) [c](#part)";
  const text = `${links} \`src/limits.ts\` npm run check, \`millrace serve\``;
  assert.deepEqual(problemsIn(text, place), []);
});

test("every setting, limit and failure has its row", () => {
  const pages = generatedPages();
  assert.match(pages["docs/SETTINGS.md"] ?? "", /\| `MILLRACE_PORT` \| `8787` \|/);
  assert.match(pages["docs/LIMITS.md"] ?? "", /\| `pointsPerWriteMax` \| 100 000 \| points \|/);
  assert.match(pages["docs/ERRORS.md"] ?? "", /\| ids-unknown \| 400 or 404 \| .* \| `notFound` \|/);
});

test("a bar in a cell does not end the cell", () => {
  assert.deepEqual(table(["a"], [["b|c"]]), ["| a |", "| --- |", "| b\\|c |"]);
});
