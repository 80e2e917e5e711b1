#!/usr/bin/env node
// Starts main.ts with the compiled code of earlier starts. Plain JavaScript: for a first file in TypeScript, Node
// loads a compiler, which takes 50 ms; from here on it finds the code without types in the compile cache.
import nodeModule from "node:module";
import { fileURLToPath } from "node:url";

if (Number.parseInt(process.versions.node, 10) < 26) {
  console.error(
    `Millrace needs Node.js 26, and this is ${process.versions.node}. Start it in its folder with ` +
      "`npm start`, `npm run millrace -- ...` or `npx millrace ...`: these use the Node.js of `npm ci`.",
  );
  process.exit(1);
}

// Worker threads read the setting from the environment.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("../node_modules/.cache/millrace", import.meta.url),
);
// Where nothing can be written it does nothing.
nodeModule.enableCompileCache();
await import("./main.ts");
