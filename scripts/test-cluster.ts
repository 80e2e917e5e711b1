// `npm run test:cluster`: runs the tests of the API, of OData and of rights with the catalog in PostgreSQL.
//
// It starts a PostgreSQL server on loopback and ends it. `npm run test:cluster -- src/resources/assets` runs
// the tests under a folder. POSTGRES_BIN names the folder with the programs of another version.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { startPostgres } from "../test/support/postgres.ts";
import { prepare, systemPackages, thisMachine } from "./system-packages.ts";

const testMinutesMax = 10;

for (const line of prepare(systemPackages, thisMachine)) console.log(line);

const places = process.argv.slice(2);
const patterns =
  places.length > 0
    ? places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`))
    : [
        "src/**/*.api.test.ts",
        "src/storage/sql/**/*.test.ts",
        "test/{oracle,compat,odata-client,typed-client}/**/*.test.ts",
      ];

const server = await startPostgres();
const run = spawnSync(
  process.execPath,
  [
    "--test",
    "--test-reporter=spec",
    `--test-concurrency=${availableParallelism()}`,
    `--test-timeout=${testMinutesMax * 60_000}`,
    "--test-force-exit",
    ...patterns,
  ],
  {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, TEST_CATALOG: "postgres", TEST_POSTGRES: server.url("postgres") },
  },
);
server.remove();
if (run.error) throw run.error;
process.exitCode = run.status ?? 1;
