// Lets scripts of web pages of any origin use the API (the CORS protocol of the Fetch standard).
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** Response headers that scripts of other origins may read, besides the safelisted ones. */
const exposedHeaders = [
  ...["X-Request-Id", "Range", "Content-Range", "Content-Disposition", "Location", "ETag", "Retry-After"],
  ...["Link", "X-Next-Cursor"],
  ...["OData-Version", "OData-EntityId", "Preference-Applied"],
].join(", ");

/** Of every response. Caches must not reuse a response for another origin. */
export const variesByOrigin = { vary: "Origin" } as const;

/** Adds the headers that let the page of the request read the response. */
export function shareWithPage({ headers }: FastifyRequest, reply: FastifyReply): void {
  const { origin } = headers;
  if (origin === undefined) return;
  reply.headers({
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-expose-headers": exposedHeaders,
  });
}

/** Responds to the preflight requests that browsers send before some requests, without credentials. */
export function addPreflights(http: FastifyInstance): void {
  http.options("*", ({ headers }, reply) => {
    const requested = headers["access-control-request-headers"];
    reply.header("access-control-allow-methods", methods);
    reply.header("vary", "Origin, Access-Control-Request-Headers");
    if (requested !== undefined) reply.header("access-control-allow-headers", requested);
    return reply.code(204).send();
  });
}
