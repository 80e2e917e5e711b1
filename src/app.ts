// Builds the application: opens the data folder, wires resources and backends together, and serves them.
import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { adoptKeys } from "./access/administrators.ts";
import { Generations, sharedGenerations } from "./access/generations.ts";
import { KeyUses } from "./access/key-limits.ts";
import { accessOf } from "./access-parts.ts";
import { openAudit, startAuditWork } from "./audit-parts.ts";
import { openAuthenticators } from "./authenticators.ts";
import { measureBackups } from "./backup/backup-metrics.ts";
import { addBackups } from "./backup/backup-routes.ts";
import type { Backups } from "./backup/backups.ts";
import { holdable } from "./backup/held-blobs.ts";
import type { ScheduledBackups } from "./backup/scheduled-backups.ts";
import { openBackups } from "./backup-parts.ts";
import { isShared, openIds } from "./catalog-backend.ts";
import { Computing } from "./compute/computing.ts";
import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { refuseWhileCopied } from "./copy/copy-record.ts";
import { currentBundle } from "./current-bundle.ts";
import type { DataStores } from "./data-stores.ts";
import { startDemoThread } from "./demo/demo-thread.ts";
import { processDrawingReader } from "./drawing-reader/process-reader.ts";
import { type FrontThreads, openFrontThreads, type SharedMemory } from "./front/front-threads.ts";
import { unlessFull } from "./full-disk.ts";
import { ServedPaths } from "./http/allowed-methods.ts";
import { addConsole } from "./http/console.ts";
import { HeldRequests } from "./http/held-requests.ts";
import { addInflux } from "./http/influx-routes.ts";
import { addLinkRoutes } from "./http/link-routes.ts";
import { createMetrics, type Metrics, measureComputing, measureWritePlans } from "./http/metrics.ts";
import { addOAuth } from "./http/oauth.ts";
import { addOData } from "./http/odata-routes.ts";
import { addOpenRoutes } from "./http/open-routes.ts";
import { addDescription, addHealth, addMetrics, Refusals } from "./http/operations.ts";
import type { Kernel } from "./http/pipeline.ts";
import { protocols } from "./http/protocols.ts";
import { openReadTurns } from "./http/read-turns.ts";
import { memoryOf, type ResponseBounds, usualBounds } from "./http/request-memory.ts";
import { addRoutes } from "./http/rest-routes.ts";
import { measureRetention } from "./http/retention-metrics.ts";
import { SendBatch } from "./http/send-batch.ts";
import { createHttp } from "./http/server.ts";
import { InfluxState } from "./influx/influx-state.ts";
import { type Installation, openInstallation, secretFor } from "./installation.ts";
import { ClientWork } from "./lib/client-work.ts";
import { KeyedTaskRunner } from "./lib/keyed-task-runner.ts";
import { LruCache } from "./lib/lru-cache.ts";
import { RunningJobs } from "./lib/running-jobs.ts";
import type { System } from "./lib/system.ts";
import { limits } from "./limits.ts";
import { closeWithin, endedWithin, listenAt } from "./listening.ts";
import { type HostedModels, openModelHosting } from "./model-hosting.ts";
import { pageBuffers } from "./odata/service.ts";
import { ensureOwnProject, type FirstAccess } from "./own-project.ts";
import { cursorSigner } from "./query/cursor.ts";
import { InsertBuffers } from "./resources/datapoints/inserts/insert-buffers.ts";
import { datapointBuffers } from "./resources/datapoints/responses.rest.ts";
import { RunningDemos } from "./resources/demo/running-demos.ts";
import { finishRemovals, unlessAway } from "./resources/files/removals.ts";
import { startRetention } from "./resources/retention/runs.ts";
import { finishDeletions } from "./resources/timeseries/pending-deletions.ts";
import { SeriesCache } from "./resources/timeseries/series-cache.ts";
import { startSchedules } from "./resources/transformations/schedules/scheduler.ts";
import { startDeliveries } from "./resources/transformations/webhooks/deliveries.ts";
import { webhookParts } from "./resources/transformations/webhooks/webhook-parts.ts";
import { describe, linkRoutes, model, openRoutes, ownedRows, routes } from "./resources.ts";
import { JsonDecoders } from "./rest/json.ts";
import { type Authenticators, apiVersions } from "./rest/route.ts";
import { processSqlRunner } from "./sql-runner/process-runner.ts";
import type { Catalog } from "./storage/catalog.ts";
import { EmbeddedPoints } from "./storage/embedded-points/embedded-points.ts";
import { readOnlyBlobs, readOnlyCatalog, readOnlyPoints } from "./storage/read-only.ts";
import { RowDeletions } from "./storage/row-deletions.ts";
import { ServerLease } from "./storage/server-lease.ts";
import { takeOver } from "./take-over.ts";
import { noTracing, type Tracing } from "./tracing/tracing.ts";
import { sweepUploads } from "./upload-sweep.ts";
import { startWarmUp } from "./warm-up/warm-up.ts";

