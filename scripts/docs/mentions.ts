// Checks that references in docs and comments exist: links, files, headings, npm scripts and commands.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { headingsOf } from "./headings.ts";

const pagePatterns = ["*.md", "docs/**/*.md", "bench/*.md"];

/** The files of this check are left out: they contain the names that must not be cited. */
const codePatterns = [
  "src/**/*.{ts,py}",
  "test/**/*.ts",
  "bench/**/*.ts",
  "scripts/*.ts",
  "scripts/tidy/*.ts",
];

/** One line for each mention of a file, heading, link or npm script that does not exist. */
export function brokenMentions(root: string): string[] {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  const headings = headingsByPage(root);
  const place = { root, headings };
  const pages = { ...place, scripts, commands: commandsOf(root) };
  return [
    ...inEachLine(root, pagePatterns, (page, text) => problemsIn(text, { ...pages, page })),
    ...inEachLine(root, codePatterns, (_, text) => brokenCitations(text, place)),
    ...inEachLine(root, [...pagePatterns, ...codePatterns], (_, text) => missingSources(text)),
    ...routesWithoutPage(root),
  ];
}

function routesWithoutPage(root: string): string[] {
  return globSync("src/resources/**/*.rest.ts", { cwd: root })
    .filter((file) => !citesPageOfRoutes(readFileSync(join(root, file), "utf8")))
    .map((file) => `${file}:1 declares routes, and its first comment cites no page of docs/`);
}

/** Whether a file that declares routes names the page that describes them. */
export const citesPageOfRoutes = (file: string): boolean =>
  !/: readonly Route\[\] =/.test(file) || /^(?:\/\/.*\n)*?\/\/.*\bdocs\/[\w/-]+\.md/.test(file);

/** Reads the headings of each page once. */
function headingsByPage(root: string): HeadingsOfPage {
  const read = new Map<string, ReadonlySet<string>>();
  return (page) => {
    const known = read.get(page) ?? headingsOf(readFileSync(join(root, page), "utf8"));
    read.set(page, known);
    return known;
  };
}

function inEachLine(
  root: string,
  patterns: readonly string[],
  problemsOf: (file: string, text: string) => readonly string[],
): string[] {
  const exclude = ["**/node_modules/**", "release/**", "console/dist/**"];
  return globSync(patterns, { cwd: root, exclude }).flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((text, index) => problemsOf(file, text).map((one) => `${file}:${index + 1} ${one}`)),
  );
}

/** The commands that the program's own overview lists. */
function commandsOf(root: string): string[] {
  const { stdout } = spawnSync(process.execPath, [join(root, "src/main.ts"), "help"], { encoding: "utf8" });
  return matches(stdout, /^ {2}([a-z-]+) /gm);
}

/** The fragments of the headings of a page, whose path is below the root. */
type HeadingsOfPage = (page: string) => ReadonlySet<string>;

interface Root {
  readonly root: string;
  readonly headings: HeadingsOfPage;
}

interface Place extends Root {
  readonly page: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** The words that may follow `millrace`. */
  readonly commands: readonly string[];
}

/** The problems in one line of a page. */
export function problemsIn(text: string, place: Place): string[] {
  const links = matches(text, /\]\(([^)\s]+)\)/g).filter((one) => !/^[a-z]+:/.test(one));
  const files = matches(text, /`((?:src|docs|test|bench|scripts)\/[\w./-]+)`/g);
  const scripts = matches(text, /\bnpm run ([\w:-]+)/g);
  const commands = matches(text, /(?:(?:`|npx |^\s*)millrace|npm run millrace --) ([a-z]+(?:-[a-z]+)*)\b/g);
  return [
    ...links.filter((one) => !leadsSomewhere(one, place)).map((one) => `links to ${one}`),
    ...files.filter((one) => !existsSync(join(place.root, one))).map((one) => `names the file ${one}`),
    ...scripts.filter((one) => !(one in place.scripts)).map((one) => `names the npm script ${one}`),
    ...commands.filter((one) => !place.commands.includes(one)).map((one) => `names millrace ${one}`),
  ].map((one) => `${one}, which does not exist`);
}

/** A link is relative to its page; one that is a fragment alone leads into the page. */
function leadsSomewhere(link: string, { page, ...place }: Place): boolean {
  const [file = "", fragment] = link.split("#", 2);
  return exists(file === "" ? page : normalize(join(dirname(page), file)), fragment, place);
}

function exists(file: string, fragment: string | undefined, { root, headings }: Root): boolean {
  if (!existsSync(join(root, file))) return false;
  return fragment === undefined || !file.endsWith(".md") || headings(file).has(fragment);
}

/** The pages and headings that one line of code cites and that do not exist. */
export function brokenCitations(text: string, place: Root): string[] {
  const cited = matches(text, /\b(docs\/[\w/.-]+\.md(?:#[\w-]+)?)/g);
  const broken = cited.filter((one) => {
    const [page = "", heading] = one.split("#", 2);
    return !exists(page, heading, place);
  });
  return broken.map((one) => `cites ${one}, which does not exist`);
}

/** Names and numbering of documents that are not in the repository, so that a reader cannot look them up. */
const missingDocuments =
  /(\b(?:platform-api|client-endpoints|the requirement)\b|\bodata\.md D?\d[\d.]*|\(?\(b\) \d+|\(C\d+\b)/gi;

/** The documents that one line cites and that are not in the repository. */
export const missingSources = (text: string): string[] =>
  matches(text, missingDocuments).map((one) => `cites ${one}, which is not in the repository`);

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? "");
