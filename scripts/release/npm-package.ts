// The npm package of a release: JavaScript, the built console, docs, and the packages it needs, each in the
// version of package-lock.json.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeJavaScript } from "./javascript.ts";
import { licencesOf } from "./licences.ts";
import { productionLock } from "./lock-file.ts";
import { npm } from "./npm.ts";

/** Files and folders of the repository that the package has as they are. */
const copied = ["README.md", "CHANGELOG.md", "LICENSE", "docs", "deploy", "console/dist"];

/** Writes the files of the package into an empty folder. The console must be built. */
export function writePackage(root: string, folder: string): void {
  writeJavaScript(root, folder);
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  mkdirSync(join(folder, "bin"));
  cpSync(join(root, "scripts/release/launcher.js"), join(folder, "bin/millrace.js"));
  writeJson(join(folder, "package.json"), manifestOf(root));
  // npm would resolve the ranges of dependencies again, also beside a shrinkwrap file, in a package from a
  // file.
  writeJson(join(folder, "package-lock.json"), productionLock(root));
  const only = ["--omit=dev", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  npm(folder, "ci", "--prefer-offline", ...only);
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.md"), licencesOf(root));
}

/** package.json without the parts for the repository. The package has all dependencies but Node inside. */
function manifestOf(root: string): Record<string, unknown> {
  const { scripts, devDependencies, private: isPrivate, ...kept } = readJson(join(root, "package.json"));
  const bundleDependencies = Object.keys(kept["dependencies"] as object);
  return { ...kept, bin: { millrace: "./bin/millrace.js" }, bundleDependencies };
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;

const writeJson = (path: string, value: unknown) =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
