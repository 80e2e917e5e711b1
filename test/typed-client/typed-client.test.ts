// Proves that client libraries can be generated from the published OpenAPI: for each version a typed client
// is made by a generator from npm, all are type-checked, and that of 0.6 drives every resource (`smoke.ts`).
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { apiVersions } from "../../src/rest/route.ts";
import { startTestServer } from "../support/server.ts";

const run = promisify(execFile);
const folder = new URL("generated/", import.meta.url);
const program = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));

test("a client is generated from the description of each version", async () => {
  const server = await startTestServer();
  mkdirSync(folder, { recursive: true });
  for (const version of apiVersions) {
    const description = await fetch(`${server.baseUrl}/api/${version}/openapi.json`);
    const given = fileURLToPath(new URL(`openapi-${version}.json`, folder));
    const made = fileURLToPath(new URL(`client-${version}.ts`, folder));
    writeFileSync(given, await description.text());
    await run(process.execPath, [program("oazapfts/dist/cli.js"), "--optimistic", given, made]);
  }
  await server.close();
});

test("the clients and the program that uses them type-check", async () => {
  const project = fileURLToPath(new URL("tsconfig.json", import.meta.url));
  await run(program(".bin/tsc"), ["--project", project]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
});

test("the client of 0.6 drives every resource", async () => {
  const smoke = fileURLToPath(new URL("smoke.ts", import.meta.url));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  await run(process.execPath, ["--test", smoke], { env }).catch(({ stdout }) => {
    throw new Error(stdout);
  });
});
