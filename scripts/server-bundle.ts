// Bundles the program, and the process of a query, with the packages that they need, for
// src/current-bundle.ts.
import { rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { type BundleName, bundleFolder, bundleSources, inputLine } from "../src/current-bundle.ts";

/** The threads that a start needs; the program starts them from its bundle. */
const threadSources = [
  "src/storage/embedded-points/shard-worker.ts",
  "src/storage/sql/dialects/sqlite/worker.ts",
  "src/front/front-worker.ts",
];

/** npm writes it at each change of the installed packages. */
const installedPackages = "node_modules/.package-lock.json";

export async function writeServerBundles(root: string): Promise<void> {
  for (const name of Object.keys(bundleSources) as BundleName[]) await writeBundle(root, name);
}

async function writeBundle(root: string, name: BundleName): Promise<void> {
  const folder = join(root, bundleFolder(name));
  rmSync(folder, { recursive: true, force: true });
  const threads = (name === "program" ? threadSources : []).map((path) => join(root, path));
  const bundle = await rolldown({
    input: {
      [name]: join(root, bundleSources[name]),
      ...Object.fromEntries(threads.map((one) => [entryOf(one), one])),
    },
    platform: "node",
    plugins: [urlsOf(folder, threads), lazyHttp, lazyResponse],
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const { output } = await bundle.write({ dir: folder, format: "esm", ...names });
  await bundle.close();
  const modules = output.flatMap((one) => (one.type === "chunk" ? one.moduleIds : []));
  const sources = modules.filter((path) => path.startsWith(join(root, "src/")));
  const inputs = [...sources.map((path) => relative(root, path)), installedPackages];
  // Last: without this file the bundle is not used.
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

const compressUtils = "/@fastify/compress/lib/utils.js";
const ofGlobal = "obj instanceof Response";

/**
 * The compression of each response compares it with the global `Response`. The first access to that global
 * loads Node's implementation of `fetch`, and the first response would wait for it.
 */
const lazyResponse: Plugin = {
  name: "lazy-response",
  transform(code, id) {
    if (!id.endsWith(compressUtils)) return null;
    if (!code.includes(ofGlobal)) throw new Error(`${compressUtils} no longer has "${ofGlobal}"`);
    return code.replace(ofGlobal, 'Object.prototype.toString.call(obj) === "[object Response]"');
  },
};

/** Other threads, processes and data files are found beside the source, which is not bundled away. */
const urlsOf = (folder: string, threads: readonly string[]): Plugin => ({
  name: "urls",
  transform(code, id) {
    if (!id.endsWith(".ts") || !code.includes("import.meta.url")) return null;
    const href = (path: string) => JSON.stringify(pathToFileURL(path).href);
    return code
      .replaceAll(/(?<=new URL\()"(\.[^"]+)", import\.meta\.url/g, (given, path: string) => {
        const thread = join(dirname(id), path);
        return threads.includes(thread) ? href(join(folder, `${entryOf(thread)}.mjs`)) : given;
      })
      .replaceAll("import.meta.url", href(id));
  },
});
