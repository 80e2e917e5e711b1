// `npm run bench`: measures Millrace, with --peers also the databases of Debian, and prints the table.
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { defaultCount } from "../src/front/default-count.ts";
import { measureClientCost } from "./client-cost.ts";
import { clusterParts, fullCluster, measureCluster, quickCluster } from "./cluster.ts";
import { measureCodecs } from "./codecs.ts";
import { fullConnectors, measureConnectors, quickConnectors } from "./connectors.ts";
import { consoleParts, measureConsole } from "./console/console.ts";
import { fullFairness, measureFairness, quickFairness } from "./fairness.ts";
import { measureFirstRequests } from "./first-requests.ts";
import { inFreshFolder } from "./folders.ts";
import {
  fullInterference,
  measureBackupInterference,
  measureInterference,
  quickInterference,
} from "./interference.ts";
import { measureLate } from "./late.ts";
import { measureLines, measureSyncedLines } from "./line-protocol.ts";
import { measureMachine } from "./machine.ts";
import { measureManyReaders } from "./many-readers.ts";
import { fullReads, loadForReads, measureNewWindows, quickReads } from "./new-windows.ts";
import { fullOData, measureOData, quickOData } from "./odata.ts";
import { measureOpcUa } from "./opcua.ts";
import { fullPattern, measurePatternSearch, quickPattern } from "./pattern-search.ts";
import { measure, measureFirstPass, measureUncached } from "./points.ts";
import { stopProcess } from "./process.ts";
import { fullRecords, measureRecords, quickRecords } from "./records.ts";
import { machine, type Results, reportOf } from "./report.ts";
import { measureRestart } from "./restart.ts";
import { keepSection } from "./results-file.ts";
import { measureScale } from "./scale.ts";
import { clickHouse } from "./systems/clickhouse.ts";
import { installPackages, packageVersion } from "./systems/debian.ts";
import { influxDb } from "./systems/influxdb.ts";
import { millrace } from "./systems/millrace.ts";
import { millraceOnClickHouse } from "./systems/millrace-on-clickhouse.ts";
import type { Running, System } from "./systems/system.ts";
import { victoriaMetrics } from "./systems/victoria-metrics.ts";
import { measureThreads } from "./threads.ts";
import { fullTransformations, measureTransformations, quickTransformations } from "./transformations.ts";
import { type Figures, fullScale, type Prepared, prepare, quickScale, type Scale } from "./workloads.ts";
import {
  fullWrites,
  measureLaterScans,
  measureSynced,
  measureWrites,
  quickWrites,
  withSameWrites,
} from "./writes.ts";
import { fullYear, measureYear, quickYear } from "./year.ts";

const usage = `npm run bench -- [--peers] [--rounds N] [--quick] [--only W7,W12] [--write]
  --peers     the same work against VictoriaMetrics, InfluxDB and ClickHouse (installed from Debian when root)
  --rounds N  rounds, each with fresh servers (5); at most two of workloads that have no peer
  --quick     a fraction of the data and one round: whether everything works, not figures to keep
  --only      these workloads alone, and those that are measured in one go with them
  --scale     instead of workloads: figures at 1 to 100 M points and at 100 to 1 M series (some minutes, 2 GB)
  --threads   instead of workloads: one thread or two that receive requests, on one core and two (4 minutes)
  --codecs    instead of workloads: bits a point in blocks, beside published figures (some seconds)
  --console   instead of workloads: the web console in Chromium (15 minutes, 3 GB); --only open,drag for parts
  --data      with --console: a folder that keeps the loaded data, so that the next run starts with it
  --connectors  instead of workloads: messages of a broker, and the backlog of an outage (2 minutes)
  --opcua     instead of workloads: 5,000 variables of an OPC UA server at 1 Hz (2 minutes)
  --transformations  instead of workloads: raw rows into events, and the changed rows alone (4 minutes)
  --cluster   the workloads with the datapoints in ClickHouse, beside the same work by ClickHouse alone; then
              1, 2 and 4 servers on PostgreSQL, beside SQLite, and up to a million series (40 GB of disk);
              --only servers,records,series1k,series10k,series100k,series1M for parts of these
  --write     also keep the table in bench/RESULTS.md, in a section of its own`;

