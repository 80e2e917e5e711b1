// The routes that a front thread serves itself: reads and writes of datapoints. It forwards all others.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../errors.ts";
import { hasBody } from "../http/body.ts";
import { addWrites } from "../http/influx-routes.ts";
import { NeedsMain } from "../http/needs-main.ts";
import { transferOptions } from "../http/pipeline.ts";
import { addRoutes, patternOf } from "../http/rest-routes.ts";
import { limits } from "../limits.ts";
import { datapointRoutes } from "../resources/datapoints/datapoints.rest.ts";
import { pathOf, type Route } from "../rest/route.ts";
import type { Forwarding } from "./forwarding.ts";
import type { HiddenRoute } from "./messages.ts";

/** Writes of datapoints, and reads of one series or of latest points. */
const isServed = ({ method, path }: Route): boolean => method !== "DELETE" && servedPaths.test(path);

const servedPaths = /^\/timeseries\/((data|latest)(\/\{name\})?|\{id\}\/(data|latest))$/;

const served = datapointRoutes.filter(isServed);

/** Other routes of series: their paths could match one that a front thread serves. */
export const hiddenRoutes = (routes: readonly Route[]): readonly HiddenRoute[] => {
  const hidden = routes.filter((route) => !served.includes(route) && route.path.startsWith("/timeseries"));
  const all = hidden.flatMap((route) =>
    route.versions.map((version) => ({ method: route.method, url: patternOf(pathOf(route, version)) })),
  );
  return [...new Map(all.map((one) => [`${one.method} ${one.url}`, one])).values()];
};

interface FrontRouting {
  readonly forwarding: Forwarding;
  readonly hidden: readonly HiddenRoute[];
}

type FrontKernel = Parameters<typeof addWrites>[1];

export function addFrontRoutes(
  http: FastifyInstance,
  kernel: FrontKernel,
  { forwarding, hidden }: FrontRouting,
): void {
  const forward = async (request: FastifyRequest, reply: FastifyReply) => forwarding.forward(request, reply);
  http.addHook("preHandler", (request, reply, done) => {
    if (isLarge(request)) forwarding.forward(request, reply);
    else done();
  });
  addRoutes(http, kernel, served);
  addWrites(http, kernel);
  for (const route of hidden) http.route({ ...route, handler: forward, ...transferOptions });
  // The main thread has the deadlines of the requests that it gets.
  http.route({ method: methods, url: "*", handler: forward, ...transferOptions });
  http.setNotFoundHandler(forward);
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** A large body takes memory that the main thread divides among all requests. */
function isLarge({ raw, headers }: FastifyRequest): boolean {
  if (!hasBody(raw)) return false;
  const length = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const inflated = headers["content-encoding"] === undefined ? 1 : limits.frontInflationMax;
  return length * inflated > limits.frontBodyBytesMax;
}

/** Refusals that the main thread decides on: it counts failures of credentials, and records them. */
const decidedByMain: ReadonlySet<number> = new Set([401, 403, 429]);

/** Forwards a request whose problem arose before anything has changed, if it is one for the main thread. */
export function takeOver(
  forwarding: Forwarding,
  problem: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (problem instanceof NeedsMain) {
    forwarding.forward(request, reply, problem.body);
    return true;
  }
  const isUnread = !hasBody(request.raw) || !request.raw.readableDidRead;
  if (!(problem instanceof Failure) || !isUnread) return false;
  if (!decidedByMain.has(problem.status) && problem.failure !== "disk-full") return false;
  forwarding.forward(request, reply);
  return true;
}
