// `npm run build`, also called by `npm ci`: writes the typed API client of the console, then builds the
// console and the bundles of the server.
//
// `npm run build -- --client` writes the client alone, which the type check of the console needs.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const program = (path: string) => join(root, "node_modules", path);
const description = join(root, "test/golden/openapi-0.6.json");
const client = join(root, "console/src/api/generated.ts");

if (!existsSync(program("vite/package.json"))) {
  console.log(
    "The console and the bundles of the server are not built: " +
      "their tools are development dependencies, and these are not installed.",
  );
} else {
  run("oazapfts/dist/cli.js", "--optimistic", description, client);
  if (!process.argv.includes("--client")) {
    run("vite/bin/vite.js", "build", "--config", join(root, "console/vite.config.ts"), "--logLevel", "warn");
    const { writeServerBundles } = await import("./server-bundle.ts");
    await writeServerBundles(root);
    const { storeCompiledCode } = await import("./compiled-code.ts");
    await storeCompiledCode(root);
  }
}

function run(path: string, ...args: readonly string[]): void {
  execFileSync(process.execPath, [program(path), ...args], { stdio: ["ignore", "ignore", "inherit"] });
}
