// `npm run test:cluster`: runs the tests of the API, of OData and of rights with the catalog in PostgreSQL
// and all datapoints in ClickHouse, then prints a table of the test files.
//
// It starts both on loopback and ends them. `npm run test:cluster -- src/resources/assets` runs the tests
// under a folder. POSTGRES_BIN names the folder with the programs of another version.
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { startClickHouse } from "../test/support/clickhouse.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { prepare, systemPackages, thisMachine } from "./system-packages.ts";

const testMinutesMax = 20;

for (const line of prepare(systemPackages, thisMachine)) console.log(line);

const places = process.argv.slice(2);
const patterns =
  places.length > 0
    ? places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`))
    : [
        "test/{oracle,compat,odata-client,typed-client}/**/*.test.ts",
        "src/**/*.api.test.ts",
        "src/storage/sql/**/*.test.ts",
      ];
const files = patterns.flatMap((pattern) => globSync(pattern, { exclude: ["**/node_modules/**"] }).sort());
if (files.length === 0) throw new Error(`there is no test file in ${patterns.join(" ")}`);

const [postgres, clickHouse] = [await startPostgres(), await startClickHouse()];
Object.assign(process.env, {
  ...{ TEST_CATALOG: "postgres", TEST_POSTGRES: postgres.url("postgres") },
  ...{ TEST_POINTS: "clickhouse", TEST_CLICKHOUSE: String(clickHouse.httpPort) },
});
const events = run({
  files,
  concurrency: availableParallelism(),
  timeout: testMinutesMax * 60_000,
  execArgv: ["--test-force-exit"],
});
const rows: string[] = [];
events.on("test:summary", ({ file, success, counts, duration_ms }) => {
  if (!success) process.exitCode = 1;
  if (file === undefined) return;
  const { tests, passed, skipped, todo } = counts;
  const failed = tests - passed - skipped - todo;
  const cells = [relative("", file), passed, failed, skipped, (duration_ms / 1000).toFixed(1)];
  rows.push(`| ${cells.join(" | ")} |`);
});
events.on("end", () => {
  postgres.remove();
  clickHouse.remove();
  const head = ["", "| File | passed | failed | skipped | seconds |", "|---|---|---|---|---|"];
  console.log([...head, ...rows.sort()].join("\n"));
});
events.compose(new spec()).pipe(process.stdout);
