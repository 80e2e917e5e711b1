// The one place that names every room and the backends, and puts them together into a serving application.

import { hkdfSync } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { adoptKeys } from "./access/administrators.ts";
import { ApiKeys } from "./access/api-keys.ts";
import { endedSessionTable } from "./access/ended-sessions.ts";
import { Generations } from "./access/generations.ts";
import { Rights } from "./access/rights.ts";
import { accountTable, apiKeyTable, groupTable } from "./access/schema.ts";
import { openAuthenticators } from "./authenticators.ts";
import { Computing } from "./compute/computing.ts";
import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { catalogFileOf, openDataFolder, StartRefused } from "./data-folder.ts";
import { openStores } from "./data-stores.ts";
import { unlessFull, watchDisk } from "./full-disk.ts";
import { ServedPaths } from "./http/allowed-methods.ts";
import { HeldRequests } from "./http/held-requests.ts";
import { loginRoutes } from "./http/login.ts";
import { createMetrics, type Metrics, measureComputing, measureWritePlans } from "./http/metrics.ts";
import { addDescription, addHealth, addMetrics, Refusals } from "./http/operations.ts";
import { type Kernel, registerLinkRoutes, registerOpenRoutes, registerRoutes } from "./http/register.ts";
import { registerOData } from "./http/register-odata.ts";
import { memoryOf, usualBounds } from "./http/request-memory.ts";
import { createHttp } from "./http/server.ts";
import { IdSource } from "./lib/ids.ts";
import { KeyedTaskRunner } from "./lib/keyed-task-runner.ts";
import { RunningJobs } from "./lib/running-jobs.ts";
import type { System } from "./lib/system.ts";
import { limits } from "./limits.ts";
import { closeWithin, listenAt } from "./listening.ts";
import { openModelHosting } from "./model-hosting.ts";
import { assembleModel } from "./odata/model.ts";
import { pageBuffers } from "./odata/service.ts";
import { cursorSigner } from "./query/cursor.ts";
import { analyticsRoutes } from "./resources/analytics/analytics.rest.ts";
import { failInterruptedJobs } from "./resources/analytics/analytics.ts";
import { jobTable } from "./resources/analytics/schema.ts";
import { archiveRoutes } from "./resources/archives/archives.rest.ts";
import { assetTypeRoutes } from "./resources/assets/asset-types/asset-types.rest.ts";
import { assetTypeTable } from "./resources/assets/asset-types/schema.ts";
import { assetModel } from "./resources/assets/assets.odata.ts";
import { assetRoutes } from "./resources/assets/assets.rest.ts";
import { ancestorsOf } from "./resources/assets/rows.ts";
import { assetTable } from "./resources/assets/schema.ts";
import { calculatedModel } from "./resources/calculated/calculated.odata.ts";
import { calculatedRoutes } from "./resources/calculated/calculated.rest.ts";
import { datapointRoutes } from "./resources/datapoints/datapoints.rest.ts";
import { InsertBuffers } from "./resources/datapoints/inserts/insert-buffers.ts";
import { datapointModel } from "./resources/datapoints/odata/datapoints.odata.ts";
import { datapointBuffers } from "./resources/datapoints/responses.rest.ts";
import { eventModel } from "./resources/events/events.odata.ts";
import { eventRoutes } from "./resources/events/events.rest.ts";
import { namedTypeRoutes } from "./resources/events/named-types.rest.ts";
import { eventTable, eventTransformerTable, semanticTypeTable } from "./resources/events/schema.ts";
import { fileLinkRoutes } from "./resources/files/blobs.rest.ts";
import { fileModel } from "./resources/files/files.odata.ts";
import { fileRoutes } from "./resources/files/files.rest.ts";
import { finishRemovals } from "./resources/files/removals.ts";
import { attachmentTable, fileTable, removalTable, uploadTable } from "./resources/files/schema.ts";
import { deleteExpiredUploads } from "./resources/files/uploads.ts";
import { groupRoutes } from "./resources/groups/groups.rest.ts";
import { securityCategoryTable } from "./resources/groups/schema.ts";
import { securityCategoryRoutes } from "./resources/groups/security-categories.rest.ts";
import { accountRoutes } from "./resources/identities/accounts.rest.ts";
import { apiKeyRoutes } from "./resources/identities/api-keys.rest.ts";
import { modelRoutes } from "./resources/models/models.rest.ts";
import { scheduleRunTable, scheduleTable } from "./resources/models/schedules/schema.ts";
import {
  artifactTable,
  logTable,
  modelTable,
  sourcePackageTable,
  versionTable,
} from "./resources/models/schema.ts";
import { projectRoutes } from "./resources/projects/projects.rest.ts";
import { defaultGroupOf, ensureProject, projectIds } from "./resources/projects/projects.ts";
import { projectTable } from "./resources/projects/schema.ts";
import { rawModel } from "./resources/raw/raw.odata.ts";
import { rawRoutes } from "./resources/raw/raw.rest.ts";
import {
  ownedRawRows,
  rawDatabaseTable,
  rawDeletionTable,
  rawRowTable,
  rawTableTable,
} from "./resources/raw/schema.ts";
import { relationshipModel } from "./resources/relationships/relationships.odata.ts";
import { relationshipRoutes } from "./resources/relationships/relationships.rest.ts";
import { relationshipTable } from "./resources/relationships/schema.ts";
import {
  ownedSequenceRows,
  sequenceDeletionTable,
  sequenceRowTable,
  sequenceTable,
} from "./resources/sequences/schema.ts";
import { sequenceModel } from "./resources/sequences/sequences.odata.ts";
import { sequenceRoutes } from "./resources/sequences/sequences.rest.ts";
import { tagMatchingRoutes } from "./resources/tag-matching/tag-matching.rest.ts";
import { finishDeletions } from "./resources/timeseries/pending-deletions.ts";
import { pendingDeletionTable, timeSeriesTable } from "./resources/timeseries/schema.ts";
import { SeriesCache } from "./resources/timeseries/series-cache.ts";
import { timeSeriesModel } from "./resources/timeseries/timeseries.odata.ts";
import { timeSeriesRoutes } from "./resources/timeseries/timeseries.rest.ts";
import { openApiOf } from "./rest/openapi.ts";
import { type ApiVersion, type Authenticators, apiVersions, type Route } from "./rest/route.ts";
import { withSingleDeletes } from "./rest/single-deletes.ts";
import type { AnyTable, Catalog } from "./storage/catalog.ts";
import { Erasures } from "./storage/erasures.ts";
import { manifestTable } from "./storage/manifest.ts";
import { openSqlCatalog } from "./storage/sql/sql-catalog.ts";

