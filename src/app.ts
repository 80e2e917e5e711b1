// The one place that names every room and the backends, and puts them together into a serving application.
import { hkdfSync } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { adoptKeys } from "./access/administrators.ts";
import { ApiKeys } from "./access/api-keys.ts";
import { Generations } from "./access/generations.ts";
import { Rights } from "./access/rights.ts";
import { openAuthenticators } from "./authenticators.ts";
import { Computing } from "./compute/computing.ts";
import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { catalogFileOf, openDataFolder, StartRefused } from "./data-folder.ts";
import { openStores } from "./data-stores.ts";
import { unlessFull, watchDisk } from "./full-disk.ts";
import { ServedPaths } from "./http/allowed-methods.ts";
import { HeldRequests } from "./http/held-requests.ts";
import { addLinkRoutes } from "./http/link-routes.ts";
import { loginRoutes } from "./http/login.ts";
import { createMetrics, type Metrics, measureComputing, measureWritePlans } from "./http/metrics.ts";
import { addOData, odataProtocol } from "./http/odata-routes.ts";
import { addOpenRoutes } from "./http/open-routes.ts";
import { addDescription, addHealth, addMetrics, Refusals } from "./http/operations.ts";
import type { Kernel } from "./http/pipeline.ts";
import { memoryOf, usualBounds } from "./http/request-memory.ts";
import { addRoutes } from "./http/rest-routes.ts";
import { createHttp } from "./http/server.ts";
import { IdSource } from "./lib/ids.ts";
import { KeyedTaskRunner } from "./lib/keyed-task-runner.ts";
import { RunningJobs } from "./lib/running-jobs.ts";
import type { System } from "./lib/system.ts";
import { limits } from "./limits.ts";
import { closeWithin, listenAt } from "./listening.ts";
import { openModelHosting } from "./model-hosting.ts";
import { pageBuffers } from "./odata/service.ts";
import { cursorSigner } from "./query/cursor.ts";
import { failInterruptedJobs } from "./resources/analytics/analytics.ts";
import { ancestorsOf } from "./resources/assets/rows.ts";
import { InsertBuffers } from "./resources/datapoints/inserts/insert-buffers.ts";
import { datapointBuffers } from "./resources/datapoints/responses.rest.ts";
import { finishRemovals } from "./resources/files/removals.ts";
import { deleteExpiredUploads } from "./resources/files/uploads.ts";
import { defaultGroupOf, ensureProject, projectIds } from "./resources/projects/projects.ts";
import { finishDeletions } from "./resources/timeseries/pending-deletions.ts";
import { SeriesCache } from "./resources/timeseries/series-cache.ts";
import { describe, linkRoutes, model, ownedRows, routes, tables } from "./resources.ts";
import { type Authenticators, apiVersions } from "./rest/route.ts";
import type { Catalog } from "./storage/catalog.ts";
import { Erasures } from "./storage/erasures.ts";
import { openSqlCatalog } from "./storage/sql/sql-catalog.ts";

/** The protocols beside REST. */
const protocols = [odataProtocol];

export interface App {
  readonly services: Services;
  /** Starts to serve; throws `StartRefused` when the address cannot be had. */
  listen(): Promise<Started>;
  /** Finishes what was accepted, then lets go of everything. */
  close(): Promise<void>;
}

export interface Started {
  /** Where it listens, and the address that clients use. */
  readonly address: string;
  readonly baseUrl: string;
  /** The key of a project that this start has made: to be shown once. */
  readonly newKey?: string;
}

/** Opens the data folder and makes all that serves from it; throws `StartRefused` when that cannot be. */
export async function openApp(
  settings: Settings,
  system: System,
  log: Logger,
  bounds = usualBounds,
): Promise<App> {
  await using opened = new AsyncDisposableStack();
  const folder = openDataFolder(settings.data, system, (text) => log.warn(text));
  opened.defer(() => folder.release());
  const metrics = createMetrics();
  const secretOf = (purpose: string) => secretFor(purpose, folder.secret);
  const openOwnCatalog = () => openCatalog(folder.path, system, telling(log));
  const disk = opened.adopt(await watchDisk(folder.path, system, telling(log)), (one) => one.close());
  const opening = { folder, openCatalog: openOwnCatalog, linkSecret: secretOf("links"), disk, log };
  const { catalog, points: uncounted, blobs } = await openStores(opening, opened);
  const points = metrics.counted(uncounted);
  const ids = new IdSource(system, await catalog.lastId());
  const hosting = await openModelHosting(settings, log);
  const computing = opened.adopt(openComputing(metrics), (one) => one.close());
  const services: Services = {
    system,
    ids,
    catalog,
    points,
    blobs,
    computing,
    disk,
    uploads: new KeyedTaskRunner(),
    jobs: new RunningJobs((problem) => log.error({ err: problem }, "An analytics job has met a fault")),
    erasures: erasuresIn(catalog, log),
    ...accessOf({ catalog, ids, system }, folder.secret),
    models: hosting.models,
    cursors: cursorSigner(secretOf("cursors")),
    ...openCaches(metrics),
    ...(settings.baseUrl !== undefined && { baseUrl: settings.baseUrl }),
  };
  opened.use(await takeUpWork(services, log));
  const models = opened.adopt(await hosting.takeUp(services), (one) => one.end());
  const doors = await openAuthenticators(services, { settings, secretFor: secretOf, log });
  const refusals = new Refusals(system);
  const http = await createHttp({ log, metrics, noteRefusal: refusals.note, protocols, settings });
  const held = new HeldRequests(http);
  addEndpoints(http, { services, ...doors, ...memoryOf(bounds, metrics) }, { refusals, metrics, log });
  const serving = opened.move();
  return {
    services,
    async listen() {
      const address = await listenAt(http, settings);
      models.begin(address);
      const newKey = await unlessFull(services, log, () => ensureFirstKey(services, settings));
      held.release();
      return { address, baseUrl: settings.baseUrl ?? address, ...(newKey !== undefined && { newKey }) };
    },
    close: async () => {
      await closeWithin(http, held.isReleased ? limits.shutdownMsMax : 0);
      await serving.disposeAsync();
    },
  };
}

