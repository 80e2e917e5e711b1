// Part of `npm run test:cluster`: runs the tests of datapoints and the API tests that read or write them with
// all datapoints in ClickHouse, which it starts on loopback and ends.
//
// `node scripts/test-cluster-points.ts src/resources/datapoints` runs the tests under a folder.
import { spawnSync } from "node:child_process";
import { startClickHouse } from "../test/support/clickhouse.ts";
import { zooKeeperPackage } from "../test/support/zookeeper.ts";
import { prepare, systemPackages, thisMachine } from "./system-packages.ts";

const testMinutesMax = 10;

const packages = { ...systemPackages, zookeeper: zooKeeperPackage };
for (const line of prepare(packages, thisMachine)) console.log(line);

const places = process.argv.slice(2);
const patterns =
  places.length > 0
    ? places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`))
    : [
        "src/storage/clickhouse-points/*.test.ts",
        "test/cluster/points.*.test.ts",
        "test/shared-catalog/points.test.ts",
        "src/resources/{datapoints,timeseries,calculated,analytics,trends}/**/*.api.test.ts",
        "test/{oracle,compat,odata-client,typed-client}/**/*.test.ts",
      ];

const server = await startClickHouse();
const flags = ["--test", "--test-reporter=spec", "--test-concurrency=1", "--test-force-exit"];
const run = spawnSync(
  process.execPath,
  [...flags, `--test-timeout=${testMinutesMax * 60_000}`, ...patterns],
  {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, TEST_POINTS: "clickhouse", TEST_CLICKHOUSE: String(server.httpPort) },
  },
);
server.remove();
if (run.error) throw run.error;
process.exitCode = run.status ?? 1;
