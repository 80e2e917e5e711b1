// Proves that a typed client can be generated from `$metadata`: by the generator of odata2ts, unmodified and
// from the running server, is type-checked with the program that uses it, and drives the interface.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { odataOf } from "../support/odata.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const program = (path: string) => here(`../../node_modules/${path}`);

const fail = ({ stdout, stderr }: { stdout?: string; stderr?: string }): never => {
  throw new Error(`${stdout}${stderr}`);
};

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

test("a client is generated from $metadata", async () => {
  rmSync(here("generated"), { recursive: true, force: true });
  mkdirSync(here("generated"));
  // Requested like the generator's own download, which cannot send a key.
  const accept = "application/json, text/plain, */*";
  const { text } = await odataOf(server)("$metadata", { headers: { accept } });
  writeFileSync(here("generated/metadata.xml"), text);
  const generator = [
    ...["--import", here("use-its-own-typescript.js"), program("@odata2ts/odata2ts/lib/run-cli.js")],
    ...["--source", here("generated/metadata.xml"), "--output", here("generated"), "-name", "Millrace"],
    ...["--mode", "all", "--emit-mode", "js_dts", "--disable-auto-managed-key"],
    ...["--tsconfig", here("generator.tsconfig.json")],
  ];
  await run(process.execPath, generator, { cwd: here(".") }).catch(fail);
  // Its output is CommonJS.
  writeFileSync(here("generated/package.json"), '{ "type": "commonjs" }\n');
});

test("the client and the program that uses it type-check", async () => {
  await run(program(".bin/tsc"), ["--project", here("tsconfig.json")]).catch(fail);
});

test("the client drives the interface", async () => {
  await server.ask.v06("POST /assets", {
    items: [
      { name: "plant", refId: "plant", source: "SAP", sourceId: "PLANT" },
      { name: "pump 1", refId: "pump 1", parentRefId: "plant", source: "SAP" },
      { name: "pump 2", parentRefId: "plant", source: "PI" },
    ],
  });
  const [pump] = (await server.ask("GET /assets?name=pump 1")).items;
  await server.ask("POST /timeseries", { items: [{ name: "pressure", assetId: pump!["id"], unit: "bar" }] });
  const points = [1, 2, 6].map((value, at) => ({ timestamp: Date.UTC(2024, 0, 1, at), value }));
  await server.ask("POST /timeseries/data/pressure", { items: points });
  await server.ask("POST /events", { items: [{ type: "alarm", assetIds: [pump!["id"]] }] });
  await server.ask("POST /raw/d/t/create?ensureParent=true", { items: [{ key: "k", columns: { a: 1 } }] });
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const root = `${server.baseUrl}/odata/v1/projects/${server.project}`;
  const env = { ...inherited, ODATA_ROOT: root, ODATA_KEY: server.key };
  await run(process.execPath, ["--test", here("smoke.ts")], { env }).catch(fail);
});
