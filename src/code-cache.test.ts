// Scripts with stored code, in processes of their own: the code is used again, or compiled when it is not
// usable.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { scriptEnd, scriptStart, storesAtEnd } from "./code-cache.ts";

const first = `
  const part = require("./part.cjs");
  exports.answer = (many) => part.sum(Array.from({ length: many }, (_, i) => i));
  exports.isStrict = (function () { return this === undefined; })();
  exports.load = () => import("node:path").then((path) => path.sep);
  exports.eol = require("node:os").EOL.length;
  exports.fail = () => { throw new Error("broken"); }; // The last line is a comment.`;
const part = `exports.sum = (all) => { let sum = 0; for (const one of all) sum += one; return sum; };`;

let bundle: string;
let cache: string;

beforeEach(() => {
  bundle = temporaryFolder();
  cache = join(bundle, "cache");
  for (const [file, code] of Object.entries({ "first.cjs": first, "part.cjs": part }))
    writeFileSync(join(bundle, file), scriptStart + code + scriptEnd);
});

/**
 * Runs `before`, the scripts and `code` in a process, which stores its code at its end. Returns what it
 * prints.
 */
function run(
  code: string,
  { before = "", flags = [] as string[], env = {} as NodeJS.ProcessEnv } = {},
): string {
  const program = `
    ${before}
    const { runScripts } = await import(${JSON.stringify(new URL("code-cache.ts", import.meta.url).href)});
    const scripts = runScripts(${JSON.stringify(bundle)}, { thread: "one", file: "first.cjs" });
    ${code}`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module", "--eval", program],
    {
      encoding: "utf8",
      env: { ...process.env, NODE_COMPILE_CACHE: cache, NODE_V8_COVERAGE: "", [storesAtEnd]: "1", ...env },
    },
  );
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

const useAll = "console.log(scripts.answer(5));";

/** Not at a build. */
const usual = { [storesAtEnd]: "" };
const mockTimers =
  'const { mock } = await import("node:test"); mock.timers.enable({ apis: ["setTimeout"] });';

const stored = () => globSync("scripts-*/one/*", { cwd: cache }).sort();

/** A file that is stored again is another one. */
const identities = () =>
  stored().map((file) => {
    const { ino, mtimeNs } = statSync(join(cache, file), { bigint: true });
    return `${ino} ${mtimeNs}`;
  });

/** Of first.cjs and part.cjs. */
const sizes = () => stored().map((file) => statSync(join(cache, file)).size);

const pathOf = (name: string) => join(cache, stored().find((file) => file.endsWith(name))!);

test("the scripts run like modules, with and without stored code", () => {
  const all = `
    console.log(scripts.answer(5), scripts.isStrict, await scripts.load(), scripts.eol);
    try { scripts.fail(); } catch (error) { console.log(error.stack.split("\\n")[1].trim()); }`;
  const output = `10 true / 1\nat exports.fail (${join(bundle, "first.cjs")}:7:32)`;
  assert.equal(run(all), output);
  assert.equal(run(all), output);
});

test("a process uses the code that an earlier one stored, and stores it once", () => {
  assert.equal(run(useAll), "10");
  const before = identities();
  assert.equal(before.length, 2);
  assert.equal(run(useAll), "10");
  assert.deepEqual(identities(), before);
});

test("the code includes that of functions which were called; of two processes, more of it stays", () => {
  run("");
  const [, little] = sizes();
  const [lessCache, cacheOfTest] = [temporaryFolder(), cache];
  cpSync(cache, lessCache, { recursive: true });
  cache = temporaryFolder();
  run(useAll);
  const [, much] = sizes();
  assert.ok(much! > little! + 100, "without the calls it has as much");

  const otherStores = (folder: string) =>
    `(await import("node:fs")).cpSync("${folder}", process.env.NODE_COMPILE_CACHE, { recursive: true });`;
  const moreCache = cache;
  cache = temporaryFolder();
  run(otherStores(moreCache));
  assert.equal(sizes()[1], much);
  cache = cacheOfTest;
  rmSync(cache, { recursive: true });
  run(otherStores(lessCache) + useAll);
  assert.equal(sizes()[1], much);
});

test("a short command stores nothing, so that a server can store more", () => {
  run("", { env: usual });
  run("mock.timers.tick(19_999);", { before: mockTimers, env: usual });
  assert.deepEqual(stored(), []);
  run(useAll);
  const before = identities();
  assert.equal(before.length, 2);
  run("", { env: usual });
  assert.deepEqual(identities(), before);
});

test("a process that ends later stores the rest of its code, but not for long", () => {
  const ends = "mock.timers.tick(20_000);";
  const slow = "let nowMs = 0; performance.now = () => (nowMs += 2_000);";
  run(ends + slow, { before: mockTimers, env: usual });
  assert.equal(stored().length, 1);
  run(ends + useAll, { before: mockTimers, env: usual });
  assert.equal(stored().length, 2);
  rmSync(cache, { recursive: true });
  run(ends + useAll, { before: mockTimers, env: usual });
  assert.equal(stored().length, 2);
});