/** Memory that requests share and that no restart needs. */
function openCaches(
  metrics: Metrics,
): Pick<Services, "generations" | "seriesCache" | "insertBuffers" | "responseBuffers"> {
  const generations = new Generations();
  const seriesCache = new SeriesCache(generations);
  measureWritePlans(metrics.registry, () => seriesCache.planCounts);
  const responseBuffers = { datapoints: datapointBuffers(), odata: pageBuffers() };
  return { generations, seriesCache, insertBuffers: new InsertBuffers(), responseBuffers };
}

function openComputing({ registry }: Metrics): Computing {
  const computing = new Computing();
  measureComputing(registry, () => computing.load);
  return computing;
}

/** Finishes what a crash left undone, and goes on with the server's own work until it is disposed of. */
async function takeUpWork(services: Services, log: Logger): Promise<AsyncDisposable> {
  await using working = new AsyncDisposableStack();
  await unlessFull(services, log, () => finishLeftWork(services));
  working.defer(() => services.uploads.cancelAll());
  working.defer(() => services.jobs.cancelAll());
  working.defer(sweepUploads(services, log));
  working.defer(() => services.erasures.end());
  for (const project of await projectIds(services)) services.erasures.begin(project);
  return working.move();
}

/** What a crash left undone, and older keys without an account. */
async function finishLeftWork(services: Services): Promise<void> {
  await services.catalog.write("system", (tx) => adoptKeys(tx, services));
  await finishDeletions(services);
  await finishRemovals(services);
  for (const project of await projectIds(services)) await failInterruptedJobs(services, project);
}

const erasuresIn = (catalog: Catalog, log: Logger) =>
  new Erasures(catalog, ownedRows, (problem) =>
    log.error({ err: problem }, "Could not take rows away whose raw table or sequence is gone"),
  );

/** The catalog of a data folder; another process may have it open as well. `tell` hears of long work. */
export const openCatalog = (folder: string, system: System, tell: (text: string) => void): Promise<Catalog> =>
  openSqlCatalog({ file: catalogFileOf(folder), tables, system, tell });

/** Into the log, and to whoever sits before the console and waits. */
const telling = (log: Logger) => (text: string) => {
  log.info(text);
  console.log(text);
};

/** Who may ask what of the catalog of a data folder with this secret. */
export function accessOf(
  parts: Pick<Services, "catalog" | "ids" | "system">,
  secret: Uint8Array,
): Pick<Services, "keys" | "rights"> {
  const rights = new Rights({
    ...parts,
    defaultGroupOf,
    ancestorsOf: (project, ids) => ancestorsOf(parts.catalog, project, ids),
  });
  return { rights, keys: new ApiKeys({ ...parts, rights, secret: secretFor("api-keys", secret) }) };
}

const secretFor = (purpose: string, secret: Uint8Array) =>
  new Uint8Array(hkdfSync("sha256", secret, "", `millrace ${purpose}`, 32));

/** Takes away at once and from time to time what expired uploads have left; answers how to end that. */
function sweepUploads(services: Services, log: Logger): () => Promise<void> {
  let sweep = Promise.resolve();
  const begin = () => {
    sweep = sweep
      .then(() => deleteExpiredUploads(services))
      .catch((problem: unknown) => log.error({ err: problem }, "Could not take expired uploads away"));
  };
  begin();
  const timer = setInterval(begin, limits.uploadSweepMs);
  return () => {
    clearInterval(timer);
    return sweep;
  };
}

interface Watched {
  readonly refusals: Refusals;
  readonly metrics: Metrics;
  readonly log: Logger;
}

function addEndpoints(http: FastifyInstance, kernel: Kernel & Authenticators, watched: Watched): void {
  const { services } = kernel;
  const { refusals, metrics, log } = watched;
  const served = new ServedPaths(http);
  addRoutes(http, kernel, routes);
  addOpenRoutes(http, kernel, loginRoutes);
  addLinkRoutes(http, kernel, linkRoutes);
  addOData(http, kernel, model);
  for (const version of apiVersions) addDescription(http, version, () => describe(version));
  addHealth(http, { ...services, refusals }, log);
  addMetrics(http, metrics, services.points);
  served.refuseTheRest(kernel, protocols);
}

const settingsKeyName = "administrator (MILLRACE_ADMIN_KEY)";

/**
 * Makes the project of the settings with a first key, unless it is there; returns the key that it made.
 * Called when the port is open: a start that is refused because the port is taken must not use up the first
 * key.
 */
async function ensureFirstKey(
  services: Services,
  { project: urlName, adminKey }: Settings,
): Promise<string | undefined> {
  const { keys } = services;
  const { project, isNew } = await ensureProject(services, urlName);
  if (adminKey !== undefined) {
    if (await keys.ensure(project, settingsKeyName, adminKey)) return undefined;
    throw new StartRefused(
      `MILLRACE_ADMIN_KEY is a key of another project than ${urlName}, or was; choose another for this one`,
    );
  }
  return isNew ? (await keys.create(project, "administrator")).key : undefined;
}