/** The record of the data folder, and every table of every resource. */
export const tables: readonly AnyTable[] = [
  manifestTable,
  projectTable,
  apiKeyTable,
  accountTable,
  groupTable,
  securityCategoryTable,
  endedSessionTable,
  assetTable,
  assetTypeTable,
  timeSeriesTable,
  pendingDeletionTable,
  jobTable,
  eventTable,
  eventTransformerTable,
  semanticTypeTable,
  sequenceTable,
  sequenceRowTable,
  sequenceDeletionTable,
  relationshipTable,
  fileTable,
  uploadTable,
  attachmentTable,
  removalTable,
  rawDatabaseTable,
  rawTableTable,
  rawRowTable,
  rawDeletionTable,
  modelTable,
  sourcePackageTable,
  versionTable,
  artifactTable,
  logTable,
  scheduleTable,
  scheduleRunTable,
];

/** Every operation of every room. */
export const routes: readonly Route[] = withSingleDeletes([
  ...projectRoutes,
  ...accountRoutes,
  ...apiKeyRoutes,
  ...groupRoutes,
  ...securityCategoryRoutes,
  ...assetRoutes,
  ...assetTypeRoutes,
  ...tagMatchingRoutes,
  ...timeSeriesRoutes,
  ...datapointRoutes,
  ...calculatedRoutes,
  ...analyticsRoutes,
  ...eventRoutes,
  ...namedTypeRoutes,
  ...sequenceRoutes,
  ...relationshipRoutes,
  ...fileRoutes,
  ...rawRoutes,
  ...archiveRoutes,
  ...modelRoutes,
]);

/** The entity model: what every room adds to it. */
export const model = assembleModel([
  assetModel,
  timeSeriesModel,
  datapointModel,
  calculatedModel,
  eventModel,
  fileModel,
  rawModel,
  sequenceModel,
  relationshipModel,
]);

/** The OpenAPI description of one version. */
export const describe = (version: ApiVersion) => openApiOf(version, routes, loginRoutes, fileLinkRoutes);

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
  const http = await createHttp({ log, metrics, noteRefusal: refusals.note, settings });
  const held = new HeldRequests(http);
  addRoutes(http, { services, ...doors, ...memoryOf(bounds, metrics) }, { refusals, metrics, log });
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
  new Erasures(catalog, [ownedRawRows, ownedSequenceRows], (problem) =>
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

function addRoutes(http: FastifyInstance, kernel: Kernel & Authenticators, watched: Watched): void {
  const { services } = kernel;
  const { refusals, metrics, log } = watched;
  const served = new ServedPaths(http);
  registerRoutes(http, kernel, routes);
  registerOpenRoutes(http, kernel, loginRoutes);
  registerLinkRoutes(http, services, fileLinkRoutes);
  registerOData(http, kernel, model);
  for (const version of apiVersions) addDescription(http, version, () => describe(version));
  addHealth(http, { ...services, refusals }, log);
  addMetrics(http, metrics, services.points);
  served.refuseTheRest(kernel.authenticator);
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