export interface App {
  readonly services: Services;
  readonly installation: Installation;
  /**
   * Starts to serve; throws `StartRefused` if the address is not available. With `warmsUp` it then prepares
   * its code for the first requests.
   */
  listen(options?: ListenOptions): Promise<Started>;
  /** Resolves when all front threads serve; after `listen`. */
  readonly frontStarted: Promise<void>;
  /** Waits for a start that has begun, and for accepted requests, a bounded time; then closes everything. */
  close(): Promise<void>;
}

interface ListenOptions {
  readonly warmsUp?: boolean;
}

export interface Started extends FirstAccess {
  /** The address that the server listens on; `baseUrl` is the one that clients use. */
  readonly address: string;
  readonly baseUrl: string;
}

export interface AppOptions {
  readonly bounds?: ResponseBounds;
  /** Serves reads only, and does no work in the background: the data is being copied. */
  readonly isReadOnly?: boolean;
  /** The caller closes it after the application. */
  readonly tracing?: Tracing;
  /** The installation that the caller has begun to open; the application closes it. */
  readonly opening?: { readonly installation: Promise<Installation>; readonly opened: AsyncDisposableStack };
}

/** Opens the data folder and builds the application on it; throws `StartRefused` if it cannot start. */
export async function openApp(
  settings: Settings,
  system: System,
  log: Logger,
  { bounds = usualBounds, isReadOnly = false, tracing = noTracing, opening }: AppOptions = {},
): Promise<App> {
  await using opened = opening?.opened ?? new AsyncDisposableStack();
  const metrics = createMetrics();
  const installation = await (opening?.installation ?? openInstallation(settings, { system, log }, opened));
  const { secret, disk, catalogPlace } = installation;
  const secretOf = (purpose: string) => secretFor(purpose, secret);
  const stores = isReadOnly ? readOnly(installation.stores) : installation.stores;
  const held = holdable(stores.blobs);
  const counted = { ...stores, points: metrics.counted(stores.points), blobs: held.blobs };
  const { catalog, points, blobs } = tracing.traceStores(counted);
  const ids = await openIds(catalog, system);
  const lease = opened.adopt(await openLease(catalog, { ids, system }, log), (one) => one.end());
  // After the lease: a copy that starts now sees the lease, and this start sees its record, or both.
  if (!isReadOnly) await refuseWhileCopied(catalog);
  const audit = openAudit({ catalog, system, lease, settings, log, isReadOnly }, opened);
  const hosting = await openModelHosting(settings, log);
  const computing = opened.adopt(openComputing(metrics), (pool) => pool.close());
  const memory = sharedMemory();
  const services: Services = {
    ...{ system, ids, computing, disk, catalog, blobs, points, lease, audit },
    ...backgroundWork(log, { settings, secretOf, catalog }),
    ...accessOf({ catalog, ids, system, lease, version: memory.rightsVersion }, secret),
    ...{ models: hosting.models, cursors: cursorSigner(secretOf("cursors")), catalogPlace },
    ...openCaches(metrics, memory),
    ...(settings.baseUrl !== undefined && { baseUrl: settings.baseUrl }),
  };
  if (!isReadOnly) opened.use(await resumeWork(services, log));
  const models = opened.adopt(hosting.hosted(services), (hosted) => hosted.stop());
  const backupParts = { stores, held, disk, system, log };
  const { backups, scheduled } = await openBackups(settings, backupParts, opened);
  const authenticators = await openAuthenticators(services, { settings, secretFor: secretOf, log });
  const refusals = new Refusals(system);
  const clientWork = new ClientWork();
  const front = await openFrontThreads(
    {
      ...{ settings, services, memory, log, work: clientWork, cursorSecret: secretOf("cursors") },
      ...{ ...authenticators, recordRefusal: refusals.record, folderName: nameOf(settings.data) },
    },
    { store: installation.stores.points, isReadOnly, isTraced: tracing !== noTracing },
  );
  if (front) opened.defer(() => front.close(0));
  const observing = { log, metrics, tracing, protocols, settings, hasFront: front !== undefined };
  const http = await createHttp({ ...observing, recordRefusal: refusals.record });
  const heldRequests = new HeldRequests(http);
  const kernel = { services, ...authenticators, ...boundsOfRequests(system, bounds, metrics) };
  const operating = { backups, scheduled, backupSecret: secretOf("backups"), refusals, metrics, log };
  addEndpoints(http, kernel, { ...operating, front, consoleFolder: settings.consoleFolder });
  const { decoders } = kernel;
  const serving = { front, http, heldRequests, isReadOnly, decoders, clientWork };
  return appOf({ services, installation, settings, models, operating, ...serving }, opened.move());
}

