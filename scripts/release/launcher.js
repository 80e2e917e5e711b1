#!/usr/bin/env node
// The command `millrace` of the npm package. Runs the program with the Node that the package brings, if the one
// on PATH is older. Plain JavaScript, because an older Node has to run it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const program = join(root, "src/main.js");
const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const [pinned] = Object.values(optionalDependencies);

if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(pinned, 10)) await import("../src/main.js");
else {
  const node = bundledNode();
  if (node) run(node);
  else {
    console.error(
      `Node ${pinned} for ${process.platform} ${process.arch} is not installed; this is Node ${process.versions.node}.\n` +
        "npm leaves it out with --omit=optional, or if its download fails. Install again, or put that version on PATH.",
    );
    process.exitCode = 1;
  }
}

/** @returns {string | undefined} the program of the package for this platform */
function bundledNode() {
  const { resolve } = createRequire(import.meta.url);
  const file = process.platform === "win32" ? "bin/node.exe" : "bin/node";
  for (const name of Object.keys(optionalDependencies)) {
    try {
      const node = join(dirname(resolve(`${name}/package.json`)), file);
      if (existsSync(node)) return node;
    } catch {
      // The package of another platform.
    }
  }
  return undefined;
}

/** @param {string} node */
function run(node) {
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends its signals to both processes, a service manager to this one alone.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (problem) => {
    console.error(
      `Node of the package cannot run here (${problem.message}). On Linux it needs glibc 2.28 or newer and libatomic,\n` +
        `so not Alpine with musl. Put Node ${pinned} on PATH.`,
    );
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1;
    else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
  });
}