test("a process that is killed later has stored its code, one script after the other", () => {
  const code = `
    const { globSync } = await import("node:fs");
    const counts = [0, 19_999, 1, 99, 1].map((ms) => {
      mock.timers.tick(ms);
      return globSync("scripts-*/one/*", { cwd: ${JSON.stringify(cache)} }).length;
    });
    console.log(counts.join());`;
  assert.equal(run(code, { before: mockTimers, env: usual }), "0,0,1,1,2");
});

test("damaged code is compiled, and stored again", () => {
  run(useAll);
  const code = readFileSync(pathOf("part.cjs"));
  for (let at = 0; at < code.length; at += 97) {
    const damaged = Buffer.from(code);
    damaged[at]! ^= 0x10;
    writeFileSync(pathOf("part.cjs"), damaged);
    const before = identities();
    assert.equal(run(useAll), "10");
    assert.notDeepEqual(identities(), before);
  }
  for (const length of [0, 3, code.length - 1]) {
    truncateSync(pathOf("part.cjs"), length);
    assert.equal(run(useAll), "10");
    assert.equal(statSync(pathOf("part.cjs")).size, code.length);
  }
});

test("code of other flags of V8 is not used, and stays", () => {
  run(useAll);
  const before = identities();
  assert.equal(run(useAll, { flags: ["--no-opt"] }), "10");
  assert.equal(stored().length, 4);
  run(useAll);
  assert.ok(before.every((one) => identities().includes(one)));
});

test("a process that limits its heap later stores code that the next one uses", () => {
  const heapLimits = JSON.stringify(new URL("lib/heap-limits.ts", import.meta.url).href);
  const limit = `(await import(${heapLimits})).limitHeapGrowth();`;
  run(limit + useAll);
  const before = identities();
  assert.equal(before.length, 2);
  assert.equal(run(useAll), "10");
  assert.deepEqual(identities(), before);
});

test("a thread that starts after the limit has its code beside that of earlier threads", () => {
  const [codeCache, heapLimits] = ["code-cache.ts", "lib/heap-limits.ts"].map((path) =>
    JSON.stringify(new URL(path, import.meta.url).href),
  );
  const thread = `
    const { runScripts } = await import(${codeCache});
    runScripts(${JSON.stringify(bundle)}, { thread: "late", file: "first.cjs" }).answer(5);`;
  const late = `
    (await import(${heapLimits})).limitHeapGrowth();
    const { Worker } = await import("node:worker_threads");
    new Worker(new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(thread)})));`;
  run(late);
  assert.equal(globSync("scripts-*", { cwd: cache }).length, 1);
  const files = globSync("scripts-*/late/*", { cwd: cache });
  assert.equal(files.length, 2);
  const inodes = () => files.map((file) => statSync(join(cache, file)).ino);
  const before = inodes();
  run(late);
  assert.deepEqual(inodes(), before, "it was not usable");
});

test("code of a script with another length is compiled again", () => {
  run(useAll);
  const before = identities();
  writeFileSync(join(bundle, "part.cjs"), scriptStart + part.replace("sum = 0", "sum = 100") + scriptEnd);
  assert.equal(run(useAll), "110");
  assert.notDeepEqual(identities(), before);
  assert.equal(run(useAll), "110");
});

test("a cache that is switched off, or cannot be written, leaves no file", () => {
  for (const env of [{ NODE_DISABLE_COMPILE_CACHE: "1" }, { NODE_COMPILE_CACHE: "" }])
    assert.equal(run(useAll, { env }), "10");
  assert.deepEqual(stored(), []);
  writeFileSync(cache, "a file where the folder would be");
  assert.equal(run(useAll), "10");
});

test("stored code of another user is not used", {
  skip: process.getuid?.() !== 0 && "only root can give files to another user",
}, () => {
  const path = join(bundle, "part.cjs");
  const right = readFileSync(path, "utf8");
  writeFileSync(path, right.replace("sum = 0", "sum = 7"));
  assert.equal(run(useAll), "17");
  writeFileSync(path, right); // As long as before: V8 accepts the code.
  assert.equal(run(useAll), "17", "the name of a script has to change with its content");
  for (const folder of globSync("scripts-*/one", { cwd: cache })) chownSync(join(cache, folder), 1, 1);
  assert.equal(run(useAll), "10");
});

test("stored code that others may write, or that a link names, is not used", {
  skip: process.getuid === undefined && "files of Windows have no such rights",
}, () => {
  const path = join(bundle, "part.cjs");
  const right = readFileSync(path, "utf8");
  const wrong = right.replace("sum = 0", "sum = 7");
  const storeWrong = () => {
    rmSync(cache, { recursive: true, force: true });
    writeFileSync(path, wrong);
    assert.equal(run(useAll), "17");
    writeFileSync(path, right);
    assert.equal(run(useAll), "17");
  };
  storeWrong();
  chmodSync(pathOf("part.cjs"), 0o620);
  assert.equal(run(useAll), "10");
  storeWrong();
  renameSync(pathOf("part.cjs"), join(bundle, "elsewhere"));
  symlinkSync(join(bundle, "elsewhere"), pathOf("first.cjs").replace("first.cjs", "part.cjs"));
  assert.equal(run(useAll), "10");
  storeWrong();
  const [folder] = globSync("scripts-*/one", { cwd: cache }).map((one) => join(cache, one));
  renameSync(folder!, join(bundle, "folder"));
  symlinkSync(join(bundle, "folder"), folder!);
  assert.equal(run(useAll), "10");
});