interface Running extends Pick<App, "services" | "installation"> {
  readonly settings: Settings;
  readonly models: HostedModels;
  readonly operating: Omit<Ticking, "audit">;
  readonly front: FrontThreads | undefined;
  readonly http: FastifyInstance;
  readonly heldRequests: HeldRequests;
  readonly isReadOnly: boolean;
  readonly decoders: Kernel["decoders"];
  readonly clientWork: ClientWork;
}

/** `serving` closes everything but the server itself. */
function appOf(
  { services, installation, settings, models, operating, decoders, ...parts }: Running,
  serving: AsyncDisposableStack,
): App {
  const { front, http, heldRequests, isReadOnly, clientWork } = parts;
  let starting: Promise<Started> | undefined;
  const start = async ({ warmsUp = false }: ListenOptions): Promise<Started> => {
    const isShared = (await front?.attach(http)) === true;
    const { address, shared } = await listenAt(http, settings, { isShared });
    const work = { address, settings, models, log: operating.log };
    const created = isReadOnly ? {} : await startWork(services, work);
    if (!isReadOnly) serving.defer(startTicking(services, { ...operating, audit: settings.audit }));
    heldRequests.release();
    if (isShared) front?.start(shared);
    if (warmsUp && areLocal(installation.stores)) {
      const warming = { ...installation.stores, services, decoders, log: operating.log };
      serving.defer(startWarmUp({ server: http.server, work: clientWork }, warming));
    }
    return { address, baseUrl: settings.baseUrl ?? address, ...created };
  };
  return {
    services,
    installation,
    listen: (options = {}) => {
      starting = start(options);
      return starting;
    },
    get frontStarted() {
      return front?.started ?? Promise.resolve();
    },
    close: async () => {
      // The start needs the stores that are closed below, and returns a new key, which is stored nowhere
      // else.
      if (starting) await endedWithin(starting, limits.shutdownMsMax);
      const untilMs = performance.now() + (heldRequests.isReleased ? limits.shutdownMsMax : 0);
      const leftMs = () => Math.max(0, untilMs - performance.now());
      await services.lease.retire();
      await services.demos.stopAll(); // They are clients of the server.
      await front?.prepareToClose();
      // At once: no thread accepts connections any more, and this one completes what others forward.
      await Promise.all([closeWithin(http, leftMs()), front?.close(leftMs())]);
      await serving.disposeAsync();
    },
  };
}

const sharedMemory = (): SharedMemory => ({
  generations: sharedGenerations(),
  rightsVersion: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  diskFull: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
});

const boundsOfRequests = (system: System, bounds: ResponseBounds, metrics: Metrics) => ({
  ...{ keyUses: new KeyUses(system), decoders: new JsonDecoders(), readTurns: openReadTurns(metrics) },
  sendBatch: new SendBatch(),
  ...memoryOf(bounds, metrics),
});

