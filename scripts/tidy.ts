// The house rules as a program: names each line that breaks one; with --fix, wraps long comments first.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findingsIn } from "./tidy/findings.ts";
import { lockFileFindings } from "./tidy/lock-file.ts";
import { sourcesOfProject } from "./tidy/source.ts";
import { wrapComments } from "./tidy/wrap.ts";

const root = new URL("..", import.meta.url).pathname;
if (process.argv.includes("--fix")) wrapAll();
const sources = sourcesOfProject(root);
const lockFile = readFileSync(join(root, "package-lock.json"), "utf8");
const findings = [...findingsIn(sources), ...lockFileFindings(lockFile)];
for (const { path, line, problem } of findings) console.log(`${path}:${line} ${problem}`);
if (findings.length > 0) {
  console.log(`\n${findings.length} places break the house rules.`);
  process.exitCode = 1;
} else {
  console.log(`${sources.length} files keep the house rules.`);
}

function wrapAll(): void {
  for (const { path, text } of sourcesOfProject(root)) {
    const wrapped = wrapComments(text);
    if (wrapped !== text) writeFileSync(join(root, path), wrapped);
  }
}
