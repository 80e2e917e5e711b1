// `npm run soak`: the server for hours under everything that a plant does to it, with a table of what it
// took.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endLeftProcesses } from "../../test/support/process.ts";
import { keepSection } from "../results-file.ts";
import { tableOf, trendsOf, trendTable } from "./figures.ts";
import { runSoak } from "./run-soak.ts";

const usage = `npm run soak -- [--minutes N] [--series N] [--folder F] [--write]
  --minutes  how long (120). The last minutes of the command compare everything that was acknowledged
  --series   series of the plant, each with a value a second (5000)
  --folder   where data and backups are written (the temporary folder of the system)
  --write    also keep the tables in bench/RESULTS.md`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    series: { type: "string", default: "5000" },
    folder: { type: "string", default: tmpdir() },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [minutes, series] = [Number(values.minutes), Number(values.series)];
if (values.help || !(minutes > 0) || !(series >= 10)) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

process.once("exit", endLeftProcesses);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const folder = mkdtempSync(join(values.folder, "millrace-soak-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const backups = minutes < 30 ? "* * * * * UTC" : "*/15 * * * * UTC";
const result = await runSoak({ seconds: minutes * 60, series, backups }, folder, console.log);
const trends = trendsOf(result.samples);
const acknowledged = Object.entries(result.acknowledged).map(([what, count]) => `${count} ${what}`);
const interruptions = result.interruptions.map(({ what, seconds }) => `${what} (${seconds.toFixed(1)} s)`);
const lines = [
  `${minutes} minutes, ${series} series at 1 Hz, on ${availableParallelism()} cores (${cpus()[0]?.model}).`,
  "",
  tableOf(result.samples),
  "",
  `Interruptions: ${interruptions.join(", ")}.`,
  "",
  `Backups by the server, the newest first: ${result.backups.join(", ")}.`,
  "",
  `Acknowledged: ${acknowledged.join(", ")}. Of ${result.requests} requests ${result.away} found no server.`,
  "",
  result.findings.length === 0
    ? "Every acknowledged write was there, once. The last backup had the points up to its snapshot."
    : `**${result.findings.length} findings**: ${result.findings.slice(0, 20).join("; ")}`,
  "",
  trendTable(trends),
];
console.log(`\n${lines.join("\n")}`);
if (values.write) keepSection("Soak test", lines.join("\n"));
process.exitCode = result.findings.length > 0 || trends.some(({ isFlat }) => !isFlat) ? 1 : 0;