interface Ticking {
  readonly scheduled: ScheduledBackups | undefined;
  readonly audit: Settings["audit"];
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Work at the times of schedules; returns the function that stops it. */
function startTicking(services: Services, { scheduled, audit, ...parts }: Ticking): () => Promise<void> {
  const stops = [
    ...[startSchedules(services), startDeliveries(services), startAuditWork(services, audit, parts)],
    startRetention(services, { log: parts.log, ...measureRetention(parts.metrics.registry) }),
    ...(scheduled ? [scheduled.start()] : []),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** Reads that find nothing would show in the statistics of another database. */
const areLocal = ({ catalog, points }: DataStores): boolean =>
  !isShared(catalog) && points instanceof EmbeddedPoints;

const readOnly = ({ catalog, points, blobs }: DataStores): DataStores => ({
  catalog: readOnlyCatalog(catalog),
  points: readOnlyPoints(points),
  blobs: readOnlyBlobs(blobs),
});

interface Listening {
  readonly address: string;
  readonly settings: Settings;
  readonly models: HostedModels;
  readonly log: Logger;
}

/** Makes the project of a first start, then takes over the work of servers that have ended. */
async function startWork(services: Services, { address, settings, models, log }: Listening) {
  models.listenAt(address);
  services.demos.listenAt(address);
  const created = await unlessFull(services, log, () => ensureOwnProject(services, settings));
  await services.lease.start((abandoned) => takeOver(services, { models, abandoned, log }));
  models.start();
  return created;
}

interface Working {
  readonly settings: Settings;
  readonly secretOf: (purpose: string) => Uint8Array;
  readonly catalog: Catalog;
}

/** Work that continues after its request. */
const backgroundWork = (
  log: Logger,
  { settings, secretOf, catalog }: Working,
): Pick<Services, "uploads" | "jobs" | "demos" | "transformations" | "drawings" | "rowDeletions"> => ({
  rowDeletions: new RowDeletions(catalog, ownedRows, (problem) =>
    log.error({ err: problem }, "Could not delete the rows of a deleted raw table or sequence"),
  ),
  uploads: new KeyedTaskRunner(),
  jobs: new RunningJobs((problem) => log.error({ err: problem }, "A fault ended an analytics job")),
  demos: new RunningDemos(startDemoThread, (problem) => log.error({ problem }, "The demo plant failed")),
  drawings: processDrawingReader({ folderPrefix: `millrace-drawing-${nameOf(settings.data)}-` }),
  transformations: {
    columnNames: new LruCache(limits.transformationTablesKnown),
    runner: processSqlRunner({
      folderPrefix: `millrace-sql-${nameOf(settings.data)}-`,
      bundle: () => currentBundle("query"),
    }),
    jobs: new RunningJobs((problem) =>
      log.error({ err: problem }, "A fault ended a run of a transformation"),
    ),
    webhooks: webhookParts(settings.outboundNetworks, secretOf("webhooks")),
  },
});

/** A name of the data folder, for temporary folders. */
const nameOf = (data: string): string => createHash("sha256").update(data).digest("hex").slice(0, 12);

/** Caches and buffers that requests share; a restart loses them without harm. */
function openCaches(
  metrics: Metrics,
  memory: Pick<SharedMemory, "generations">,
): Pick<Services, "generations" | "seriesCache" | "insertBuffers" | "influx" | "responseBuffers"> {
  const generations = new Generations(memory.generations);
  const seriesCache = new SeriesCache(generations);
  measureWritePlans(metrics, () => seriesCache.planCounts);
  const responseBuffers = { ...datapointBuffers(), odata: pageBuffers() };
  const writing = { insertBuffers: new InsertBuffers(), influx: new InfluxState() };
  return { generations, seriesCache, ...writing, responseBuffers };
}

function openComputing({ registry }: Metrics): Computing {
  const computing = new Computing();
  measureComputing(registry, () => computing.load);
  return computing;
}

/** Completes work that a crash interrupted, and runs background work until it is disposed of. */
async function resumeWork(services: Services, log: Logger): Promise<AsyncDisposable> {
  await using working = new AsyncDisposableStack();
  await unlessFull(services, log, () => finishInterruptedWork(services));
  working.defer(() => services.uploads.cancelAll());
  working.defer(() => services.jobs.cancelAll());
  working.defer(() => services.transformations.jobs.cancelAll());
  working.defer(sweepUploads(services, log));
  working.defer(() => services.rowDeletions.stop());
  return working.move();
}

/** Completes work that a crash interrupted, and gives older keys an account. */
async function finishInterruptedWork(services: Services): Promise<void> {
  await services.rights.change((tx) => adoptKeys(tx, services));
  await finishDeletions(services);
  await unlessAway(() => finishRemovals(services));
}

const openLease = (catalog: Catalog, parts: Pick<Services, "ids" | "system">, log: Logger) =>
  ServerLease.open(isShared(catalog) ? catalog.leases : undefined, {
    ...parts,
    report: (problem) => log.error({ err: problem }, "Could not take over the work of another server"),
  });

interface Monitoring {
  readonly backups: Backups;
  readonly scheduled: ScheduledBackups | undefined;
  readonly backupSecret: Uint8Array;
  readonly refusals: Refusals;
  readonly metrics: Metrics;
  readonly front: FrontThreads | undefined;
  readonly log: Logger;
  readonly consoleFolder: string;
}

function addEndpoints(http: FastifyInstance, kernel: Kernel & Authenticators, monitoring: Monitoring): void {
  const { services } = kernel;
  const { backups, scheduled, backupSecret, refusals, metrics, front, log, consoleFolder } = monitoring;
  const served = new ServedPaths(http);
  addRoutes(http, kernel, routes);
  addOpenRoutes(http, kernel, openRoutes);
  addLinkRoutes(http, kernel, linkRoutes);
  addOData(http, kernel, model);
  addInflux(http, kernel);
  addOAuth(http, kernel);
  for (const version of apiVersions) addDescription(http, version, () => describe(version));
  const stores = { ...services, refusals, scheduled };
  addHealth(http, stores, log);
  measureBackups(metrics.registry, scheduled);
  addMetrics(http, metrics, stores, front);
  addBackups(http, kernel, { backups, secret: backupSecret });
  const { baseUrl, system } = services;
  const { sendPage } = addConsole(http, { folder: consoleFolder, baseUrl, randomBytes: system.randomBytes });
  served.refuseTheRest({ kernel, protocols, sendPage });
}
