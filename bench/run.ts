// `npm run bench`: measures our server, with --peers beside the databases of Debian, and prints the table.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requireNode } from "../scripts/require-node.ts";
import { fullOData, measureOData, quickOData } from "./odata.ts";
import { stopProcess } from "./process.ts";
import { fullRecords, measureRecords, quickRecords } from "./records.ts";
import { type Results, reportOf } from "./report.ts";
import { clickHouse } from "./systems/clickhouse.ts";
import { installPackages, packageVersion } from "./systems/debian.ts";
import { influxDb } from "./systems/influxdb.ts";
import { millrace } from "./systems/millrace.ts";
import type { Running, System } from "./systems/system.ts";
import { victoriaMetrics } from "./systems/victoria-metrics.ts";
import {
  type Figures,
  fullScale,
  measure,
  type Prepared,
  prepare,
  quickScale,
  type Scale,
} from "./workloads.ts";

const usage = `npm run bench -- [--peers] [--rounds N] [--quick] [--records] [--write]
  --peers     the same work against VictoriaMetrics, InfluxDB and ClickHouse (installed from Debian when root)
  --rounds N  rounds, each with fresh servers (5)
  --quick     a twenty-fifth of the data and one round: whether everything works, not figures to keep
  --records   assets, raw rows and OData alone (W11, W12), which no peer has
  --write     also write the table to bench/RESULTS.md`;

requireNode("npm run bench");
const { values: asked } = parseArgs({
  options: {
    peers: { type: "boolean", default: false },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    records: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (asked.help) console.log(usage);
else await bench();

async function bench(): Promise<void> {
  const scale = asked.quick ? quickScale : fullScale;
  const rounds = Number(asked.rounds ?? (asked.quick ? 1 : 5));
  const { systems, missing } = chosen();
  for (const name of missing) console.log(`${name} is not installed and will not be measured.`);
  const prepared = new Map(
    systems.map((system) => [system, asked.records ? undefined : prepare(system, scale)]),
  );
  const results: Results[] = systems.map((system) => ({ system, rounds: [] }));
  for (let round = 1; round <= rounds; round++) {
    for (const result of results) {
      console.log(`round ${round} of ${rounds}: ${result.system.name}`);
      const figures = await roundOf(result.system, prepared.get(result.system), scale);
      (result.rounds as Figures[]).push(figures);
    }
  }
  const command = ["npm run bench --", ...process.argv.slice(2)].join(" ");
  const report = reportOf(results, { command, rounds, missing });
  console.log(`\n${report}`);
  if (asked.write)
    writeFileSync(new URL("RESULTS.md", import.meta.url), `# Results of record\n\n${report}\n`);
}

function chosen(): { systems: System[]; missing: string[] } {
  if (!asked.peers) return { systems: [millrace], missing: [] };
  const peers = [victoriaMetrics, influxDb, clickHouse];
  installPackages(peers.map((one) => one.debianPackage ?? ""));
  const present = peers.filter((one) => packageVersion(one.debianPackage ?? "") !== "");
  const missing = peers.filter((one) => !present.includes(one)).map((one) => one.name);
  return { systems: [millrace, ...present], missing };
}

/** Our own server has assets and raw rows as well, measured on a server of their own. */
async function roundOf(system: System, prepared: Prepared | undefined, scale: Scale): Promise<Figures> {
  const points = prepared && (await onFresh(system, (running) => measure(system, running, prepared, scale)));
  if (system !== millrace) return { ...points };
  const records = asked.quick ? quickRecords : fullRecords;
  const overOData = await onFresh(system, ({ port }) =>
    measureOData(port, asked.quick ? quickOData : fullOData),
  );
  return { ...points, ...overOData, ...(await onFresh(system, ({ port }) => measureRecords(port, records))) };
}

/** Starts the system on a fresh folder, measures it, and leaves nothing behind. */
async function onFresh(system: System, work: (running: Running) => Promise<Figures>): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  try {
    const running = await system.start(folder);
    try {
      return await work(running);
    } finally {
      await stopProcess(running.started);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
