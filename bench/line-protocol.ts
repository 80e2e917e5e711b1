// Measures the protocol of InfluxDB: backfill and scan cycles in line protocol, and a dashboard of Grafana.
import { generateScans, generateSeries, pointsPerRequest, randomFrom, seed, startMs } from "./generate.ts";
import { type Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { processorSeconds } from "./process.ts";
import { type LineProtocol, panelFunctions, type Running, type Synced } from "./systems/system.ts";
import { type Figures, percentile, type Scale, timesOf } from "./workloads.ts";
import { costOfWrites, type Writes } from "./write-cost.ts";
import { syncedRate } from "./writes.ts";

const panels = 20;
const hourMs = 3_600_000;

/** One round on a fresh server. */
export async function measureLines(protocol: LineProtocol, running: Running, scale: Scale): Promise<Figures> {
  const connections = await openConnections(running.port);
  try {
    const { backfill, scans, first } = requestsOf(protocol, scale);
    await drive(connections.slice(0, 1), first);
    const loaded = await costOfWrites(running, connections, backfill);
    const before = processorSeconds(running.started);
    const dashboard = await dashboardOf(protocol, connections, scale);
    const dashboardProcessor = processorSeconds(running.started) - before;
    const scanned = await costOfWrites(running, connections, scans);
    return {
      linesBackfill: loaded.perSecond,
      linesBackfillProcessor: loaded.processor,
      linesScan: scanned.perSecond,
      linesScanProcessor: scanned.processor,
      linesDashboard: dashboard.p50,
      linesDashboardProcessor: dashboardProcessor / dashboard.loads,
    };
  } finally {
    for (const one of connections) one.close();
  }
}

/** One round on a fresh server: each connection sends when its last write is on disk. */
export async function measureSyncedLines(
  protocol: LineProtocol,
  running: Synced,
  scale: Scale,
): Promise<Figures> {
  const connections = await openConnections(running.port);
  try {
    const { backfill, scans, first } = requestsOf(protocol, scale);
    await drive(connections.slice(0, 1), first);
    const linesBackfillSynced = await syncedRate(running, connections, backfill.requests, pointsPerRequest);
    const linesScanSynced = await syncedRate(running, connections, scans.requests, scale.scannedSeries);
    return { linesBackfillSynced, linesScanSynced };
  } finally {
    for (const one of connections) one.close();
  }
}

interface LineRequests {
  /** Create all series, which is not measured. */
  readonly first: readonly RequestBytes[];
  readonly backfill: Writes;
  readonly scans: Writes;
}

function requestsOf({ write }: LineProtocol, scale: Scale): LineRequests {
  const series = generateSeries(scale.series, scale.pointsPerSeries, seed);
  const scannedNames = Array.from(
    { length: scale.scannedSeries },
    (_, i) => `s${String(i).padStart(4, "0")}`,
  );
  const scanLines = (values: ArrayLike<number>, timeMs: number) =>
    scannedNames.map((name, i) => `scan,s=${name} v=${values[i]} ${timeMs}`).join("\n");
  const firstLines = series.map(({ name }) => `bench,s=${name} v=0 ${startMs - 1}`).join("\n");
  const backfill: RequestBytes[] = [];
  for (let from = 0; from < scale.pointsPerSeries; from += pointsPerRequest)
    for (const { name, times, values } of series) {
      const lines: string[] = [];
      for (let i = from; i < from + pointsPerRequest; i++)
        lines.push(`bench,s=${name} v=${values[i]} ${times[i]}`);
      backfill.push(write(lines.join("\n")));
    }
  const zeros = new Float64Array(scale.scannedSeries);
  const scans = generateScans(scale.scannedSeries, scale.scans, seed);
  return {
    first: [write(firstLines), write(scanLines(zeros, startMs - 1))],
    backfill: { requests: backfill, points: scale.series * scale.pointsPerSeries },
    scans: {
      requests: scans.map(({ timeMs, values }) => write(scanLines(values, timeMs))),
      points: scale.scannedSeries * scale.scans,
    },
  };
}

interface Dashboard {
  readonly p50: number;
  /** All of them, with the one whose responses are checked. */
  readonly loads: number;
}

/**
 * The median time of a dashboard: hourly values of all series in each panel, one panel at a time on each
 * connection. No window was read before.
 */
async function dashboardOf(
  { panel, seriesIn }: LineProtocol,
  connections: readonly Connection[],
  { series, pointsPerSeries, reads }: Scale,
): Promise<Dashboard> {
  const random = randomFrom(seed);
  const lengthMs = Math.floor(pointsPerSeries / 2) * 1000;
  const requests = () =>
    Array.from({ length: panels }, (_, at) => {
      const fromMs = startMs + Math.floor(random() * lengthMs);
      return panel(panelFunctions[at % panelFunctions.length]!, {
        startMs: fromMs,
        endMs: fromMs + lengthMs,
      });
    });
  for (const request of requests()) {
    const { body } = expectSuccess(await connections[0]!.send(request));
    if (lengthMs > 2 * hourMs && seriesIn(body) !== series)
      throw new Error(`a panel has ${seriesIn(body)} series: ${body.toString("utf8", 0, 300)}`);
  }
  const loads = Array.from({ length: Math.ceil(reads / 10) }, requests);
  const rest = loads.values();
  const times = await timesOf(loads.length, () => drive(connections, rest.next().value!));
  return { p50: percentile(times, 0.5), loads: loads.length + 1 };
}
