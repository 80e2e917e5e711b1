// `npm test`: prepares what the tests need, runs them, ends with the summary and exit code of node:test.
//
// `npm test -- src/lib` runs the tests under a folder, `npm test -- --test-name-pattern=cursor` some of them.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { prepare, systemPackages, thisMachine } from "./system-packages.ts";

/** Only a fault lasts as long: the longest tests take a minute on a fast machine. */
const testMinutesMax = 15;

for (const line of prepare(systemPackages, thisMachine)) console.log(line);

/** Each test file is a process: without the cache, one that starts a server compiles for a second more. */
const compileCache = fileURLToPath(new URL("../node_modules/.cache/millrace", import.meta.url));

const given = process.argv.slice(2);
const places = given.filter((one) => !one.startsWith("-"));
const flags = given.filter((one) => one.startsWith("-"));
const patterns =
  places.length > 0 ? places.map(patternOf) : ["{src,test,scripts,bench,console/test}/**/*.test.ts"];

const run = spawnSync(
  process.execPath,
  [
    "--test",
    "--test-reporter=spec",
    `--test-concurrency=${availableParallelism()}`,
    `--test-timeout=${testMinutesMax * 60_000}`,
    // A failed test leaves its server running; without this its file would never end.
    "--test-force-exit",
    ...flags,
    ...patterns,
  ],
  { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, NODE_COMPILE_CACHE: compileCache } },
);
if (run.error) throw run.error;
process.exitCode = run.status ?? 1;

function patternOf(place: string): string {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? `${place.replace(/\/$/, "")}/**/*.test.ts` : place;
}
