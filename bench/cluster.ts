// Servers over PostgreSQL and ClickHouse: processor time of one, two and four servers, calls of records
// beside SQLite, and reads of many series whose points ClickHouse generates itself.
import { mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgres, statement } from "../test/support/postgres.ts";
import { temporaryFolder } from "./folders.ts";
import { generateScans, seed, startMs } from "./generate.ts";
import { type Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { processorSeconds, processorSecondsOfChildren, stopProcess } from "./process.ts";
import { figure } from "./report.ts";
import { execute, startClickHouse } from "./systems/clickhouse.ts";
import { get, getOData, millrace, postTo06, startMillrace } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import { percentile, timesOf } from "./workloads.ts";

export interface ClusterScale {
  /** Requests of one point of a thousand series. */
  readonly scans: number;
  /** Those before, of each server. */
  readonly warmScans: number;
  readonly records: number;
  readonly reads: number;
  readonly series: number;
  /** The growth of `series` from one part to the next. */
  readonly growth: number;
  readonly pointsPerSeries: number;
}

/** The generated points of the largest part take 40 GB of disk. */
export const fullCluster: ClusterScale = {
  ...{ scans: 6_000, warmScans: 3_000, records: 100_000, reads: 200 },
  ...{ series: 1_000, growth: 10, pointsPerSeries: 1_000 },
};
export const quickCluster: ClusterScale = {
  ...{ scans: 50, warmScans: 20, records: 2_000, reads: 20 },
  ...{ series: 1_000, growth: 1, pointsPerSeries: 1_000 },
};

const serverCounts = [1, 2, 4];
/** A multiple of every number of servers. */
const clients = 16;
/** Each ends with this process. */
const maxProcesses = 20;
const perRequest = 1_000;
const idleSeconds = 5;
/** Of each kind, before the measured ones: else the p99 would show how long the server compiles its code. */
const warmReads = 30;
const hourMs = 3_600_000;
const scanned = Array.from({ length: perRequest }, (_, at) => `scan${String(at).padStart(4, "0")}`);

/** The databases that the servers share. */
interface Backends {
  readonly clickHousePort: number;
  readonly postgresProcess: number;
}

type Work<Result> = (servers: readonly Running[], backends: Backends) => Promise<Result>;

/** Each measures a table in Markdown. */
const parts: Readonly<Record<string, (scale: ClusterScale) => Promise<string>>> = {
  servers: serversTable,
  records: recordsTable,
  series1k: (scale) => seriesTable(scale, 0),
  series10k: (scale) => seriesTable(scale, 1),
  series100k: (scale) => seriesTable(scale, 2),
  series1M: (scale) => seriesTable(scale, 3),
};
export const clusterParts = Object.keys(parts);

export async function measureCluster(scale: ClusterScale, names: readonly string[]): Promise<string> {
  process.setMaxListeners(maxProcesses);
  const tables: string[] = [];
  for (const name of names) tables.push(await parts[name]!(scale));
  return tables.join("\n\n");
}

/** The four clients and their requests are the same, however many servers there are. */
async function serversTable(scale: ClusterScale): Promise<string> {
  const rows: string[] = [];
  for (const count of serverCounts)
    rows.push(await onCluster(count, (servers) => processorRow(servers, scale)));
  const head = [
    `Processor time in W2 with ${clients} clients in all, each with one request at a time.`,
    "",
    "| Servers | points/s | processor s per million points, of all servers | of one idle, per s |",
    "|---|---|---|---|",
  ];
  return [...head, ...rows].join("\n");
}

async function recordsTable(scale: ClusterScale): Promise<string> {
  const [sqlite, one, four] = [
    await onFolder((server) => recordFigures([server], scale)),
    await onCluster(1, (servers, { postgresProcess }) => recordFigures(servers, scale, postgresProcess)),
    await onCluster(4, (servers, { postgresProcess }) => recordFigures(servers, scale, postgresProcess)),
  ];
  const rows = Object.keys(sqlite).map((what) =>
    lineOf([what, sqlite[what]!, one[what]!, four[what]!].map((cell) => shown(cell))),
  );
  const head = ["| Calls | SQLite | PostgreSQL, 1 server | PostgreSQL, 4 servers |", "|---|---|---|---|"];
  return [...head, ...rows].join("\n");
}

async function seriesTable(smallest: ClusterScale, growths: number): Promise<string> {
  const scale = { ...smallest, series: smallest.series * smallest.growth ** growths };
  const rows = await onCluster(1, (servers, { clickHousePort }) =>
    manySeriesRows(servers[0]!, clickHousePort, scale),
  );
  const title = `${figure(scale.series)} series, ${figure(scale.pointsPerSeries)} points each`;
  return [`| ${title} | ms |`, "|---|---|", ...rows].join("\n");
}

const lineOf = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const shown = (cell: string | number) => (typeof cell === "string" ? cell : figure(cell));

async function onFolder<Result>(work: (server: Running) => Promise<Result>): Promise<Result> {
  await using all = new AsyncDisposableStack();
  return await work(await serverIn(all, {}));
}

/** Starts so many servers on a PostgreSQL and a ClickHouse of their own. */
async function onCluster<Result>(count: number, work: Work<Result>): Promise<Result> {
  await using all = new AsyncDisposableStack();
  const folder = folderOf(all);
  mkdirSync(`${folder}/clickhouse`);
  const clickHouse = await startClickHouse(`${folder}/clickhouse`);
  all.defer(() => stopProcess(clickHouse.started));
  await execute(clickHouse.port, "CREATE DATABASE plant");
  const postgres = await startPostgres({ fsync: true });
  all.defer(() => postgres.remove());
  await statement(postgres.url("postgres"), "create database plant");
  const settings = {
    MILLRACE_CATALOG: postgres.url("plant"),
    MILLRACE_POINTS: `clickhouse://127.0.0.1:${clickHouse.port}/plant`,
  };
  console.log(`${count} servers on PostgreSQL and ClickHouse`);
  const servers: Running[] = [];
  for (let at = 0; at < count; at++) servers.push(await serverIn(all, settings));
  return await work(servers, { clickHousePort: clickHouse.port, postgresProcess: postgres.processId });
}

function folderOf(all: AsyncDisposableStack): string {
  const { folder, remove } = temporaryFolder();
  all.defer(remove);
  return folder;
}

async function serverIn(all: AsyncDisposableStack, settings: Readonly<Record<string, string>>) {
  const server = await startMillrace(folderOf(all), settings);
  all.defer(() => stopProcess(server.started));
  return server;
}

/** Four connections to each server, or so many. */
async function connectedTo<Result>(
  servers: readonly Running[],
  work: (connections: readonly Connection[]) => Promise<Result>,
  ofEach?: number,
): Promise<Result> {
  const opened = await Promise.all(servers.map(({ port }) => openConnections(port, ofEach)));
  const connections = opened.flat();
  try {
    return await work(connections);
  } finally {
    for (const one of connections) one.close();
  }
}

/** All servers are warm before: else the figure would show how long each compiles its code. */
async function processorRow(
  servers: readonly Running[],
  { scans, warmScans }: ClusterScale,
): Promise<string> {
  await servers[0]!.declare(scanned);
  const all = generateScans(perRequest, warmScans * servers.length + scans, seed);
  const requests = all.map((one) => millrace.requests.scan(scanned, one));
  const used = () => servers.reduce((sum, { started }) => sum + processorSeconds(started), 0);
  for (const server of servers)
    await connectedTo([server], (connections) => drive(connections, requests.splice(0, warmScans)));
  const idleBefore = used();
  await pause(idleSeconds * 1000);
  const idle = (used() - idleBefore) / idleSeconds / servers.length;
  const driven = async (connections: readonly Connection[]) => {
    const before = used();
    const seconds = await drive(connections, requests);
    const millions = (scans * perRequest) / 1e6;
    return lineOf([
      `${servers.length}`,
      figure((millions * 1e6) / seconds),
      figure((used() - before) / millions),
      figure(idle),
    ]);
  };
  return connectedTo(servers, driven, clients / servers.length);
}

/** Calls of assets and series: milliseconds at the median, and calls a second over all connections. */
async function recordFigures(
  servers: readonly Running[],
  { records, reads }: ClusterScale,
  postgresProcess?: number,
): Promise<Readonly<Record<string, number>>> {
  return connectedTo(servers, async (connections) => {
    const assets = await create(connections, "assets", records);
    const series = await create(connections, "timeseries", records);
    const at = (index: number) => (index * 7919) % records;
    const p50 = async (request: (index: number) => RequestBytes) => {
      let index = 0;
      const times = await timesOf(reads, async () =>
        expectSuccess(await connections[0]!.send(request(at(index++)))),
      );
      return percentile(times, 0.5);
    };
    const one = (index: number) => get(`/assets/${assets.ids[index]}`);
    const many = Array.from({ length: reads * 50 }, (_, index) => one(at(index)));
    const used = () => servers.reduce((sum, { started }) => sum + processorSeconds(started), 0);
    const usedByPostgres = () => (postgresProcess ? processorSecondsOfChildren(postgresProcess) : 0);
    await drive(connections, many);
    const [before, beforeInPostgres] = [used(), usedByPostgres()];
    const seconds = await drive(connections, many);
    const msPerCall = (used: number) => (used / many.length) * 1000;
    const [ms, msInPostgres] = [used() - before, usedByPostgres() - beforeInPostgres].map(msPerCall);
    return {
      "assets created, 1,000 a request, 1/s": records / assets.seconds,
      "series created, 1,000 a request, 1/s": records / series.seconds,
      "one asset, p50, ms": await p50(one),
      "page of 1,000 assets, p50, ms": await p50(() => get("/assets?limit=1000")),
      "series by name, p50, ms": await p50((index) => get(`/timeseries?name=${nameOf("timeseries", index)}`)),
      "search of assets, p50, ms": await p50((index) =>
        get(`/assets/search?name=${nameOf("assets", index)}`),
      ),
      "one asset, four connections a server, 1/s": many.length / seconds,
      "the same, processor time of the servers, ms a call": ms!,
      "the same, processor time of PostgreSQL, ms a call": msInPostgres!,
    };
  });
}

/** A thousand records share a beginning. */
const nameOf = (kind: string, index: number) =>
  `${kind}-${Math.floor(index / perRequest)}-${index % perRequest}`;

/** Records with the names of `nameOf`. */
async function create(connections: readonly Connection[], kind: "assets" | "timeseries", count: number) {
  const ids: number[] = [];
  const started = performance.now();
  const starts = Array.from({ length: Math.ceil(count / perRequest) }, (_, at) => at * perRequest);
  await Promise.all(
    connections.map(async (connection) => {
      for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
        const names = Array.from({ length: Math.min(perRequest, count - from) }, (_, at) =>
          nameOf(kind, from! + at),
        );
        const request = postTo06(`/${kind}`, JSON.stringify({ items: names.map((name) => ({ name })) }));
        const { body } = expectSuccess(await connection.send(request));
        const { data } = JSON.parse(body.toString()) as { data: { items: readonly { id: number }[] } };
        for (const [at, { id }] of data.items.entries()) ids[from + at] = id;
      }
    }),
  );
  return { ids, seconds: (performance.now() - started) / 1000 };
}

