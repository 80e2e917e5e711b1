// Serves health, metrics and the OpenAPI description of each version. They need no credentials.
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { Failure } from "../errors.ts";
import type { System } from "../lib/system.ts";
import { version } from "../lib/version.ts";
import { limits } from "../limits.ts";
import type { BlobStore } from "../storage/blobs.ts";
import type { ProjectCatalog } from "../storage/catalog.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import type { Damage, PointsStats, PointsStore } from "../storage/points.ts";
import type { HealthStatus, Metrics, ThreadCounts } from "./metrics.ts";

export interface Stores {
  readonly catalog: ProjectCatalog;
  readonly points: PointsStore;
  readonly blobs: BlobStore;
  readonly disk: DiskSpace;
  readonly refusals: Refusals;
  /** The backups that the server makes by itself. */
  readonly scheduled?: { readonly health: HealthOfBackups } | undefined;
}

interface HealthOfBackups {
  /** Absent while nothing is wrong. */
  readonly problem?: string;
}

/**
 * `GET /health`: 200 while all stores respond and accept writes, else 503: `degraded` while reads and deletes
 * work, otherwise `failing`. It names stores that are away, and lists damaged parts; the other parts are
 * served. With a problem of the backups alone it is 200 and `degraded`.
 *
 * `GET /health/live`: 200 while the server responds, whatever its stores do. A load balancer that removed
 * servers by `/health` would remove all of them when a store is away.
 */
export function addHealth(http: FastifyInstance, stores: Stores, log: Logger): void {
  http.get("/health", async (_request, reply) => {
    const { status, isServing, store, quarantined, away, problems, backups } = await stateOf(stores);
    for (const problem of problems) log.error({ err: problem }, "A store does not respond");
    const { freeBytes } = stores.disk;
    const more = { ...(away && { away }), ...(backups && { backups }) };
    if (isServing) return { status, version, store, quarantined, ...more };
    const shown = status === "degraded" ? { freeBytes } : {};
    return reply.code(503).send({ status, version, store, ...shown, quarantined, ...more });
  });
  http.get("/health/live", async () => ({ status: "ok", version }));
}

interface State {
  readonly status: HealthStatus;
  /** Whether all stores accept reads and writes. */
  readonly isServing: boolean;
  readonly store: string;
  readonly quarantined: readonly Damage[];
  /** The replicas that are away while others serve. */
  readonly away?: readonly string[] | undefined;
  readonly backups?: HealthOfBackups | undefined;
  /** Of stores that do not respond. */
  readonly problems: readonly unknown[];
  /** Undefined while the datapoint store does not respond: the other metrics are needed then. */
  readonly stats: PointsStats | undefined;
}

type StateOfStores = Omit<State, "isServing" | "backups">;

async function stateOf(stores: Stores): Promise<State> {
  const state = await stateOfStores(stores);
  const backups = stores.scheduled?.health;
  const isServing = state.status === "ok";
  const isBackedUp = backups?.problem === undefined;
  return { ...state, isServing, backups, status: isServing && !isBackedUp ? "degraded" : state.status };
}

async function stateOfStores({ catalog, points, blobs, disk, refusals }: Stores): Promise<StateOfStores> {
  const [stats, ids, files] = await Promise.all([
    checked("The datapoint store", points.stats()),
    checked("The catalog", catalog.lastId()),
    checked("The store of files", blobs.check()),
  ]);
  const parts = [stats, ids, files];
  const problems = parts.flatMap(({ problem }) => problem ?? []);
  const { quarantined = [], writesStopped, away } = stats.result ?? {};
  const state = (status: HealthStatus, ...texts: readonly string[]) => {
    const store = texts.length > 0 ? [...new Set(texts)].join("; ") : "open";
    return { status, store, quarantined, away, problems, stats: stats.result };
  };
  const texts = parts.flatMap(({ text }) => text ?? []);
  if (writesStopped !== undefined)
    return state("failing", `takes no datapoints until a restart: ${writesStopped}`, ...texts);
  if (stats.text !== undefined || ids.text !== undefined) return state("failing", ...texts);
  if (disk.problem !== undefined)
    return state("degraded", `only reads and deletes: ${disk.problem}`, ...texts);
  if (files.text !== undefined) return state(isAway(files.problem) ? "degraded" : "failing", files.text);
  const refused = refusals.latest();
  return refused === undefined ? state("ok") : state("degraded", `the disk refused a write: ${refused}`);
}

/** The store of files on another machine is away; all else is served. */
const isAway = (problem: unknown) => problem instanceof Failure && problem.failure === "file-store-away";

interface Checked<Result> {
  readonly result?: Result;
  readonly problem?: unknown;
  /** Of a part that does not respond, for the response. */
  readonly text?: string;
}

/** The result of a check, or why there is none within `healthMsMax`. */
async function checked<Result>(part: string, checking: Promise<Result>): Promise<Checked<Result>> {
  const ended = new AbortController();
  const waiting = pause(limits.healthMsMax, undefined, { ref: false, signal: ended.signal });
  const text = `${part} does not respond within ${limits.healthMsMax / 1000} s`;
  try {
    const late = waiting.then(() => ({ text, problem: new Error(text) }));
    return await Promise.race([checking.then((result) => ({ result })), late]);
  } catch (problem) {
    return { problem, text: problem instanceof Failure ? problem.message : "not answering" };
  } finally {
    ended.abort();
  }
}

/** Stores the latest failed write to the disk. */
export class Refusals {
  readonly #system: System;
  #latest: { readonly problem: string; readonly untilMs: number } | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  readonly record = (problem: string): void => {
    this.#latest = { problem, untilMs: this.#system.monotonicMs() + limits.refusalShownMs };
  };

  /** Undefined if no write failed recently. */
  latest(): string | undefined {
    const { problem, untilMs = 0 } = this.#latest ?? {};
    return untilMs > this.#system.monotonicMs() ? problem : undefined;
  }
}

/** `GET /metrics` in the text format of Prometheus. */
export function addMetrics(
  http: FastifyInstance,
  metrics: Metrics,
  stores: Stores,
  front?: { counts(): Promise<readonly ThreadCounts[]> },
): void {
  http.get("/metrics", async (_request, reply) => {
    const { status, stats } = await stateOf(stores);
    if (front) metrics.showOthers(await front.counts());
    const text = await metrics.text({ status, stats, disk: stores.disk });
    return reply.type(metrics.registry.contentType).send(text);
  });
}

/** `GET /api/{version}/openapi.json`, created once. */
export function addDescription(http: FastifyInstance, version: string, describe: () => object): void {
  let text: string | undefined;
  http.get(`/api/${version}/openapi.json`, async (_request, reply) => {
    text ??= JSON.stringify(describe());
    return reply.type("application/json; charset=utf-8").send(text);
  });
}
