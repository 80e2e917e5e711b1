// Every entry of the lock file has a hash, so that npm verifies each package that it installs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
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
    "node_modules/good/node_modules/bundled": { inBundle: true },
    "node_modules/script": { integrity: "sha512-AAAA", hasInstallScript: true },
  });
  assert.deepEqual(lockFileFindings(text), [
    { path: "package-lock.json", line: 7, problem: "node_modules/none has no sha512 integrity" },
    { path: "package-lock.json", line: 10, problem: "node_modules/weak has no sha512 integrity" },
    {
      path: "package-lock.json",
      line: 16,
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
