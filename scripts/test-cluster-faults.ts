// Part of `npm run test:cluster`: takes away parts of an installation under load, and prints the table of
// docs/scale.md. It starts all parts on loopback and ends them. It mounts a small tmpfs, so root must run it.
import { spawnSync } from "node:child_process";
import { haproxyPackage } from "../test/support/haproxy.ts";
import { zooKeeperPackage } from "../test/support/zookeeper.ts";
import { prepare, systemPackages, thisMachine } from "./system-packages.ts";

const testMinutesMax = 15;

const { postgresql, clickhouse } = systemPackages;
const faketime = { command: "faketime", debian: ["faketime"], usedFor: "a server with another time" };
const packages = {
  ...{ postgresql: postgresql!, clickhouse: clickhouse!, faketime },
  ...{ zookeeper: zooKeeperPackage, haproxy: haproxyPackage },
};
for (const line of prepare(packages, thisMachine)) console.log(line);

const flags = ["--test", "--test-reporter=spec", "--test-force-exit"];
const run = spawnSync(
  process.execPath,
  [...flags, `--test-timeout=${testMinutesMax * 60_000}`, "test/faults/faults.test.ts"],
  { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, TEST_FAULTS: "on" } },
);
if (run.error) throw run.error;
process.exitCode = run.status ?? 1;
