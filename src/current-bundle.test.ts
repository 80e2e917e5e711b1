// When a start uses the bundle of the program: only while it has the content of the sources.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { bundleFolder, currentBundle, inputLine } from "./current-bundle.ts";

const folder = bundleFolder("program");
let root: string;
let source: string;

beforeEach(() => {
  root = temporaryFolder();
  source = join(root, "source.ts");
  writeFileSync(source, "const a = 1;");
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, "inputs"), inputLine(root, "source.ts")!);
});

test("a bundle is used while its sources are as they were", () => {
  assert.equal(currentBundle("program", root), join(root, folder, "program.cjs"));
});

test("it is not used after a source is changed, replaced or removed", () => {
  utimesSync(source, 1, 1);
  assert.equal(currentBundle("program", root), undefined);
  rmSync(source);
  assert.equal(currentBundle("program", root), undefined);
});

test("there is none without a build, or after a build that was broken off", () => {
  writeFileSync(join(root, folder, "inputs"), "");
  assert.equal(currentBundle("program", root), undefined);
  rmSync(join(root, folder), { recursive: true });
  assert.equal(currentBundle("program", root), undefined);
});

test("a process with a preload uses the sources, which the preload may change", (context) => {
  const { NODE_OPTIONS } = process.env;
  context.after(() => {
    if (NODE_OPTIONS === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = NODE_OPTIONS;
  });
  process.env["NODE_OPTIONS"] = "--import data:text/javascript,";
  assert.equal(currentBundle("program", root), undefined);
});