const { values: options } = parseArgs({
  options: {
    peers: { type: "boolean", default: false },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    scale: { type: "boolean", default: false },
    codecs: { type: "boolean", default: false },
    threads: { type: "boolean", default: false },
    cluster: { type: "boolean", default: false },
    connectors: { type: "boolean", default: false },
    opcua: { type: "boolean", default: false },
    transformations: { type: "boolean", default: false },
    console: { type: "boolean", default: false },
    data: { type: "string" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** The workloads of every system. */
const ofPoints = ["W1", "W2", "W4", "W5", "W6", "W8", "W9"];
/** Of these, the ones with rows for other forms of the same writes. */
const ofWrites = ["W1", "W2"];
/** Reads of every system without caches of results. */
const ofReads = ["W14", "W15"];
/** Those of every system that takes line protocol. */
const ofLines = ["lines"];

type OpenServer = (work: (running: Running) => Promise<Figures>) => Promise<Figures>;

/** Workloads of Millrace only, each measured on its own server. */
interface Group {
  readonly names: readonly string[];
  readonly measure: (open: OpenServer, isQuick: boolean) => Promise<Figures>;
}

const groups: readonly Group[] = [
  {
    names: ["W3"],
    measure: (open, isQuick) => measureLate(open, isQuick ? quickScale : fullScale),
  },
  {
    names: ["W10"],
    async measure(open, isQuick) {
      const scale = isQuick ? quickInterference : fullInterference;
      const alone = await open((running) => measureInterference(running, scale));
      return { ...alone, ...(await open((running) => measureBackupInterference(running, scale))) };
    },
  },
  {
    names: ["W13"],
    measure: (open, isQuick) => open((running) => measureRestart(running, isQuick ? quickScale : fullScale)),
  },
  {
    names: ["W7"],
    measure: (open, isQuick) => open((running) => measureYear(running, isQuick ? quickYear : fullYear)),
  },
  {
    names: ["W12"],
    measure: (open, isQuick) => open(({ port }) => measureOData(port, isQuick ? quickOData : fullOData)),
  },
  {
    names: ["W16"],
    measure: (open, isQuick) =>
      open(({ port }) => measurePatternSearch(port, isQuick ? quickPattern : fullPattern)),
  },
  {
    names: ["W19"],
    measure: (open, isQuick) =>
      open((running) => measureFairness(running, isQuick ? quickFairness : fullFairness)),
  },
  { names: ["W20"], measure: measureFirstRequests },
  {
    names: ["W11", "raw"],
    measure: (open, isQuick) =>
      open(({ port }) => measureRecords(port, isQuick ? quickRecords : fullRecords)),
  },
];

const command = ["npm run bench --", ...process.argv.slice(2)].join(" ");
const only = options.only?.split(",");
const isAsked = (names: readonly string[]) => only === undefined || names.some((name) => only.includes(name));

async function scale(): Promise<void> {
  const tables = await measureScale((work) => onFresh(millrace, work), options.quick);
  const threads = `front threads: ${defaultCount(availableParallelism())}, as by default`;
  show("Scale", `${machine()}\n\n\`${command}\`: one round, ${threads}.\n\n${tables}`);
}

async function benchThreads(): Promise<void> {
  const scale = options.quick ? { ...quickReads, scans: 50 } : { ...fullReads, scans: 1_000 };
  const tables = await measureThreads(onFresh, { ...scale, requests: options.quick ? 100 : 3_000 });
  show("Front threads", `${machine()}\n\n\`${command}\`: one round.\n\n${tables}`);
}

async function benchConnectors(): Promise<void> {
  const scale = options.quick ? quickConnectors : fullConnectors;
  const table = await measureConnectors((work) => onFresh(millrace, work), scale);
  show("Connectors", `${machine()}\n\n\`${command}\`: one round.\n\n${table}`);
}

async function benchOpcUa(): Promise<void> {
  const table = await measureOpcUa(options.quick ? 10 : 60);
  show("OPC UA", `${machine()}\n\n\`${command}\`: one round.\n\n${table}`);
}

async function benchTransformations(): Promise<void> {
  const scale = options.quick ? quickTransformations : fullTransformations;
  const table = await onFresh(millrace, (running) => measureTransformations(running, scale));
  show("Transformations", `${machine()}\n\n\`${command}\`: one round.\n\n${table}`);
}

async function benchConsole(): Promise<void> {
  refuseUnknown(only ?? [], consoleParts);
  const data = options.data === undefined ? undefined : resolve(options.data);
  const { table, isWhole } = await measureConsole({ isQuick: options.quick, data, only });
  show("The web console", `${machine()}\n\n\`${command}\`: one round.\n\n${table}`);
  if (!isWhole) process.exitCode = 1;
}

/** Prints a report, and with `--write` stores it. */
function show(heading: string, report: string): void {
  console.log(`\n${report}`);
  if (options.write) keepSection(heading, report);
}

/** Parts of the measurements of servers on PostgreSQL and ClickHouse. */
async function benchCluster(parts: readonly string[]): Promise<void> {
  const tables = await measureCluster(clusterScale, parts);
  show(`Scaling out: ${parts.join(", ")}`, `${machine()}\n\n\`${command}\`: one round.\n\n${tables}`);
}

async function bench(): Promise<void> {
  refuseUnknown(only ?? [], [ofPoints, ofReads, ofLines, ...groups.map((one) => one.names)].flat());
  const scale = options.quick ? quickScale : fullScale;
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 5));
  const { systems, missing } = chosen();
  for (const name of missing) console.log(`${name} is not installed and will not be measured.`);
  const prepared = new Map(
    systems.map((system) => [system, isAsked(ofPoints) ? prepare(system, scale) : undefined]),
  );
  const results: Results[] = systems.map((system) => ({ system, rounds: [] }));
  for (let round = 1; round <= rounds; round++) {
    for (const result of results) {
      console.log(`round ${round} of ${rounds}: ${result.system.name}`);
      const figures = await roundOf(result.system, prepared.get(result.system), scale);
      const own = result.system === millrace && round <= ownRoundsMax ? await ownFigures() : {};
      (result.rounds as Figures[]).push({ ...figures, ...own });
    }
  }
  const bars = options.cluster && { bars: clusterBars };
  const ownRounds = options.cluster ? rounds : Math.min(rounds, ownRoundsMax);
  const report = reportOf(results, {
    command,
    rounds,
    ownRounds,
    missing,
    ...bars,
  });
  const more = options.cluster && only === undefined;
  show(heading(), more ? `${report}\n\n${await measureCluster(clusterScale, clusterParts)}` : report);
}

function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`--only takes ${known.join(",")} and not ${unknown.join(",")}`);
}

