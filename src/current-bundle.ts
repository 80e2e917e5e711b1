// The bundle of the program that `npm run build` writes: a few files instead of 1,900, so a start takes a
// fraction of the processor time. It is used only if it was made from the files that are here now.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const repository = join(import.meta.dirname, "..");
/** In node_modules, because Node warns of old functions that a package uses anywhere else. */
export const bundleFolder = "node_modules/.cache/millrace-program";

/** The path of the program in the current bundle; undefined when the sources have to be used. */
export function currentBundle(root = repository): string | undefined {
  const inputs = readInputs(root);
  if (inputs === undefined || wantsSources()) return undefined;
  return inputs.every((line) => isUnchanged(root, line))
    ? join(root, bundleFolder, "program.mjs")
    : undefined;
}

/** The lines of `inputLine`; without a build, and in a release, there are none. */
function readInputs(root: string): readonly string[] | undefined {
  try {
    return readFileSync(join(root, bundleFolder, "inputs"), "utf8").split("\n");
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
