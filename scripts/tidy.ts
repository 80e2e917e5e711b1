// Checks the code rules and lists each line that breaks one. With --fix it first wraps long comments and
// joins the lines of paragraphs in docs.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { conflictFindings, findingsIn } from "./tidy/findings.ts";
import { lockFileFindings } from "./tidy/lock-file.ts";
import { joinParagraphs, wrappedParagraphs } from "./tidy/paragraphs.ts";
import { docsTermFindings } from "./tidy/plain-terms.ts";
import { sourcesOfProject } from "./tidy/source.ts";
import { wrapComments } from "./tidy/wrap.ts";

const root = new URL("..", import.meta.url).pathname;
if (process.argv.includes("--fix")) wrapAll();
const sources = sourcesOfProject(root);
const lockFiles = [
  "",
  "src/connectors/opcua/",
  "packages/node-red-contrib-millrace/",
  "scripts/kernels/",
].map((folder) => `${folder}package-lock.json`);
const docs = docPaths().map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
const findings = [
  ...findingsIn(sources),
  ...lockFiles.flatMap((path) => lockFileFindings(readFileSync(join(root, path), "utf8"), path)),
  ...docs.flatMap((page) => [
    ...wrappedParagraphs(page.path, page.text),
    ...docsTermFindings(page.path, page.text),
    ...conflictFindings(page),
  ]),
];
for (const { path, line, problem } of findings) console.log(`${path}:${line} ${problem}`);
if (findings.length > 0) {
  console.log(`\n${findings.length} lines break the code rules.`);
  process.exitCode = 1;
} else {
  console.log(`${sources.length} files keep the code rules.`);
}

function wrapAll(): void {
  for (const { path, text } of sourcesOfProject(root)) {
    const wrapped = wrapComments(text);
    if (wrapped !== text) writeFileSync(join(root, path), wrapped);
  }
  for (const path of docPaths()) {
    const text = readFileSync(join(root, path), "utf8");
    const joined = joinParagraphs(text);
    if (joined !== text) writeFileSync(join(root, path), joined);
  }
}

function docPaths(): string[] {
  const exclude = (path: string) => /node_modules|^release\b|^console\/dist\b/.test(path);
  return globSync("**/*.md", { cwd: root, exclude })
    .filter((path) => !exclude(path))
    .sort();
}