const clusterScale = options.quick ? quickCluster : fullCluster;

/** Ratios to ClickHouse alone. */
const clusterBars = { W1: 0.7, W2: 0.7, W4cached: 1.3, W5cached: 1.3, W6a: 1.3, W6b: 1.3 };

const heading = () =>
  (options.cluster ? "Datapoints in ClickHouse: " : "") +
  `${only ? `${only.join(", ")} alone` : "All workloads"}${options.peers ? ", beside the peers" : ""}`;

function chosen(): { systems: System[]; missing: string[] } {
  if (options.cluster) {
    installPackages([clickHouse.debianPackage ?? ""]);
    return { systems: [millraceOnClickHouse, clickHouse], missing: [] };
  }
  if (!options.peers) return { systems: [millrace], missing: [] };
  const peers = [victoriaMetrics, influxDb, clickHouse];
  installPackages(peers.map((one) => one.debianPackage ?? ""));
  const present = peers.filter((one) => packageVersion(one.debianPackage ?? "") !== "");
  const missing = peers.filter((one) => !present.includes(one)).map((one) => one.name);
  return { systems: [millrace, ...present], missing };
}

/** The bars of workloads without peers are figures, which need fewer rounds than ratios. */
const ownRoundsMax = 2;

async function roundOf(system: System, prepared: Prepared | undefined, scale: Scale): Promise<Figures> {
  const figures: Figures[] = [];
  const add = async (name: string, work: () => Promise<Figures>) => figures.push(await logged(name, work));
  if (prepared) await add("points", () => pointsOf(system, prepared, scale));
  if (isAsked(ofLines)) await add("lines", () => linesOf(system, scale));
  if (isAsked(ofReads)) await add("reads", () => readsOf(system));
  if (system !== millrace) return Object.assign({}, ...figures);
  if (prepared && isAsked(ofWrites)) await add("Node's server", () => measureClientCost(prepared));
  return Object.assign(measureMachine(), ...figures);
}

