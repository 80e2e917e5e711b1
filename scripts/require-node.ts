// The version of Node that everything here runs on: the one that `npm ci` installs.
import { readFileSync } from "node:fs";

/** Ends the process with what to do instead when this Node is older than the one in package.json. */
export function requireNode(command: string): void {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const wanted = (JSON.parse(manifest) as { dependencies: { node: string } }).dependencies.node;
  if (majorOf(process.versions.node) >= majorOf(wanted)) return;
  console.error(
    `This is Node ${process.versions.node}, but Millrace runs on Node ${wanted}, which npm installs.\n` +
      `Run: npm ci && ${command}`,
  );
  process.exit(1);
}

const majorOf = (version: string) => Number.parseInt(version, 10);
