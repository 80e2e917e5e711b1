// A front thread: receives requests, checks rights, and writes responses for datapoints; shards read them,
// and the main thread writes them.
import { parentPort, workerData } from "node:worker_threads";
import { pino } from "pino";
import { Generations } from "../access/generations.ts";
import { KeyUses } from "../access/key-limits.ts";
import { AuditLog } from "../audit/audit-log.ts";
import { Computing } from "../compute/computing.ts";
import type { Services } from "../context.ts";
import { catalogFileOf } from "../data-folder.ts";
import { fail } from "../errors.ts";
import { createMetrics } from "../http/metrics.ts";
import { NeedsMain } from "../http/needs-main.ts";
import { protocols } from "../http/protocols.ts";
import { openReadTurns } from "../http/read-turns.ts";
import { memoryOf, usualBounds } from "../http/request-memory.ts";
import { SendBatch } from "../http/send-batch.ts";
import { createHttp } from "../http/server.ts";
import { InfluxState } from "../influx/influx-state.ts";
import { BufferPool } from "../lib/buffer-pool.ts";
import { invariant } from "../lib/invariant.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { closeWithin, listenTogether } from "../listening.ts";
import { cursorSigner } from "../query/cursor.ts";
import { assetTable } from "../resources/assets/schema.ts";
import { InsertBuffers } from "../resources/datapoints/inserts/insert-buffers.ts";
import { datapointBuffers } from "../resources/datapoints/responses.rest.ts";
import { timeSeriesTable } from "../resources/timeseries/schema.ts";
import { SeriesCache } from "../resources/timeseries/series-cache.ts";
import { JsonDecoders } from "../rest/json.ts";
import type { AnyTable } from "../storage/catalog.ts";
import { boundlessDisk, type DiskSpace } from "../storage/disk-space.ts";
import { ConnectedPoints, type PointsOwner } from "../storage/embedded-points/connected-points.ts";
import { openSqlReader } from "../storage/sql/sql-catalog.ts";
import { noTracing } from "../tracing/tracing.ts";
import { serveCalls, ThreadCaller } from "./calls.ts";
import { ConnectionBalance } from "./connection-balance.ts";
import { Forwarding } from "./forwarding.ts";
import { frontAuthenticator } from "./front-authenticator.ts";
import { addFrontRoutes, takeOver } from "./front-routes.ts";
import type { CallsToFront, CallsToMain, FrontStart, NewsForMain } from "./messages.ts";
import { transferable } from "./transfer-batch.ts";

type Main = ThreadCaller<CallsToMain, NewsForMain>;

const needsMain = (): never => {
  throw new NeedsMain();
};

/** Changes go to the main thread. */
const ownerOf = (main: Main): PointsOwner => ({
  flush: (shard) => main.tell({ kind: "flush", shard }),
  append: (batch) => {
    const { input, transfer } = transferable(batch);
    return main.call("append", input, transfer);
  },
  delete: async () => needsMain(),
  oldPoints: async () => needsMain(),
  stats: async () => needsMain(),
});

/** The main thread refuses writes to a full disk, and says why. */
const diskOf = (full: Int32Array): DiskSpace => ({
  ...boundlessDisk,
  requireSpace() {
    if (Atomics.load(full, 0) !== 0) throw fail("disk-full", { problem: "the disk is full" });
  },
});

/** The services of the routes that this thread serves; others are absent. */
function servicesOf({ settings, threads, memory, points, cursorSecret }: FrontStart, main: Main): Services {
  const system = realSystem;
  const catalog = openSqlReader({ file: catalogFileOf(settings.data), tables });
  const generations = new Generations(memory.generations);
  const served: Partial<Services> = {
    system,
    catalog: { ...catalog, write: needsMain, lastId: needsMain },
    points: new ConnectedPoints(points, ownerOf(main)),
    computing: new Computing(),
    disk: diskOf(memory.diskFull),
    audit: silentAudit(),
    cursors: cursorSigner(cursorSecret),
    generations,
    seriesCache: new SeriesCache(generations, { isOwner: false, threads }),
    influx: new InfluxState(),
    insertBuffers: new InsertBuffers(),
    responseBuffers: { ...datapointBuffers(), odata: new BufferPool({ bytesMin: 1, idleBytesMax: 0 }) },
    ...(settings.baseUrl !== undefined && { baseUrl: settings.baseUrl }),
  };
  return served as Services;
}

/** The tables that rights to series depend on. */
const tables = [timeSeriesTable, assetTable] as unknown as readonly AnyTable[];

/** No operation of these routes is recorded, or the main thread serves all requests. */
const silentAudit = (): AuditLog =>
  new AuditLog({
    ...{ system: realSystem, mode: "off", ownProject: "", report: () => {} },
    catalog: { read: needsMain, write: needsMain, lastId: needsMain, close: async () => {} },
    owner: needsMain,
    projectNamed: async () => undefined,
  });

async function start(begin: FrontStart): Promise<void> {
  const { settings, threads, memory } = begin;
  const log = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: true }));
  const main: Main = new ThreadCaller(begin.main, "the main thread");
  const services = servicesOf(begin, main);
  const metrics = createMetrics({ ofProcess: false });
  const forwarding = new Forwarding(begin.innerSocket);
  const http = await createHttp({
    ...{ log, metrics, protocols, settings, tracing: noTracing },
    recordRefusal: (problem) => main.tell({ kind: "refused", problem }),
    forwarding: {
      has: (request) => forwarding.has(request),
      takeOver: (...sent) => takeOver(forwarding, ...sent),
    },
  });
  const authenticator = frontAuthenticator({
    rightsVersion: memory.rightsVersion,
    system: realSystem,
    callerOf: (key, address) => main.call("callerOf", { key, address }),
  });
  const readTurns = openReadTurns(metrics);
  const kernel = {
    ...{ services, authenticator, consoleProject: settings.project, keyUses: new KeyUses(realSystem) },
    ...{
      decoders: new JsonDecoders(),
      linesBytesMax: limits.frontLinesBytesMax,
      readTurns,
      sendBatch: new SendBatch(),
      ...memoryOf(usualBounds, metrics, threads),
    },
  };
  addFrontRoutes(http, kernel, { forwarding, hidden: begin.hiddenRoutes });
  const { counts, thread } = begin.connections;
  const balance = new ConnectionBalance(counts, thread);
  balance.watch(http);
  invariant(parentPort !== null, "a front thread is a thread");
  serveCalls<CallsToFront>(parentPort, {
    async listen(place) {
      await listenTogether(http, place);
      balance.begin();
      return undefined;
    },
    counts: async () => ({
      durations: metrics.durations.own,
      plans: services.seriesCache.planCounts,
      turns: readTurns.counts,
    }),
    async prepareToClose() {
      balance.end();
      return undefined;
    },
    async close({ milliseconds }) {
      await closeWithin(http, milliseconds);
      forwarding.close();
      await Promise.all([services.computing.close(), services.points.close(), services.catalog.close()]);
      setImmediate(() => process.exit()); // After the reply.
      return undefined;
    },
  });
}

// Not awaited: the bundle has scripts. A failure ends the thread all the same.
void start(workerData as FrontStart);
