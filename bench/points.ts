// W1, W2, W4 to W6, W8 and W9 of every system: loads the points, reads them, and scans on one server; then
// reads again from servers that have just started on its data.
import { type Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { bytesOnDisk, peakMemoryMb } from "./process.ts";
import { beginningOf, occurrences, type Running, type System } from "./systems/system.ts";
import { type Figures, type Prepared, percentile, type Scale, timesOf } from "./workloads.ts";
import { costOfWrites } from "./write-cost.ts";

/** One round on a fresh server: load, settle, read, scan, latest. */
export async function measure(
  system: System,
  running: Running,
  prepared: Prepared,
  scale: Scale,
): Promise<Figures> {
  const connections = await openConnections(running.port);
  try {
    await running.declare([...prepared.names, ...prepared.scannedNames]);
    await drive(connections.slice(0, 1), [prepared.latest]);
    const before = bytesOnDisk(running.started.folder);
    const points = scale.series * scale.pointsPerSeries;
    const loaded = await costOfWrites(running, connections, { requests: prepared.backfill, points });
    const bytes = bytesOnDisk(running.started.folder) - before;
    const reads = await readFigures(system, connections, prepared, scale);
    const scanned = await costOfWrites(running, connections, {
      requests: prepared.scans,
      points: scale.scannedSeries * scale.scans,
    });
    const latestOfMany = await latestTimes(connections, prepared, scale);
    return {
      W1: loaded.perSecond,
      W1processor: loaded.processor,
      W2: scanned.perSecond,
      W2processor: scanned.processor,
      ...reads,
      W8b: percentile(latestOfMany, 0.99),
      W9: bytes / points,
      memory: peakMemoryMb(running.started),
    };
  } finally {
    for (const one of connections) one.close();
  }
}

/** All reads but the first of a kind repeat it, so that a cache of results serves them. */
async function readFigures(
  { rows }: System,
  connections: readonly Connection[],
  prepared: Prepared,
  { reads }: Scale,
): Promise<Figures> {
  const [connection] = connections;
  if (!connection) throw new Error("a connection is open");
  const p50 = async (request: RequestBytes, count: number, whole?: (body: Buffer) => boolean) => {
    const { body } = expectSuccess(await connection.send(request));
    if (whole && !whole(body)) throw new Error(`a response is incomplete: ${body.toString("utf8", 0, 300)}`);
    return percentile(await timesOf(count, async () => expectSuccess(await connection.send(request))), 0.5);
  };
  const { hours, raw } = prepared;
  const about = (found: number, expected: number) => Math.abs(found - expected) <= 1;
  return {
    W4: await p50(prepared.average, reads, (body) => about(rows.hourlyAverage(body), hours)),
    W5: await p50(prepared.frame, Math.ceil(reads / 5), (body) => rows.frame(body) >= hours - 1),
    W6a: await p50(raw["10k"].request, reads, (body) => about(rows.raw(body), raw["10k"].points)),
    W6b: await p50(raw["100k"].request, Math.ceil(reads / 5), (body) =>
      about(rows.raw(body), raw["100k"].points),
    ),
    W8a: await p50(prepared.latest, reads * 2),
  };
}

/** Times one request for all series; the first response is checked for completeness. */
async function latestTimes(
  connections: readonly Connection[],
  { latestOfMany, scannedNames }: Prepared,
  { reads }: Scale,
): Promise<number[]> {
  const [connection] = connections as [Connection];
  const read = async () => expectSuccess(await connection.send(latestOfMany));
  const found = occurrences((await read()).body, beginningOf(scannedNames));
  if (found < scannedNames.length) throw new Error(`${found} latest values of ${scannedNames.length} came`);
  return timesOf(reads * 2, read);
}

/**
 * The first read of each of some series by a server that has just started: its own caches are empty, those of
 * the operating system are not. Later reads of the same kinds are those of `measure`.
 */
export async function measureFirstPass(running: Running, { firstPass }: Prepared): Promise<Partial<Figures>> {
  const [connection] = (await openConnections(running.port, 1)) as [Connection];
  const p50 = async (requests: readonly RequestBytes[]) => {
    const rest = requests.values();
    const read = async () => expectSuccess(await connection.send(rest.next().value!));
    return percentile(await timesOf(requests.length, read), 0.5);
  };
  try {
    return {
      W4first: await p50(firstPass.averages),
      W6first: await p50(firstPass.raw),
      W8first: await p50(firstPass.latest),
    };
  } finally {
    connection.close();
  }
}

/** W4 and W5 by a server without a cache of results. */
export async function measureUncached(
  system: System,
  running: Running,
  prepared: Prepared,
  scale: Scale,
): Promise<Partial<Figures>> {
  const connections = await openConnections(running.port, 1);
  try {
    const { W4, W5 } = await readFigures(system, connections, prepared, scale);
    return { W4bare: W4!, W5bare: W5! };
  } finally {
    for (const one of connections) one.close();
  }
}
