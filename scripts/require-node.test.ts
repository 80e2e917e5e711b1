// The script that runs after `npm ci`, on a real npm.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";

const script = join(import.meta.dirname, "require-node.js");
const name = `node-${process.platform}-${process.arch}`;

function newProject(major: number): string {
  const folder = temporaryFolder();
  const manifest = {
    name: "plant",
    type: "module",
    scripts: { postinstall: "node require-node.js" },
    optionalDependencies: { [name]: `${major}.0.0` },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  cpSync(script, join(folder, "require-node.js"));
  return folder;
}

const runScript = (folder: string) =>
  spawnSync("npm", ["run", "--silent", "postinstall"], { cwd: folder, encoding: "utf8" });

test("a Node that npm has installed without its link is linked", () => {
  const folder = newProject(999);
  const installed = join(folder, "node_modules", name);
  mkdirSync(join(installed, "bin"), { recursive: true });
  writeFileSync(
    join(installed, "package.json"),
    JSON.stringify({ name, version: "999.0.0", bin: { node: "bin/node" } }),
  );
  writeFileSync(join(installed, "bin", "node"), "#!/bin/sh\necho pinned\n");
  const { status, stderr } = runScript(folder);
  assert.equal(status, 0, stderr);
  const link = join(folder, "node_modules", ".bin", "node");
  assert.ok(existsSync(link));
  assert.match(readFileSync(link, "utf8"), /echo pinned/);
});

test("an older Node without the pinned one is refused", () => {
  const { status, stderr } = runScript(newProject(999));
  assert.equal(status, 1);
  assert.match(stderr, /^Node 999\.0\.0 for .* is not installed; this is Node /);
});

test("a Node as new as the pinned one needs no package", () => {
  assert.equal(runScript(newProject(1)).status, 0);
});
