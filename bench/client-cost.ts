// The part of W2 and W8 that no server avoids: the same requests by the same client to Node's HTTP server
// without a product (null-server.ts), and with one write to a journal.
import { join } from "node:path";
import { inFreshFolder } from "./folders.ts";
import { type Connection, drive, expectSuccess, openConnections } from "./http.ts";
import { freePort, processorSeconds, type Started, startProcess, stopProcess } from "./process.ts";
import { type Figures, type Prepared, percentile, timesOf } from "./workloads.ts";

const program = new URL("null-server.ts", import.meta.url).pathname;
/** So many that the hundredths of seconds of processor time tell something. */
const latestRequests = 2_000;

/** One round with the requests of Millrace. */
export async function measureClientCost(prepared: Prepared): Promise<Partial<Figures>> {
  const plain = await withServer(false, async (server) => {
    const scan = await scanFigures(server, prepared);
    return { ...scan, latest: await latestFigures(server, prepared) };
  });
  const journal = await withServer(true, (server) => scanFigures(server, prepared));
  return {
    ...{ nodeScan: plain.perSecond, nodeScanProcessor: plain.processor },
    ...{ nodeJournal: journal.perSecond, nodeJournalProcessor: journal.processor },
    ...{ nodeLatest: plain.latest.p50, nodeLatestProcessor: plain.latest.processorMs },
  };
}

interface Server {
  readonly started: Started;
  readonly connections: readonly Connection[];
}

const withServer = <Result>(
  hasJournal: boolean,
  work: (server: Server) => Promise<Result>,
): Promise<Result> => inFreshFolder((folder) => onServerIn(folder, hasJournal, work));

async function onServerIn<Result>(
  folder: string,
  hasJournal: boolean,
  work: (server: Server) => Promise<Result>,
): Promise<Result> {
  const port = await freePort();
  const journal = hasJournal ? [join(folder, "journal")] : [];
  const command = [process.execPath, program, String(port), ...journal] as const;
  const started = await startProcess([...command], { folder, probe: `http://127.0.0.1:${port}/` });
  const connections = await openConnections(port);
  try {
    return await work({ started, connections });
  } finally {
    for (const one of connections) one.close();
    await stopProcess(started);
  }
}

async function scanFigures({ started, connections }: Server, { scans, scannedNames }: Prepared) {
  const points = scans.length * scannedNames.length;
  const before = processorSeconds(started);
  const seconds = await drive(connections, scans);
  const processor = ((processorSeconds(started) - before) / points) * 1e6;
  return { perSecond: points / seconds, processor };
}

async function latestFigures({ started, connections }: Server, { latest }: Prepared) {
  const [connection] = connections as [Connection];
  const before = processorSeconds(started);
  const times = await timesOf(latestRequests, async () => expectSuccess(await connection.send(latest)));
  const processorMs = ((processorSeconds(started) - before) * 1000) / latestRequests;
  return { p50: percentile(times, 0.5), processorMs };
}
