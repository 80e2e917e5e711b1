// `npm test`: prepares what the tests need, runs them, ends with the summary and exit code of node:test.
//
// `npm test -- src/lib` runs the tests under a folder, `npm test -- --test-name-pattern=cursor` some of them.
import { globSync, rmSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { prepare, systemPackages, thisMachine } from "./system-packages.ts";
import { groupModule, testGroups } from "./test-groups.ts";

/** Only a fault lasts as long: the longest tests take a minute on a fast machine. */
const testMinutesMax = 15;

for (const line of prepare(systemPackages, thisMachine)) console.log(line);

/** Without the cache, each process that starts a server compiles for a second more. */
process.env["NODE_COMPILE_CACHE"] = fileURLToPath(
  new URL("../node_modules/.cache/millrace", import.meta.url),
);

const given = process.argv.slice(2);
const places = given.filter((one) => !one.startsWith("-"));
const flags = given.filter((one) => one.startsWith("-"));
const patterns =
  places.length > 0 ? places.map(patternOf) : ["{src,test,scripts,bench,console/test}/**/*.test.ts"];

const files = globSync(patterns, { exclude: ["**/node_modules/**"] }).sort();
if (files.length === 0) throw new Error(`there is no test file in ${patterns.join(" ")}`);

const groupsFolder = fileURLToPath(
  new URL(`../node_modules/.cache/millrace-tests/${process.pid}`, import.meta.url),
);
process.on("exit", () => rmSync(groupsFolder, { recursive: true, force: true }));
const modules = testGroups(files).map((group, at) =>
  group.length === 1 ? group[0]! : groupModule(group, join(groupsFolder, `${at}.mjs`)),
);

const events = run({
  files: modules,
  // One more than cores, for those that wait: for a disk, a time, a process that starts.
  concurrency: availableParallelism() + 1,
  timeout: testMinutesMax * 60_000,
  // A failed test leaves its server running; without this its file would never end.
  execArgv: ["--test-force-exit", ...flags],
});
events.on("test:fail", () => {
  process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);

function patternOf(place: string): string {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? `${place.replace(/\/$/, "")}/**/*.test.ts` : place;
}
