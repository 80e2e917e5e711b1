// Puts test files into processes for `npm test`. Files of one group run one after the other in one process,
// which loads the server and compiles its hot functions once, and keeps one browser and one database server.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Files that are alike. */
interface Kind {
  readonly matches: RegExp;
  /** How many files share a process at most. */
  readonly filesMax: number;
}

/**
 * The first kind that matches counts. Tests of the whole come first: the short tests of units fill all cores
 * until the end. Files that start and kill processes, or measure their own, have a process of their own.
 */
const kinds: readonly Kind[] = [
  { matches: /^(bench|scripts\/release)\//, filesMax: 1 },
  { matches: /^test\/shared-catalog\//, filesMax: 6 },
  { matches: /^test\/compat\//, filesMax: 7 },
  { matches: /^test\//, filesMax: 1 },
  { matches: /^console\//, filesMax: 4 },
  { matches: /\.process\.test\.ts$/, filesMax: 1 },
  { matches: /\.api\.test\.ts$/, filesMax: 10 },
  { matches: /^src\/storage\//, filesMax: 10 },
  { matches: /./, filesMax: 20 },
];

/** The files by process, in the order in which the processes start. */
export function testGroups(files: readonly string[]): string[][] {
  const kindOf = (file: string) => kinds.findIndex(({ matches }) => matches.test(file));
  return kinds.flatMap(({ filesMax }, kind) =>
    dealt(
      files.filter((file) => kindOf(file) === kind),
      filesMax,
    ),
  );
}

/** Groups of equal sizes. Neighbours, which often take as long, come into different groups. */
function dealt(files: readonly string[], filesMax: number): string[][] {
  const count = Math.ceil(files.length / filesMax);
  return Array.from({ length: count }, (_, group) => files.filter((_, at) => at % count === group));
}

/** Writes the module that runs a group, each file as a suite with its own hooks; returns its path. */
export function groupModule(files: readonly string[], path: string): string {
  const lines = files.map((file) => {
    const url = pathToFileURL(resolve(file)).href;
    return `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(url)}));`;
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, [`import { describe } from "node:test";`, ...lines, ""].join("\n"));
  return path;
}
