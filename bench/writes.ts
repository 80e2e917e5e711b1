// W1 in requests of another size, W2 in protobuf, and both with every write on disk before the next one in
// systems that do not sync by themselves.
import { generateScans, generateSeries, pointsPerRequest, seed } from "./generate.ts";
import { type Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { untilQuiet } from "./process.ts";
import { occurrences, type Running, type Synced, type System } from "./systems/system.ts";
import type { Figures, Prepared } from "./workloads.ts";
import { costOfWrites } from "./write-cost.ts";

export interface WritesScale {
  readonly series: number;
  readonly pointsPerSeries: number;
  readonly pointsPerRequest: number;
  readonly scannedSeries: number;
  readonly scans: number;
  /** Scans by many clients: those that warm the server up, and those that are measured. */
  readonly warmScans: number;
  readonly laterScans: number;
}

export const fullWrites: WritesScale = {
  series: 40,
  pointsPerSeries: 70_000,
  pointsPerRequest: 7_000,
  scannedSeries: 1_000,
  scans: 1_000,
  warmScans: 2_000,
  laterScans: 4_000,
};
export const quickWrites: WritesScale = {
  ...fullWrites,
  ...{ series: 10, pointsPerSeries: 14_000, scans: 100, warmScans: 100, laterScans: 200 },
};

/** One round on a fresh server. */
export async function measureWrites(
  system: System,
  running: Running,
  scale: WritesScale,
): Promise<Partial<Figures>> {
  const requests = backfillOf(system, scale);
  const connections = await openConnections(running.port);
  try {
    await running.declare(generateSeries(scale.series, 0, seed).map((one) => one.name));
    await drive(connections.slice(0, 1), [system.requests.latest("sensor0000", 0)]);
    const seconds = await drive(connections, requests);
    const W1sizes = (scale.series * scale.pointsPerSeries) / seconds;
    return { W1sizes, ...(await messageFigures(system, running, connections, scale)) };
  } finally {
    for (const one of connections) one.close();
  }
}

/** Clients of a plant that has run for a while. */
const laterClients = 16;

/** One round on a fresh server: W2 with more clients, and after the first scans. */
export async function measureLaterScans(
  { requests }: System,
  running: Running,
  { scannedSeries, warmScans, laterScans }: WritesScale,
): Promise<Partial<Figures>> {
  const names = scannedNames(scannedSeries);
  const all = generateScans(scannedSeries, warmScans + laterScans, seed);
  const sent = all.map((one) => requests.scan(names, one));
  const connections = await openConnections(running.port, laterClients);
  try {
    await running.declare(names);
    await drive(connections, sent.slice(0, warmScans));
    const later = { requests: sent.slice(warmScans), points: scannedSeries * laterScans };
    const cost = await costOfWrites(running, connections, later);
    return { W2later: cost.perSecond, W2laterProcessor: cost.processor };
  } finally {
    for (const one of connections) one.close();
  }
}

function backfillOf({ requests }: System, scale: WritesScale): readonly RequestBytes[] {
  const series = generateSeries(scale.series, scale.pointsPerSeries, seed);
  const { pointsPerSeries, pointsPerRequest: each } = scale;
  return Array.from({ length: pointsPerSeries / each }, (_, piece) =>
    series.map((one) => requests.backfill(one, piece * each, (piece + 1) * each)),
  ).flat();
}

const scannedNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `scan${String(i).padStart(4, "0")}`);

async function messageFigures(
  { scanMessage, requests }: System,
  running: Running,
  connections: readonly Connection[],
  { scannedSeries, scans }: WritesScale,
): Promise<Partial<Figures>> {
  if (!scanMessage) return {};
  const names = scannedNames(scannedSeries);
  await running.declare(names);
  await untilQuiet(running.started.folder);
  const cost = await costOfWrites(running, connections, {
    requests: generateScans(scannedSeries, scans, seed).map((one) => scanMessage(names, one)),
    points: scannedSeries * scans,
  });
  const { body } = expectSuccess(await connections[0]!.send(requests.latestOfMany(names, 0)));
  const found = occurrences(body, '"timestamp"');
  if (found !== names.length) throw new Error(`${found} series of ${names.length} have points`);
  return { W2message: cost.perSecond, W2messageProcessor: cost.processor };
}

/** One round on a fresh server: W1 and W2, each connection sends when its last write is on disk. */
export async function measureSynced(running: Synced, prepared: Prepared): Promise<Partial<Figures>> {
  const connections = await openConnections(running.port);
  try {
    await running.declare([...prepared.names, ...prepared.scannedNames]);
    await drive(connections.slice(0, 1), [prepared.latest]);
    const W1synced = await syncedRate(running, connections, prepared.backfill, pointsPerRequest);
    const W2synced = await syncedRate(running, connections, prepared.scans, prepared.scannedNames.length);
    return { W1synced, W2synced };
  } finally {
    for (const one of connections) one.close();
  }
}

/** A slow system has to send few: the rate is the same. */
const syncedRequests = 250;

/** Points a second of the first requests; the server is quiet afterwards. */
export async function syncedRate(
  running: Synced,
  connections: readonly Connection[],
  requests: readonly RequestBytes[],
  pointsEach: number,
): Promise<number> {
  const sent = requests.slice(0, syncedRequests);
  const seconds = await drive(connections, sent, running.sync);
  await running.settle();
  await untilQuiet(running.started.folder);
  return (sent.length * pointsEach) / seconds;
}

/** Adds figures that are in two rows: those of systems that always sync, and of those without protobuf. */
export function withSameWrites({ isDurable, scanMessage }: System, figures: Figures): Figures {
  const { W1, W2, W2message = W2, W1synced = isDurable ? W1 : undefined } = figures;
  const W2synced = isDurable ? W2 : figures.W2synced;
  const W2messageSynced = isDurable && scanMessage ? W2message : W2synced;
  const all = { ...figures, W2message, W1synced, W2synced, W2messageSynced };
  return Object.fromEntries(Object.entries(all).filter(([, figure]) => figure !== undefined));
}
