// Part of `npm run test:cluster`: runs the tests of the store of datapoints in ClickHouse, with many more
// random operations than `npm test`. It starts ClickHouse on loopback and ends it.
//
// `node scripts/test-cluster-points.ts src/resources/datapoints` runs the tests under a folder with all
// datapoints in ClickHouse and the catalog in the data folder.
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