/** One point an hour of every series, generated by ClickHouse. */
async function manySeriesRows(
  server: Running,
  clickHousePort: number,
  { series, pointsPerSeries, reads }: ClusterScale,
): Promise<string[]> {
  const { ids } = await connectedTo([server], (connections) => create(connections, "timeseries", series));
  for (let from = 0; from < series; from += perRequest)
    await execute(
      clickHousePort,
      `INSERT INTO plant.points (series, t, v, version)
        SELECT series, ${startMs} + number * ${hourMs}, (series + number) % 1000 / 8, 1
        FROM (SELECT arrayJoin([${ids.slice(from, from + perRequest)}]) AS series)
        CROSS JOIN (SELECT number FROM system.numbers LIMIT ${pointsPerSeries})`,
    );
  const month = { startMs, endMs: startMs + 720 * hourMs };
  const nameAt = (at: number) => nameOf("timeseries", (at * 7919) % series);
  return connectedTo([server], async ([connection]) => {
    const timed = async (request: (at: number) => RequestBytes, whole: (body: Buffer) => boolean) => {
      let at = 0;
      const read = async () => {
        const { body } = expectSuccess(await connection!.send(request(at++)));
        if (!whole(body)) throw new Error(`a response is incomplete: ${body.toString("utf8", 0, 300)}`);
      };
      await timesOf(warmReads, read);
      return timesOf(reads, read);
    };
    const groups = series / perRequest;
    const groupAt = (at: number) => `startswith(Name,'timeseries-${(at * 7919) % groups}-')`;
    const latest = await timed(
      (at) => getOData(`Timeseries?$filter=${groupAt(at)}&$select=Name&$expand=Latest`),
      (body) => body.toString().split('"Name"').length === perRequest + 1,
    );
    const average = await timed(
      (at) => millrace.requests.hourlyAverage(nameAt(at), month),
      (body) => millrace.rows.hourlyAverage(body) === 720,
    );
    return [
      lineOf(["latest of 1,000 series, p50", figure(percentile(latest, 0.5))]),
      lineOf(["latest of 1,000 series, p99", figure(percentile(latest, 0.99))]),
      lineOf(["hourly average of a month, p50", figure(percentile(average, 0.5))]),
      lineOf(["hourly average of a month, p99", figure(percentile(average, 0.99))]),
    ];
  });
}
