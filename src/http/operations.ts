// What operators watch and tools read: health, metrics, the description of each version. Open to everyone.
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { version } from "../lib/version.ts";
import type { BlobStore } from "../storage/blobs.ts";
import type { Catalog } from "../storage/catalog.ts";
import type { PointsStore } from "../storage/points.ts";
import type { Metrics } from "./metrics.ts";

export interface Stores {
  readonly catalog: Catalog;
  readonly points: PointsStore;
  readonly blobs: BlobStore;
}

/**
 * `GET /health`: 200 while all stores answer and take writes, else 503. Damaged pieces are listed, the rest
 * serves.
 */
export function addHealth(http: FastifyInstance, { catalog, points, blobs }: Stores, log: Logger): void {
  http.get("/health", async (_request, reply) => {
    try {
      const [stats] = await Promise.all([points.stats(), catalog.lastId(), blobs.check()]);
      const { quarantined, refusing } = stats;
      if (refusing === undefined) return { status: "ok", version, store: "open", quarantined };
      const store = `takes no datapoints until a restart: ${refusing}`;
      return reply.code(503).send({ status: "failing", version, store, quarantined });
    } catch (problem) {
      log.error({ err: problem }, "A store does not answer");
      return reply.code(503).send({ status: "failing", version, store: "not answering", quarantined: [] });
    }
  });
}

/** `GET /metrics` in the text format of Prometheus. */
export function addMetrics(http: FastifyInstance, metrics: Metrics, points: PointsStore): void {
  http.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.text(points)),
  );
}

/** `GET /api/{version}/openapi.json`, made once. */
export function addDescription(http: FastifyInstance, version: string, describe: () => object): void {
  let text: string | undefined;
  http.get(`/api/${version}/openapi.json`, async (_request, reply) => {
    text ??= JSON.stringify(describe());
    return reply.type("application/json; charset=utf-8").send(text);
  });
}
