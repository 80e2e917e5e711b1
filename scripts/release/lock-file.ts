// The packages of package-lock.json that a release needs.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** package-lock.json without development dependencies. */
export function productionLock(root: string): LockFile {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as LockFile;
  const { devDependencies, ...project } = lock.packages[""] as LockedPackage & Record<string, unknown>;
  const bin = { millrace: "bin/millrace.js" };
  const kept = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  return { ...lock, packages: { "": { ...project, bin }, ...Object.fromEntries(kept) } };
}

/** The packages that the server runs with, by their folder: `node_modules/pg`. */
export const productionPackages = (root: string): [folder: string, LockedPackage][] =>
  Object.entries(productionLock(root).packages).filter(([path]) => path !== "");

/** `pg` of `node_modules/kysely/node_modules/pg`. */
export const nameOf = (folder: string): string => folder.slice(folder.lastIndexOf("node_modules/") + 13);
