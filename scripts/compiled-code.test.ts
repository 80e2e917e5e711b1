// The compiled code of a build, in a folder with a server of which nothing works.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { storeCompiledCode } from "./compiled-code.ts";

const { NODE_COMPILE_CACHE } = process.env;
afterEach(() => {
  if (NODE_COMPILE_CACHE === undefined) delete process.env["NODE_COMPILE_CACHE"];
  else process.env["NODE_COMPILE_CACHE"] = NODE_COMPILE_CACHE;
});

const user = process.getuid?.() ?? 0;

test("a build whose server fails keeps none of its code, and that of other users", {
  skip: process.getuid === undefined && "folders of Windows have no such users",
}, async () => {
  const root = temporaryFolder();
  const cache = join(root, "cache");
  const ownCache = join(root, "node_modules/.cache/millrace");
  const others = `scripts-v1-${user + 1}`;
  for (const folder of [cache, ownCache])
    for (const name of [others, `v1-${user}`]) mkdirSync(join(folder, name), { recursive: true });
  mkdirSync(join(root, "src"));
  const server = `
    const { mkdirSync, renameSync } = require("node:fs");
    mkdirSync(process.env.NODE_COMPILE_CACHE + "/scripts-v1-${user}");
    renameSync(__filename, __filename + ".ran");
    process.exit(1);`;
  writeFileSync(join(root, "src/start.js"), server);
  process.env["NODE_COMPILE_CACHE"] = cache;
  await storeCompiledCode(root);
  assert.deepEqual(readdirSync(join(root, "src")), ["start.js.ran"]);
  const left = readdirSync(cache);
  assert.ok(left.includes(others) && left.includes(`v1-${user}`));
  assert.ok(!left.includes(`scripts-v1-${user}`));
  assert.deepEqual(readdirSync(ownCache), [others]);
});
