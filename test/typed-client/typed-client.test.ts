// Proves that client libraries can be generated from the published OpenAPI: a generator from npm creates a
// typed client for each version, all are type-checked, and that of 0.6 uses every resource (`smoke.ts`).
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { apiVersions } from "../../src/rest/route.ts";
import { hosting } from "../support/model-hosting.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const program = (path: string) => here(`../../node_modules/${path}`);

let server: TestServer;
before(async () => {
  server = await startTestServer({ ...withFront, hostsModels: hosting.skip === false });
});
after(() => server.close());

test("a client is generated from the description of each version", async () => {
  mkdirSync(here("generated"), { recursive: true });
  for (const version of apiVersions) {
    const description = await fetch(`${server.baseUrl}/api/${version}/openapi.json`);
    const given = here(`generated/openapi-${version}.json`);
    writeFileSync(given, await description.text());
    const made = here(`generated/client-${version}.ts`);
    await run(process.execPath, [program("oazapfts/dist/cli.js"), "--optimistic", given, made]);
  }
});

/** A program whose output is the reason when it fails. */
const runOrSay = (file: string, args: readonly string[], env = process.env) =>
  run(file, args, { env }).catch(({ stdout }) => {
    throw new Error(stdout);
  });

test("the clients and the program that uses them type-check", async () => {
  await runOrSay(program(".bin/tsc"), ["--project", here("tsconfig.json")]);
});

test("the client of 0.6 drives every resource", async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { baseUrl: SMOKE_SERVER, project: SMOKE_PROJECT, key: SMOKE_KEY } = server;
  const smokeSettings = { SMOKE_SERVER, SMOKE_PROJECT, SMOKE_KEY };
  await runOrSay(process.execPath, ["--test", here("smoke.ts")], { ...env, ...smokeSettings });
});
