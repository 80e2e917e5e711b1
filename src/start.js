#!/usr/bin/env node
// Starts main.ts with the compiled code of earlier starts. Plain JavaScript: for a first file in TypeScript, Node
// loads a compiler, which takes 50 ms; from here on it finds the code without types in the compile cache.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Worker threads read the setting from the environment.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("../node_modules/.cache/millrace", import.meta.url),
);
// Where nothing can be written it does nothing.
enableCompileCache();
await import("./main.ts");
