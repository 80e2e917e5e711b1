// The licences of all software that a release contains.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type LockedPackage, nameOf, productionPackages } from "./lock-file.ts";

const licenceFile = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** One Markdown text: the packages that the server runs with, then those inside the console's scripts. */
export function licencesOf(root: string): string {
  const server = productionPackages(root).map(([folder, locked]) => sectionOf(root, folder, locked));
  const console = readFileSync(join(root, "console/dist/licenses.md"), "utf8");
  return [
    "# Licences of third parties\n",
    "Packages that the server runs with, then those that the web console contains.\n",
    ...server,
    console.replace(/^# .*\n+.*\n/, "# The web console\n"),
  ].join("\n");
}

function sectionOf(root: string, folder: string, { version, license }: LockedPackage): string {
  const title = `## ${nameOf(folder)} - ${version} (${license ?? "see below"})\n`;
  const texts = filesIn(join(root, folder))
    .filter((name) => licenceFile.test(name))
    .map((name) => readFileSync(join(root, folder, name), "utf8").trim());
  return [title, ...texts.map((text) => `${text}\n`)].join("\n");
}

/** Nothing of a package that npm did not install, such as the Node of another platform. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
