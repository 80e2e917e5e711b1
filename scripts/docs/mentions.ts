// What the pages mention (files, links, commands) and whether it is there.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const pagePatterns = ["*.md", "docs/**/*.md", "bench/*.md"];

/** One line for each mention of a file, link or npm script that does not exist. */
export function brokenMentions(root: string): string[] {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  const commands = commandsOf(root);
  return globSync(pagePatterns, { cwd: root }).flatMap((page) =>
    readFileSync(join(root, page), "utf8")
      .split("\n")
      .flatMap((text, index) =>
        problemsIn(text, { root, page, scripts, commands }).map((one) => `${page}:${index + 1} ${one}`),
      ),
  );
}

/** The commands that the program's own overview lists. */
function commandsOf(root: string): string[] {
  const { stdout } = spawnSync(process.execPath, [join(root, "src/main.ts"), "help"], { encoding: "utf8" });
  return matches(stdout, /^ {2}([a-z]+) /gm);
}

interface Place {
  readonly root: string;
  readonly page: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** What may follow the word `millrace`. */
  readonly commands: readonly string[];
}

/** The problems in one line of a page. */
export function problemsIn(text: string, place: Place): string[] {
  const links = matches(text, /\]\(([^)\s#]+)(?:#[^)]*)?\)/g).filter((one) => !/^[a-z]+:/.test(one));
  const files = matches(text, /`((?:src|docs|test|bench|scripts)\/[\w./-]+)`/g);
  const scripts = matches(text, /\bnpm run ([\w:-]+)/g);
  const commands = matches(text, /(?:(?:`|npx |^\s*)millrace|npm run millrace --) ([a-z]+)\b/g);
  return [
    ...links
      .filter((one) => !existsSync(join(place.root, dirname(place.page), one)))
      .map((one) => `links to ${one}`),
    ...files.filter((one) => !existsSync(join(place.root, one))).map((one) => `names the file ${one}`),
    ...scripts.filter((one) => !(one in place.scripts)).map((one) => `names the npm script ${one}`),
    ...commands.filter((one) => !place.commands.includes(one)).map((one) => `names millrace ${one}`),
  ].map((one) => `${one}, which does not exist`);
}

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? "");
