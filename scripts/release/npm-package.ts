// The npm package of a release: JavaScript, the built console, docs, and the versions of package-lock.json.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeJavaScript } from "./javascript.ts";
import { licencesOf } from "./licences.ts";
import { productionLock } from "./lock-file.ts";

/** Files and folders of the repository that the package has as they are. */
const copied = ["README.md", "CHANGELOG.md", "LICENSE", "docs", "deploy", "console/dist"];

/** Writes the files of the package into an empty folder. The console must be built. */
export function writePackage(root: string, folder: string): void {
  writeJavaScript(root, folder);
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  mkdirSync(join(folder, "bin"));
  cpSync(join(root, "scripts/release/launcher.js"), join(folder, "bin/millrace.js"));
  writeJson(join(folder, "package.json"), manifestOf(root));
  // npm installs the versions of this file also when the package is a dependency.
  writeJson(join(folder, "npm-shrinkwrap.json"), productionLock(root));
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.md"), licencesOf(root));
}

/** package.json without what only the repository needs. */
function manifestOf(root: string): Record<string, unknown> {
  const { scripts, devDependencies, private: isPrivate, ...kept } = readJson(join(root, "package.json"));
  return { ...kept, bin: { millrace: "./bin/millrace.js" } };
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;

const writeJson = (path: string, value: unknown) =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
