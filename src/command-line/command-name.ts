// How a user runs the commands of this installation, for messages.
import { fileURLToPath } from "node:url";

/** A repository has npm's script, a package in node_modules is found by npx, the tarball is on PATH. */
export const commandName = nameFor(fileURLToPath(import.meta.url));

export function nameFor(file: string): string {
  if (file.endsWith(".ts")) return "npm run millrace --";
  return file.includes("node_modules") ? "npx millrace" : "millrace";
}
