// The checks of docs find each missing target, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { headingsOf } from "./headings.ts";
import { brokenCitations, citesPageOfRoutes, missingSources, problemsIn } from "./mentions.ts";
import { generatedPages, table } from "./pages.ts";

const root = new URL("../..", import.meta.url).pathname;
const headings = () => new Set(["pages"]);
const code = { root, headings };
const place = { ...code, page: "docs/README.md", scripts: { check: "", bench: "" }, commands: ["serve"] };

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
  const links = "[a](../package.json) [b](https://example.com/x#part) [c](reference/common.md#pages)";
  const text = `${links} \`src/limits.ts\` npm run check, \`millrace serve\``;
  assert.deepEqual(problemsIn(text, place), []);
});

test("a link to a heading that is not there is named, on the same page and on others", () => {
  const wrong = (link: string) => [`links to ${link}, which does not exist`];
  const inReference = { ...place, page: "docs/reference/common.md" };
  assert.deepEqual(problemsIn("[a](#pages) [b](#page)", inReference), wrong("#page"));
  assert.deepEqual(problemsIn("[a](odata.md#pages) [b](odata.md#page)", inReference), wrong("odata.md#page"));
  assert.deepEqual(problemsIn("[a](missing.md#pages)", inReference), wrong("missing.md#pages"));
});

test("a page or heading that code cites and that is not there is named", () => {
  const page = "docs/reference/common.md";
  assert.deepEqual(brokenCitations(`(${page}#pages), ${page}.`, code), []);
  assert.deepEqual(brokenCitations(`(${page}#page)`, code), [`cites ${page}#page, which does not exist`]);
  const missing = "docs/reference/missing.md";
  assert.deepEqual(brokenCitations(missing, code), [`cites ${missing}, which does not exist`]);
});

test("a document that is not in the repository is named where it is cited", () => {
  const cited = [
    "platform-api Assets",
    "Client-endpoints 4.2",
    "odata.md 4.3",
    "odata.md D18",
    "(b) 20",
    "(C5)",
  ];
  for (const one of [...cited, "((b) 23)", "(client-endpoints C1)", "as the requirement says"])
    assert.equal(missingSources(`// Kept (${one}).`).length > 0, true, one);
  assert.deepEqual(missingSources("docs/reference/odata.md#values, [odata.md](odata.md), (C) 2026, %C3"), []);
});

test("a file of routes cites its page in its first comment", () => {
  const routes = "export const assetRoutes: readonly Route[] = [];";
  assert.ok(citesPageOfRoutes(`// Assets over REST.\n// See docs/reference/assets.md.\n${routes}`));
  assert.ok(!citesPageOfRoutes(`// Assets over REST.\n${routes} // docs/reference/assets.md`));
  assert.ok(citesPageOfRoutes("// No routes."));
});

test("headings become the fragments that lead to them", () => {
  const page = ["# `GET` a, b & c", "", "```sh", "# no heading", "```", "## Pages", "## Pages", "#none"];
  assert.deepEqual([...headingsOf(page.join("\n"))], ["get-a-b--c", "pages", "pages-1"]);
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
