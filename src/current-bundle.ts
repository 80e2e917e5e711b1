// The bundles that `npm run build` writes: the program as a few files instead of 1,900, and the process of
// a query as one, so a start takes a fraction of the processor time. A bundle is used only if it was made
// from the files that are here now.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** The source of each bundle. */
export const bundleSources = {
  program: "src/command-line/program.ts",
  query: "src/sql-runner/engine/engine-process.ts",
} as const;

/** The file that starts it, in its folder. */
const startFiles = { program: "program.cjs", query: "query.mjs" } as const;

export type BundleName = keyof typeof bundleSources;

/** In node_modules, because Node warns of old functions that a package uses anywhere else. */
export const bundleFolder = (name: BundleName): string => `node_modules/.cache/millrace-${name}`;

/** The path of the current bundle; undefined when the sources have to be used. */
export function currentBundle(name: BundleName, root = repository): string | undefined {
  const inputs = readInputs(join(root, bundleFolder(name)));
  if (inputs === undefined || wantsSources()) return undefined;
  return inputs.every((line) => isUnchanged(root, line))
    ? join(root, bundleFolder(name), startFiles[name])
    : undefined;
}

/** The lines of `inputLine`; without a build, and in a release, there are none. */
function readInputs(folder: string): readonly string[] | undefined {
  try {
    return readFileSync(join(folder, "inputs"), "utf8").split("\n");
  } catch {
    return undefined;
  }
}

/** A preload may change modules of the sources; a debugger shows them. */
function wantsSources(): boolean {
  const options = [...(process.env["NODE_OPTIONS"] ?? "").split(" "), ...process.execArgv];
  return options.some((one) => /^(--import|--require|-r|--inspect(-brk|-wait)?)(=|$)/.test(one));
}

/** Size and time of change of a file that the bundle was made from; undefined if it is not there. */
export function inputLine(root: string, path: string): string | undefined {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  return found && `${found.size} ${found.mtimeMs} ${path}`;
}

const isUnchanged = (root: string, line: string): boolean =>
  inputLine(root, line.split(" ").slice(2).join(" ")) === line;
