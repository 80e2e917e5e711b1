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
  system: System,
  connections: readonly Connection[],
  prepared: Prepared,
  scale: Scale,
): Promise<Figures> {
  const [connection] = connections as [Connection];
  const { rows } = system;
  const { raw } = prepared;
  const { reads } = scale;
  const results = await resultFigures(system, connection, prepared.cached, { ...scale, ...prepared });
  const points = (size: "10k" | "100k") => (body: Buffer) => isAbout(rows.raw(body), raw[size].points);
  return {
    ...{ W4cached: results.average, W5cached: results.frame },
    W6a: await p50Of(connection, { request: raw["10k"].request, count: reads, isWhole: points("10k") }),
    W6b: await p50Of(connection, {
      ...{ request: raw["100k"].request, count: Math.ceil(reads / 5), isWhole: points("100k") },
    }),
    W8a: await p50Of(connection, { request: prepared.latest, count: reads * 2 }),
  };
}

/** The median times of the average and of the frame. */
async function resultFigures(
  { rows }: System,
  connection: Connection,
  { average, frame }: Prepared["cached"],
  { reads, hours }: Pick<Scale, "reads"> & Pick<Prepared, "hours">,
): Promise<{ readonly average: number; readonly frame: number }> {
  const isAverage = (body: Buffer) => isAbout(rows.hourlyAverage(body), hours);
  const isFrame = (body: Buffer) => rows.frame(body) >= hours - 1;
  return {
    average: await p50Of(connection, { request: average, count: reads, isWhole: isAverage }),
    frame: await p50Of(connection, { request: frame, count: Math.ceil(reads / 5), isWhole: isFrame }),
  };
}

const isAbout = (found: number, expected: number) => Math.abs(found - expected) <= 1;

interface Repeated {
  readonly request: RequestBytes;
  readonly count: number;
  readonly isWhole?: (body: Buffer) => boolean;
}

/** The median time of a request between two whose responses are checked: a cache must not cut them. */
async function p50Of(connection: Connection, { request, count, isWhole }: Repeated): Promise<number> {
  const check = async () => {
    const { body } = expectSuccess(await connection.send(request));
    if (isWhole?.(body) === false)
      throw new Error(`a response is incomplete: ${body.toString("utf8", 0, 300)}`);
  };
  await check();
  const times = await timesOf(count, async () => expectSuccess(await connection.send(request)));
  await check();
  return percentile(times, 0.5);
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
 * the operating system are not. Each kind reads other series, so that no read finds blocks that another kind
 * has read. Later reads of the same kinds are those of `measure`.
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

/** W4 and W5 by a server, or with requests, without a cache of results. */
export async function measureUncached(
  system: System,
  running: Running,
  prepared: Prepared,
  scale: Scale,
): Promise<Partial<Figures>> {
  const connections = await openConnections(running.port, 1);
  try {
    const { average, frame } = await resultFigures(system, connections[0]!, prepared.uncached, {
      ...scale,
      ...prepared,
    });
    return { W4: average, W5: frame };
  } finally {
    for (const one of connections) one.close();
  }
}
