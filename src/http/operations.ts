// Serves health, metrics and the OpenAPI description of each version. They need no credentials.
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { Failure } from "../errors.ts";
import type { System } from "../lib/system.ts";
import { version } from "../lib/version.ts";
import { limits } from "../limits.ts";
import type { BlobStore } from "../storage/blobs.ts";
import type { Catalog } from "../storage/catalog.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import type { Damage, PointsStore } from "../storage/points.ts";
import type { Metrics } from "./metrics.ts";

export interface Stores {
  readonly catalog: Catalog;
  readonly points: PointsStore;
  readonly blobs: BlobStore;
  readonly disk: DiskSpace;
  readonly refusals: Refusals;
}

/**
 * `GET /health`: 200 while all stores respond and accept writes, else 503: `degraded` while reads and deletes
 * work, otherwise `failing`. It lists damaged parts; the other parts are served.
 */
export function addHealth(http: FastifyInstance, stores: Stores, log: Logger): void {
  http.get("/health", async (_request, reply) => {
    try {
      const { status, store, quarantined } = await stateOf(stores);
      const { freeBytes } = stores.disk;
      if (status === "ok") return { status, version, store, quarantined };
      return reply.code(503).send({ status, version, store, freeBytes, quarantined });
    } catch (problem) {
      log.error({ err: problem }, "A store does not respond");
      const store = problem instanceof Failure ? problem.message : "not answering";
      return reply.code(503).send({ status: "failing", version, store, quarantined: [] });
    }
  });
}

interface State {
  readonly status: "ok" | "degraded" | "failing";
  readonly store: string;
  readonly quarantined: readonly Damage[];
}

async function stateOf({ catalog, points, blobs, disk, refusals }: Stores): Promise<State> {
  const [{ quarantined, writesStopped }] = await Promise.all([points.stats(), catalog.lastId()]);
  if (writesStopped !== undefined)
    return { status: "failing", store: `takes no datapoints until a restart: ${writesStopped}`, quarantined };
  if (disk.problem !== undefined)
    return { status: "degraded", store: `only reads and deletes: ${disk.problem}`, quarantined };
  const away = await problemOfBlobs(blobs);
  if (away !== undefined) return { status: "degraded", store: away, quarantined };
  const refused = refusals.latest();
  if (refused !== undefined)
    return { status: "degraded", store: `the disk refused a write: ${refused}`, quarantined };
  return { status: "ok", store: "open", quarantined };
}

/** Why a store of files on another machine takes nothing; undefined while it does. */
async function problemOfBlobs(blobs: BlobStore): Promise<string | undefined> {
  try {
    await blobs.check();
    return undefined;
  } catch (problem) {
    if (problem instanceof Failure && problem.failure === "file-store-away") return problem.message;
    throw problem;
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
export function addMetrics(http: FastifyInstance, metrics: Metrics, points: PointsStore): void {
  http.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.text(points)),
  );
}

/** `GET /api/{version}/openapi.json`, created once. */
export function addDescription(http: FastifyInstance, version: string, describe: () => object): void {
  let text: string | undefined;
  http.get(`/api/${version}/openapi.json`, async (_request, reply) => {
    text ??= JSON.stringify(describe());
    return reply.type("application/json; charset=utf-8").send(text);
  });
}
