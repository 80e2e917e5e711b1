// Refuses requests that no operation serves: 404 for a path, 405 for a method. Below a project
// it checks the caller first (401, 403), so that strangers learn nothing.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { type SendPage, wantsPage } from "./console.ts";
import type { Kernel } from "./pipeline.ts";
import { admitToProject } from "./project-access.ts";
import { isOf, type Protocol, protocolOf } from "./protocol.ts";

interface Rest {
  readonly kernel: Pick<Kernel, "authenticator" | "services" | "keyUses" | "readTurns">;
  readonly protocols: readonly Protocol[];
  readonly sendPage: SendPage;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Options of both routers, so that they agree on every path. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: limits.pathSegmentBytesMax };

/** The methods of each path pattern that is added after the construction. */
export class ServedPaths {
  readonly #http: FastifyInstance;
  readonly #methodsOf = new Map<string, string[]>();

  constructor(http: FastifyInstance) {
    this.#http = http;
    http.addHook("onRoute", ({ method, url }) => {
      const pattern = url.replaceAll(/:\w+/g, ":p");
      const known = this.#methodsOf.get(pattern) ?? [];
      const more = [method].flat().filter((added) => added !== "OPTIONS" && !known.includes(added));
      if (more.length > 0) this.#methodsOf.set(pattern, [...known, ...more]);
    });
  }

  /**
   * Refuses all other requests; call it after every route is added. The path is matched before the method:
   * `GET /timeseries/dataframe` does not read a series of this name. A browser gets the page of the console
   * for a path whose first segment no route has.
   */
  refuseTheRest({ kernel, protocols, sendPage }: Rest): void {
    const all = [...this.#methodsOf]; // Without the methods that are added below.
    let patterns: ReturnType<typeof routerOf> | undefined;
    const roots = new Set(all.map(([pattern]) => pattern.split("/")[1]));
    const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const path = request.url.split("?", 1)[0]!;
      await admitBelowProject(request, kernel, protocolOf(protocols, path));
      patterns ??= routerOf(all); // At the first refusal, because a start needs none.
      const served = patterns.find("GET", path)?.store as readonly string[] | undefined;
      if (!served && wantsPage(request) && !roots.has(path.split("/")[1])) return sendPage(reply);
      if (!served) throw fail("no-such-route", { method: request.method, path });
      const allowed = methods.filter((method) => served.includes(method));
      throw fail("method-not-allowed", { method: request.method, path, allowed });
    };
    for (const { url, missing } of hiddenMethods(all))
      this.#http.route({ method: missing, url, handler: refuse });
    this.#http.setNotFoundHandler(refuse);
  }
}

type Served = readonly [url: string, methods: readonly string[]];

/** Finds the pattern of a path; its store are the methods of the pattern. */
function routerOf(served: readonly Served[]) {
  const router = findMyWay(routerOptions);
  for (const [url, methods] of served) router.on("GET", url, () => {}, methods);
  return router;
}

/**
 * The methods that a pattern lacks, but a more general pattern for the same paths has. Without a route that
 * refuses them, the router would send such a request to the general pattern. Each route adds 0.1 ms to a
 * start, so other patterns get none.
 */
function hiddenMethods(served: readonly Served[]): { readonly url: string; readonly missing: string[] }[] {
  const all = served.map(([url, has]) => ({ url, has, segments: url.split("/") }));
  const byRoot = Map.groupBy(all, (one) => rootOf(one.segments));
  const roots = [...byRoot].map(([root, below]) => ({ root, below, segments: root.split("/") }));
  const near = (own: readonly string[]) =>
    roots.flatMap(({ segments, below }) => (isLike(segments, own) ? below : []));
  const nearRoot = new Map(roots.map(({ root, segments }) => [root, near(segments)]));
  return all.flatMap(({ url, has, segments }) => {
    const likely = nearRoot.get(rootOf(segments)) ?? [];
    const others = likely.filter((other) => other.url !== url && isBehind(other.segments, segments));
    const hidden = new Set(others.flatMap((other) => other.has));
    const missing = methods.filter((method) => hidden.has(method) && !has.includes(method));
    return missing.length > 0 ? [{ url, missing }] : [];
  });
}

/** The start of a pattern up to the resource, such as `/api/0.6/projects/:p/assets`. */
const rootOf = (segments: readonly string[]): string => segments.slice(0, 6).join("/");

/**
 * Whether one path may match patterns with both roots. Few pairs of roots are alike, so most patterns need
 * not be compared with each other.
 */
function isLike(one: readonly string[], other: readonly string[]): boolean {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) {
    const own = one[at]!;
    const theirs = other[at]!;
    if (own !== theirs && !isOpen(own) && !isOpen(theirs)) return false;
  }
  return true;
}

const isOpen = (segment: string): boolean => segment.includes(":") || segment.includes("*");

/**
 * Whether the router takes the second pattern for a path that both match: it has a fixed segment where the
 * first difference is.
 */
function isBehind(general: readonly string[], own: readonly string[]): boolean {
  let differs = false;
  const length = Math.max(general.length, own.length);
  for (let at = 0; at < length; at++) {
    const theirs = general[at];
    const mine = own[at];
    if (theirs === mine) continue;
    if (theirs?.includes("*") || mine?.includes("*")) return differs || !mine?.includes("*");
    if (theirs === undefined || mine === undefined) return false;
    if (!theirs.includes(":") && (!differs || !mine.includes(":"))) return false;
    differs = true;
  }
  return differs;
}

async function admitBelowProject(
  request: FastifyRequest,
  kernel: Pick<Kernel, "authenticator" | "services" | "keyUses" | "readTurns">,
  protocol: Protocol,
): Promise<void> {
  const [, segment] = /^\/[^/]+\/[^/]+\/projects\/([^/?]+)/.exec(request.url) ?? [];
  if (segment === undefined || !isOf(protocol, request.url)) return;
  const { use } = await admitToProject(kernel, {
    source: protocol.sourceOf(request),
    urlName: decodeURIComponent(segment),
    capability: "member",
    isQuery: true,
  });
  use?.end();
}
