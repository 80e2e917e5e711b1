// The npm package as a user installs it: a clean home, an empty folder, no repository in reach.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, test } from "node:test";
import { until } from "../../test/support/connector.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { type LockFile, nameOf, productionPackages } from "./lock-file.ts";
import { npm } from "./npm.ts";
import { writePackage } from "./npm-package.ts";

const root = join(import.meta.dirname, "../..");
const folder = temporaryFolder();
const [contents, home, plant] = ["package", "home", "plant"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const installed = join(plant, "node_modules/millrace");

/**
 * The environment of a user without this repository. It shares npm's downloads with the machine, to save
 * time.
 */
const environment = {
  PATH: (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((one) => !one.includes("node_modules"))
    .join(delimiter),
  HOME: home,
  MILLRACE_PORT: "0",
  npm_config_cache: npm(root, "config", "get", "cache").trim(),
  npm_config_registry: npm(root, "config", "get", "registry").trim(),
  npm_config_update_notifier: "false",
};

before(() => {
  for (const one of [contents, home, plant]) mkdirSync(one);
  writePackage(root, contents);
  const file = npm(contents, "pack", "--silent", "--pack-destination", folder).trim();
  execFileSync("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", join(folder, file)], {
    cwd: plant,
    env: environment,
    stdio: "pipe",
  });
});

test("npx millrace serves the API, the console and threads until it is told to end", async (t) => {
  const words = ["--no-install", "millrace", "version"];
  const version = execFileSync("npx", words, { cwd: plant, env: environment, encoding: "utf8" });
  assert.match(version, /^\d+\.\d+\.\d+\n$/);
  // The process of npx, in a group of its own: an older Node starts the pinned one as another process.
  const server = spawn("node_modules/.bin/millrace", ["serve"], {
    ...{ cwd: plant, env: environment, detached: true },
  });
  t.after(() => server.exitCode === null && process.kill(-server.pid!, "SIGKILL"));
  const output = await outputUntil(server, /sign-in#token/);
  const baseUrl = /serves (\S+)/.exec(output)?.[1];
  const key = /API key {2,}(\S+)/.exec(output)?.[1] ?? "";
  assert.match(output, /npx millrace key create/);
  assert.match(output, /npx millrace login-link/);
  const page = await fetch(`${baseUrl}/`);
  assert.match(await page.text(), /<title>Millrace/);
  const project = `${baseUrl}/api/0.5/projects/default`;
  const headers = { "api-key": key, "content-type": "application/json" };
  const post = async (path: string, body: object) => {
    const response = await fetch(project + path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 200, await response.clone().text());
  };
  await post("/timeseries", { items: [{ name: "pump.flow" }] });
  const points = Array.from({ length: 100 }, (_, index) => ({ timestamp: 1000 * index, value: index }));
  await post("/timeseries/data/pump.flow", { items: points });
  const read = await fetch(`${project}/timeseries/data/pump.flow?aggregates=avg&granularity=1d&start=0`, {
    headers,
  });
  assert.match(await read.text(), /"average":49\.5/);
  server.kill("SIGTERM");
  const [status] = await once(server, "exit");
  assert.equal(status, 0);
});

test("the package has the pinned versions, and no TypeScript, tests or development dependencies", () => {
  // npm may put a package into another folder than the repository does.
  const lock = JSON.parse(readFileSync(join(plant, "package-lock.json"), "utf8")) as LockFile;
  const found = new Set(Object.entries(lock.packages).map(([path, one]) => `${nameOf(path)}@${one.version}`));
  // Node is optional because each platform has its own; other optional packages are left out.
  const needed = productionPackages(root).filter(([path, one]) => !one.optional || /\/node-/.test(path));
  for (const [path, { version }] of needed)
    assert.ok(found.has(`${nameOf(path)}@${version}`), `${path} ${version}`);
  const files = execFileSync("find", [join(installed, "src"), join(installed, "bin")], { encoding: "utf8" });
  assert.ok(files.includes("/src/main.js"));
  assert.doesNotMatch(files, /\.ts$/m);
  assert.ok(!existsSync(join(plant, "node_modules/typescript")));
});

test("each package of a release has a licence that permits it, and a component in the bill", () => {
  const allowed = new Set([
    "MIT",
    "ISC",
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BlueOak-1.0.0",
  ]);
  const text = readFileSync(join(installed, "THIRD-PARTY-LICENSES.md"), "utf8");
  const licences = [...text.matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)];
  for (const [line, , , licence] of licences) assert.ok(allowed.has(licence ?? ""), line);
  const named = new Set(licences.map(([, name, version]) => `${name}@${version}`));
  const bill = JSON.parse(billOfMaterials(root, 0)) as { components: { "bom-ref": string }[] };
  const components = new Set(bill.components.map((one) => one["bom-ref"]));
  for (const [path, { version }] of productionPackages(root)) {
    const name = `${nameOf(path)}@${version}`;
    assert.ok(named.has(name), `licence of ${name}`);
    assert.ok(components.has(name), `component ${name}`);
  }
  for (const name of ["react", "uplot"]) assert.ok([...components].some((one) => one.startsWith(`${name}@`)));
});

async function outputUntil(child: ChildProcess, pattern: RegExp): Promise<string> {
  let output = "";
  child.stdout?.on("data", (chunk) => (output += chunk));
  child.stderr?.on("data", (chunk) => (output += chunk));
  await until(() => pattern.test(output) || child.exitCode !== null, "the server to start");
  assert.match(output, pattern);
  return output;
}