/** Of the workloads that no peer offers. */
async function ownFigures(): Promise<Figures> {
  const open: OpenServer = (work) => onFresh(millrace, work);
  const figures: Figures[] = [];
  for (const { names, measure } of groups)
    if (isAsked(names)) figures.push(await logged(names.join(), () => measure(open, options.quick)));
  return Object.assign({}, ...figures);
}

/** Prints how long a part has taken. */
async function logged<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  const result = await work();
  console.log(`  ${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return result;
}

async function pointsOf(system: System, prepared: Prepared, scale: Scale): Promise<Figures> {
  const figures = await inFreshFolder((folder) => figuresIn(folder, system, prepared, scale));
  if (options.cluster || !isAsked(ofWrites)) return figures;
  const writes = options.quick ? quickWrites : fullWrites;
  const { synced } = system;
  return withSameWrites(system, {
    ...figures,
    ...(await onFresh(system, (running) => measureWrites(system, running, writes))),
    ...(await onFresh(system, (running) => measureLaterScans(system, running, writes))),
    ...(synced && (await onFresh(synced, (running) => measureSynced(running, prepared)))),
  });
}

/** On one data folder: a new server, one that has restarted, and one that caches no results. */
async function figuresIn(folder: string, system: System, prepared: Prepared, scale: Scale): Promise<Figures> {
  const figures = await whileRunning(system, folder, (one) => measure(system, one, prepared, scale));
  if (options.cluster) return figures;
  const first = await whileRunning(system, folder, (one) => measureFirstPass(one, prepared));
  const { uncached: start } = system;
  const uncached = start
    ? await whileRunning({ start }, folder, (one) => measureUncached(system, one, prepared, scale))
    : { W4: figures.W4cached!, W5: figures.W5cached! };
  return { ...figures, ...first, ...uncached };
}

async function linesOf(system: System, scale: Scale): Promise<Figures> {
  const { lineProtocol } = system;
  if (!lineProtocol) return {};
  const figures = await onFresh(system, (running) => measureLines(lineProtocol, running, scale));
  const { linesBackfill, linesScan } = figures;
  if (system.isDurable)
    return { ...figures, linesBackfillSynced: linesBackfill!, linesScanSynced: linesScan! };
  if (!system.synced) return figures;
  const synced = await onFresh(system.synced, (running) => measureSyncedLines(lineProtocol, running, scale));
  return { ...figures, ...synced };
}

/** W14 and W15, on a server that caches no results. */
function readsOf(system: System): Promise<Figures> {
  const scale = options.quick ? quickReads : fullReads;
  const uncached = { ...system, start: system.uncached ?? system.start };
  return onFresh(uncached, async (running) => {
    const loaded = { series: await loadForReads(system, running, scale), scale };
    const windows = await measureNewWindows(system, running, loaded);
    return { ...windows, ...(await measureManyReaders(system, running, loaded)) };
  });
}

/** Starts the system on a fresh folder, measures it, and deletes the folder. */
const onFresh = <One extends Running, Result>(
  system: Startable<One>,
  work: (running: One) => Promise<Result>,
): Promise<Result> => inFreshFolder((folder) => whileRunning(system, folder, work));

interface Startable<One extends Running> {
  start(folder: string): Promise<One>;
}

async function whileRunning<One extends Running, Result>(
  system: Startable<One>,
  folder: string,
  work: (running: One) => Promise<Result>,
): Promise<Result> {
  const running = await system.start(folder);
  try {
    return await work(running);
  } finally {
    await stopProcess(running.started);
  }
}

// A signal ends the measured servers too, and deletes their folders.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

if (options.help) console.log(usage);
else if (options.scale) await scale();
else if (options.console) await benchConsole();
else if (options.connectors) await benchConnectors();
else if (options.opcua) await benchOpcUa();
else if (options.transformations) await benchTransformations();
else if (options.threads) await benchThreads();
else if (options.codecs) show("Codecs", `${machine()}\n\n\`${command}\`\n\n${measureCodecs()}`);
else if (options.cluster && only?.every((name) => clusterParts.includes(name))) await benchCluster(only);
else await bench();
