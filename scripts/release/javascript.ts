// Turns the TypeScript of src into the JavaScript of a release, because Node does not strip types inside
// node_modules.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, posix } from "node:path";

/** The program, from which every other file is found. */
const entry = "src/main.ts";

/** Starts the TypeScript; a release has none. */
const starter = "src/start.js";

/** A relative specifier of a TypeScript file: of an import, of `import()`, or of the URL of a thread. */
const specifier = /(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g;

/**
 * Writes the JavaScript of all files that the program reaches, and the other files of src, such as data of
 * the demo plant, below `target`. Lines and columns stay those of the source, so that errors name them.
 * Returns how many files were compiled.
 */
export function writeJavaScript(root: string, target: string): number {
  const sources = reachableFrom(root, entry);
  for (const [path, code] of sources) write(join(target, asJavaScript(path)), code);
  for (const path of otherFiles(root)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFileSync(join(root, path), join(target, path));
  }
  return sources.size;
}

/** The code without types of a file and of all that it leads to, by path. */
function reachableFrom(root: string, first: string): Map<string, string> {
  const found = new Map<string, string>();
  const queue = [first];
  for (const path of queue) {
    if (found.has(path)) continue;
    const code = stripTypeScriptTypes(readFileSync(join(root, path), "utf8"), { mode: "strip" });
    for (const [, , target] of code.matchAll(specifier))
      queue.push(`${posix.join(posix.dirname(path), target!)}.ts`);
    found.set(path, code.replace(specifier, "$1$2.js$1"));
  }
  return found;
}

const otherFiles = (root: string) =>
  readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.name.endsWith(".ts"))
    .map((one) => join(one.parentPath, one.name).slice(root.length + 1))
    .filter((path) => !path.includes("node_modules") && path !== starter);

const asJavaScript = (path: string) => path.replace(/\.ts$/, ".js");

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
