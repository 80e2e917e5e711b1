// Who may call from a page in a browser: pages of any origin, because the gate sees to it that a cookie alone
// does not let a foreign page in.
import type { FastifyInstance, FastifyRequest } from "fastify";

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** What scripts of other origins may read, beside what all may. */
const exposedHeaders = [
  ...["X-Request-Id", "Range", "Content-Range", "Content-Disposition", "Location", "ETag", "Retry-After"],
  ...["OData-Version", "OData-EntityId", "Preference-Applied"],
].join(", ");

/** Tells browsers so, which alone send an `Origin`, and answers what they ask ahead of a request. */
export function allowAllOrigins(http: FastifyInstance): void {
  http.addHook("onRequest", (request, reply, done) => {
    reply.header("vary", "Origin");
    const { origin } = request.raw.headers;
    if (origin) reply.headers(allowanceFor(origin));
    done();
  });
  http.options("*", (request, reply) => {
    reply.code(204).headers(preflightHeaders(request)).header("content-length", "0").send();
  });
}

const allowanceFor = (origin: string) => ({
  "access-control-allow-origin": origin,
  "access-control-allow-credentials": "true",
  "access-control-expose-headers": exposedHeaders,
});

function preflightHeaders({ headers }: FastifyRequest) {
  const asked = headers["access-control-request-headers"];
  return {
    vary: "Origin, Access-Control-Request-Headers",
    "access-control-allow-methods": methods,
    ...(asked !== undefined && { "access-control-allow-headers": asked }),
  };
}
