#!/usr/bin/env node
// The process entry: runs the program, from its bundle if that is current.
import { enableCompileCache } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { currentBundle } from "./current-bundle.ts";

// start.js sets the same, but releases and services set up by older versions start with this file. The cache
// halves the time that a start takes, worker threads included.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("../node_modules/.cache/millrace", import.meta.url),
);
enableCompileCache();

const bundle = currentBundle("program");
const { runProgram } = (
  bundle === undefined ? await import("./command-line/program.ts") : await import(pathToFileURL(bundle).href)
) as typeof import("./command-line/program.ts");
process.exitCode = await runProgram(process.argv.slice(2));
