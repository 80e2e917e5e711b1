// Tells a path that does not exist (404) from a method that a path does not have (405).
import type { FastifyInstance } from "fastify";
import findMyWay, { type HTTPMethod } from "find-my-way";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Options of both routers, so that they agree on every path. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: limits.pathSegmentBytesMax };

/** Watches the routes that are added from now on, and refuses what none of them serves. */
export function refuseUnknownRoutes(http: FastifyInstance): void {
  const known = findMyWay(routerOptions);
  http.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat())
      if (one !== "OPTIONS" && !known.hasRoute(one as HTTPMethod, url))
        known.on(one as HTTPMethod, url, () => {});
  });
  http.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0]!;
    const allowed = methods.filter((method) => known.find(method, path) !== null);
    if (allowed.length === 0) throw fail("no-such-route", { method: request.method, path });
    reply.header("Allow", allowed.join(", "));
    throw fail("method-not-allowed", { method: request.method, path, allowed });
  });
}
