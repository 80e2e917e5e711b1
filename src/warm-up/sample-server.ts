// A second server of the same code, in memory: it listens nowhere, and only the warm-up sends it requests.
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { Authenticator } from "../access/authenticator.ts";
import { Generations } from "../access/generations.ts";
import { KeyUses } from "../access/key-limits.ts";
import type { ApiKey } from "../access/schema.ts";
import { Throttle } from "../access/throttle.ts";
import { accessOf } from "../access-parts.ts";
import { AuditLog } from "../audit/audit-log.ts";
import { Computing } from "../compute/computing.ts";
import type { Services } from "../context.ts";
import { addInflux } from "../http/influx-routes.ts";
import { createMetrics } from "../http/metrics.ts";
import { addOData } from "../http/odata-routes.ts";
import { addOpenRoutes } from "../http/open-routes.ts";
import type { Kernel } from "../http/pipeline.ts";
import { protocols } from "../http/protocols.ts";
import { openReadTurns } from "../http/read-turns.ts";
import { memoryOf, usualBounds } from "../http/request-memory.ts";
import { addRoutes } from "../http/rest-routes.ts";
import { SendBatch } from "../http/send-batch.ts";
import { createHttp } from "../http/server.ts";
import { InfluxState } from "../influx/influx-state.ts";
import { ClockIds } from "../lib/ids.ts";
import { cursorSigner } from "../query/cursor.ts";
import { SeriesCache } from "../resources/timeseries/series-cache.ts";
import { model, openRoutes, routes } from "../resources.ts";
import type { Authenticators } from "../rest/route.ts";
import type { Catalog } from "../storage/catalog.ts";
import { boundlessDisk } from "../storage/disk-space.ts";
import { openMemoryJournal } from "../storage/embedded-points/memory-journal.ts";
import type { PointsStore } from "../storage/points.ts";
import { noTracing } from "../tracing/tracing.ts";
import { samplePoints } from "./sample-points.ts";
import { sampleCatalog, sampleKey, sampleProject } from "./sample-records.ts";

/** Of the real server. The stores have neither counters nor tracing. */
export interface SampleParts {
  readonly catalog: Pick<Catalog, "read">;
  readonly points: Pick<PointsStore, "scanPoints" | "scan" | "aggregate">;
  readonly services: Pick<Services, "system" | "insertBuffers" | "responseBuffers">;
  readonly decoders: Kernel["decoders"];
}

export interface SampleServer {
  readonly http: FastifyInstance;
  /** Of the administrator of the sample project. */
  readonly key: string;
  /** The lines that the server has logged for its failures. */
  readonly errors: readonly string[];
  /** Drops the cached caller and the cached series, so that the next request reads them. */
  forget(): void;
}

/** Yields between parts that take some milliseconds each. */
export async function* openSampleServer(parts: SampleParts): AsyncGenerator<undefined, SampleServer> {
  const { services, key } = await servicesOf(parts);
  yield;
  const metrics = createMetrics({ ofProcess: false });
  const errors: string[] = [];
  const log = pino({ level: "error" }, { write: (line) => errors.push(line) });
  const settings = { trustedProxies: [] };
  const http = await createHttp({
    ...{ log, metrics, protocols, settings, tracing: noTracing, recordRefusal: () => {} },
  });
  yield;
  const { system } = services;
  const authenticator = new Authenticator({ ...services, throttle: new Throttle(Infinity, system) } as never);
  const kernel = {
    ...{ services, authenticator, consoleProject: sampleProject.urlName, decoders: parts.decoders },
    ...{ keyUses: new KeyUses(system), readTurns: openReadTurns(metrics), sendBatch: new SendBatch() },
    ...memoryOf(usualBounds, metrics),
  } as Kernel & Authenticators;
  for (const route of routes.filter(({ path }) => requestedPaths.test(path))) {
    addRoutes(http, kernel, [{ ...route, versions: ["0.5"] }]);
    yield;
  }
  addOpenRoutes(
    http,
    kernel,
    openRoutes.filter(({ path }) => path === "/login/status"),
  );
  addInflux(http, kernel);
  yield;
  addOData(http, kernel, model);
  yield;
  await http.ready();
  // Clients may pause the requests for minutes.
  http.server.keepAliveTimeout = keepAliveMs;
  yield;
  const forget = () => {
    services.rights.expire();
    services.seriesCache.forgetAll();
  };
  return { http, key, errors, forget };
}

/** Longer than any pause (`lib/warm-up-pace.ts`). */
const keepAliveMs = 24 * 3_600_000;

const requestedPaths = /^\/(timeseries\/((data|latest)(\/\{name\})?|dataframe)|assets)$/;

/** All that the requests need; the compiler cannot tell which routes there are. */
type SampleServices = Pick<
  Services,
  | "system"
  | "ids"
  | "catalog"
  | "points"
  | "keys"
  | "rights"
  | "sessions"
  | "generations"
  | "computing"
  | "disk"
  | "audit"
  | "cursors"
  | "seriesCache"
  | "influx"
  | "insertBuffers"
  | "responseBuffers"
>;

async function servicesOf({ catalog: real, points, services }: SampleParts) {
  const { system, insertBuffers, responseBuffers } = services;
  const keysOfProject: ApiKey[] = [];
  const catalog = sampleCatalog(real, keysOfProject);
  const ids = new ClockIds(system, 0);
  const access = accessOf({ catalog, ids, system }, system.randomBytes(32));
  const { record, key } = access.keys.draft(sampleProject, sampleKey);
  // A use that is noted would be a write.
  keysOfProject.push({ ...record, lastUsedTime: system.nowMs() });
  const generations = new Generations();
  const served: SampleServices = {
    ...{ system, insertBuffers, responseBuffers, ids, catalog, ...access, generations },
    points: samplePoints(points, await openMemoryJournal()),
    computing: new Computing(),
    disk: boundlessDisk,
    audit: silentAudit(catalog, system),
    cursors: cursorSigner(system.randomBytes(32)),
    seriesCache: new SeriesCache(generations),
    influx: new InfluxState(),
  };
  return { services: served, key };
}

const silentAudit = (catalog: Catalog, system: Services["system"]): AuditLog =>
  new AuditLog({
    ...{ system, catalog, mode: "off", ownProject: "", report: () => {} },
    owner: () => 0,
    projectNamed: async () => undefined,
  });
