// The rules for each package-lock.json: npm verifies every package by its hash, and no package runs code when
// it is installed.
import type { Finding } from "./source.ts";

interface LockEntry {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  /** The package is a part of the one above it, whose hash covers it. */
  readonly inBundle?: boolean;
}

/** Checks the text of a lock file; the root entry is the project itself and has no hash. */
export function lockFileFindings(text: string, path = "package-lock.json"): Finding[] {
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockEntry>> };
  const lines = text.split("\n");
  return Object.entries(packages).flatMap(([name, entry]) => {
    if (name === "") return [];
    const line = lines.findIndex((one) => one.includes(`"${name}": {`)) + 1;
    const isHashed = entry.inBundle || entry.integrity?.startsWith("sha512-");
    const problems = [
      ...(isHashed ? [] : [`${name} has no sha512 integrity`]),
      ...(entry.hasInstallScript ? [`${name} runs a script when it is installed`] : []),
    ];
    return problems.map((problem) => ({ path, line, problem }));
  });
}
