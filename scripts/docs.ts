// Writes the generated pages of docs/. With --check it lists generated pages that are out of date, and
// references in docs to targets that do not exist.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { brokenMentions } from "./docs/mentions.ts";
import { generatedPages } from "./docs/pages.ts";
import { joinParagraphs } from "./tidy/paragraphs.ts";

const root = new URL("..", import.meta.url).pathname;
const check = process.argv.includes("--check");
const problems: string[] = [];

for (const [path, lines] of Object.entries(generatedPages())) {
  const text = joinParagraphs(lines);
  if (check && contentOf(path) !== text) problems.push(`${path} is not what the code says; run npm run docs`);
  if (!check) write(path, text);
}
if (check) problems.push(...brokenMentions(root));

for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(root + path, "utf8");
  } catch {
    return undefined;
  }
}

function write(path: string, text: string): void {
  if (contentOf(path) === text) return;
  mkdirSync(`${root}docs`, { recursive: true });
  writeFileSync(root + path, text);
  console.log(`wrote ${path}`);
}
