// Bundles the program, and the process of a query, with the packages that they need, for
// src/current-bundle.ts. The program and its threads are scripts for src/code-cache.ts, and each has a small
// module that runs it. The process of a query is a module: it may read no file that it does not need.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";
import { scriptEnd, scriptStart } from "../src/code-cache.ts";
import { bundleFolder, bundleSources, inputLine } from "../src/current-bundle.ts";

/** The threads that a start needs; the program starts them from its bundle. */
const threadSources = [
  "src/storage/embedded-points/shard-worker.ts",
  "src/storage/sql/dialects/sqlite/worker.ts",
  "src/front/front-worker.ts",
];

/** npm writes it at each change of the installed packages. */
const installedPackages = "node_modules/.package-lock.json";

export async function writeServerBundles(root: string): Promise<void> {
  await writeQuery(root);
  await writeProgram(root);
}

async function writeQuery(root: string): Promise<void> {
  const folder = emptyFolder(join(root, bundleFolder("query")));
  const bundle = await rolldown({
    input: { query: join(root, bundleSources.query) },
    platform: "node",
    plugins: [urlsOf(folder, []), lazyHttp, changePackages(new Set())],
  });
  const { output } = await bundle.write({ dir: folder, format: "esm", ...namesOf("mjs") });
  await bundle.close();
  writeInputs({ root, folder }, output);
}

async function writeProgram(root: string): Promise<void> {
  const folder = emptyFolder(join(root, bundleFolder("program")));
  const threads = threadSources.map((path) => join(root, path));
  const unused = new Set(packageChanges);
  const bundle = await rolldown({
    input: {
      program: join(root, bundleSources.program),
      ...Object.fromEntries(threads.map((one) => [entryOf(one), one])),
    },
    platform: "node",
    plugins: [urlsOf(folder, threads), lazyHttp, changePackages(unused)],
  });
  const name = "[name]-[hash].cjs";
  const { output } = await bundle.generate({ format: "cjs", entryFileNames: name, chunkFileNames: name });
  await bundle.close();
  for (const { file } of unused) throw new Error(`The program no longer has ${file}, which is changed`);
  const scripts = output.filter((one) => one.type === "chunk");
  mkdirSync(folder, { recursive: true });
  for (const { fileName, code } of scripts)
    writeFileSync(join(folder, fileName), scriptStart + code + scriptEnd);
  const runners = new Map(scripts.filter((one) => one.isEntry).map((one) => [one.name, runnerOf(root, one)]));
  const modules = await rolldown({
    input: Object.fromEntries([...runners.keys()].map((name) => [name, `\0run:${name}`])),
    platform: "node",
    plugins: [virtualModules(runners)],
  });
  // Threads start faster with CommonJS: an import of node:fs reads all of its members, and loads its streams.
  const written = await modules.write({ dir: folder, format: "cjs", ...namesOf("cjs") });
  await modules.close();
  writeInputs({ root, folder }, [...scripts, ...written.output]);
}

const namesOf = (extension: string) => ({
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `[name]-[hash].${extension}`,
});

function emptyFolder(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  return folder;
}

/** The module that runs a script, and has its exports. */
function runnerOf(root: string, { name, fileName, exports }: OutputChunk): string {
  const entry = JSON.stringify({ thread: name, file: fileName });
  return [
    `import { runScripts } from ${JSON.stringify(join(root, "src/code-cache.ts"))};`,
    `export const { ${exports.join(", ")} } = runScripts(__dirname, ${entry});`,
  ].join("\n");
}

const virtualModules = (modules: ReadonlyMap<string, string>): Plugin => ({
  name: "virtual-modules",
  resolveId: (id) => (id.startsWith("\0run:") ? id : null),
  load: (id) => (id.startsWith("\0run:") ? modules.get(id.slice("\0run:".length))! : null),
});

interface Place {
  readonly root: string;
  readonly folder: string;
}

/** Last: without this file the bundle is not used. */
function writeInputs(
  { root, folder }: Place,
  output: readonly { type: string; moduleIds?: string[] }[],
): void {
  const modules = output.flatMap((one) => one.moduleIds ?? []);
  const sources = modules.filter((path) => path.startsWith(join(root, "src/")));
  const inputs = [...new Set(sources.map((path) => relative(root, path))), installedPackages];
  writeFileSync(join(folder, "inputs"), inputs.map((path) => inputLine(root, path)).join("\n"));
}

/** A name for the file of a thread: `embedded-points-shard-worker`. */
const entryOf = (thread: string) => `${basename(dirname(thread))}-${basename(thread, ".ts")}`;

/**
 * An import of `node:http` reads all of its members, and one of them loads Node's implementation of `fetch`.
 * The same module without an import does not.
 */
const lazyHttp: Plugin = {
  name: "lazy-http",
  resolveId: (id) => (/^(node:)?http$/.test(id) ? "\0http" : null),
  load: (id) => (id === "\0http" ? 'module.exports = process.getBuiltinModule("node:http");' : null),
};

interface Change {
  /** The end of the path of a package's file. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const packageChanges: readonly Change[] = [
  // The compression of each response compares it with the global `Response`. The first access to that global
  // loads Node's implementation of `fetch`, and the first response would wait for it.
  {
    file: "/@fastify/compress/lib/utils.js",
    from: "obj instanceof Response",
    to: 'Object.prototype.toString.call(obj) === "[object Response]"',
  },
  // The router compiles a function for each part of a path and for each route, which cannot be stored.
  {
    file: "/find-my-way/lib/node.js",
    from: "if (prefix.length >= LONG_PREFIX_MIN_LENGTH) {",
    to: "{",
  },
  {
    file: "/find-my-way/lib/node.js",
    from: "path.indexOf(prefix, i) === i",
    to: "path.startsWith(prefix, i)",
  },
  {
    file: "/find-my-way/lib/handler-storage.js",
    from: "return new Function('NullObject', fnBody.join('\\n'))(NullObject)",
    to: `const body = fnBody.join('\\n')
    let create = createParamsObject.get(body)
    if (!create) createParamsObject.set(body, create = new Function('NullObject', body)(NullObject))
    return create`,
  },
  {
    file: "/find-my-way/lib/handler-storage.js",
    from: "class HandlerStorage {",
    to: "const createParamsObject = new Map()\nclass HandlerStorage {",
  },
];

/** Removes the changes that it makes from `unused`. */
const changePackages = (unused: Set<Change>): Plugin => ({
  name: "change-packages",
  transform(code, id) {
    const path = id.replaceAll("\\", "/");
    const changes = packageChanges.filter(({ file }) => path.endsWith(file));
    return changes.reduce((changed, change) => {
      const { file, from, to } = change;
      if (!changed.includes(from)) throw new Error(`${file} no longer has "${from}"`);
      unused.delete(change);
      return changed.replace(from, () => to);
    }, code);
  },
});

/** Other threads, processes and data files are found beside the source, which is not bundled away. */
const urlsOf = (folder: string, threads: readonly string[]): Plugin => ({
  name: "urls",
  transform(code, id) {
    if (!id.endsWith(".ts") || !code.includes("import.meta.url")) return null;
    const href = (path: string) => JSON.stringify(pathToFileURL(path).href);
    return code
      .replaceAll(/(?<=new URL\()"(\.[^"]+)", import\.meta\.url/g, (given, path: string) => {
        const thread = join(dirname(id), path);
        return threads.includes(thread) ? href(join(folder, `${entryOf(thread)}.cjs`)) : given;
      })
      .replaceAll("import.meta.url", href(id));
  },
});
