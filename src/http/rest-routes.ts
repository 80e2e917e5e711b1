// Serves the REST routes: every operation of a project, in each of its versions.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Services } from "../context.ts";
import { baseUrlOf } from "../lib/base-url.ts";
import { parametersDecoder } from "../rest/parameters.ts";
import {
  type ApiVersion,
  type BytesBody,
  bodyBytesMax,
  effectOf,
  isQuery,
  pathOf,
  type Route,
  type RouteResponse,
} from "../rest/route.ts";
import { ruleOf } from "./audit-rules.ts";
import { hasBody } from "./body.ts";
import { addEndpoint, type Kernel } from "./pipeline.ts";
import { admitToProject, contextOf } from "./project-access.ts";
import { restProtocol } from "./protocol.ts";
import { sendResponse } from "./send.ts";

/** The undecoded parameters of a request. */
export type RawParameters = Readonly<Record<string, string | string[] | undefined>>;

/** Adds every route in each of its versions. */
export function addRoutes(http: FastifyInstance, kernel: Kernel, routes: readonly Route[]): void {
  for (const route of routes)
    for (const version of route.versions) addRoute(http, kernel, { route, version });
}

function addRoute(
  http: FastifyInstance,
  kernel: Kernel,
  { route, version }: { readonly route: Route; readonly version: ApiVersion },
): void {
  const { method, capability } = route;
  const decodePath = parametersDecoder(route.parameters);
  const decodeQuery = parametersDecoder(route.query);
  const decodeBody = bodyDecoderOf(kernel, route.body);
  const status = route.created?.includes(version) ? 201 : 200;
  const url = patternOf(pathOf(route, version));
  addEndpoint(http, kernel, {
    method,
    url: route.takesRest ? url.replace(/:\w+$/, "*") : url,
    audit: ruleOf(route),
    statusOf: () => status,
    admit: (request, audit) =>
      admitToProject(kernel, {
        source: restProtocol.sourceOf(request),
        urlName: pathIn(request, route)["project"] as string,
        capability,
        ...{ isQuery: isQuery(route), audit },
      }),
    effect: effectOf(route),
    decode: (request) => ({
      path: decodePath(pathIn(request, route)),
      query: decodeQuery(request.query as RawParameters),
    }),
    readBody({ request, admitted, input, lifetime }, receive) {
      const ctx = contextOf(kernel, admitted, lifetime);
      if (!route.body && !hasBody(request.raw)) return { ctx, body: undefined };
      const { headers } = request;
      const received = receive(bodyBytesMax(route.body), (bytes, work) =>
        decodeBody(bytes, { ctx, path: input.path, headers, work }),
      );
      return received.then((body) => ({ ctx, body }));
    },
    handle: ({ request, input }, { ctx, body }) =>
      route.handle(ctx, { version, ...input, body, headers: request.headers }),
    send({ request, reply, lifetime }, response) {
      if (status === 201) reply.header("Location", locationOf(request, route, response));
      const next = nextLinkOf(kernel.services, request, { route, response });
      if (next !== undefined) reply.header("Link", `<${next}>; rel="next"`);
      return sendResponse(reply.code(status), response, { lifetime, sendBatch: kernel.sendBatch });
    },
  });
}

/** Names the rest of a path by the parameter that takes it. */
function pathIn({ params }: FastifyRequest, { takesRest, path }: Route): RawParameters {
  const raw = params as RawParameters;
  const name = takesRest ? /\{(\w+)\}$/.exec(path)?.[1] : undefined;
  return name === undefined ? raw : { ...raw, [name]: raw["*"] };
}

/** `/assets/{assetId}` in the notation of Fastify. */
export const patternOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ":$1");

type Decoder = (bytes: Buffer, input: Parameters<BytesBody<unknown>["read"]>[1]) => Promise<unknown>;

function bodyDecoderOf({ decoders }: Kernel, body: Route["body"]): Decoder {
  if (!body) return async () => undefined;
  return body.kind === "bytes" ? body.read : decoders.of(body);
}

/** The address of the created record, or of the first of several. */
function locationOf(request: FastifyRequest, { createdName = "id" }: Route, response: RouteResponse): string {
  const collection = request.url.split("?", 1)[0]!.replace(/\/create$/, "");
  type Named = Readonly<Record<string, string | number>>;
  const [first] = (response as { data?: { items?: readonly Named[] } }).data?.items ?? [];
  const name = first?.[createdName];
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/** The same request with the cursor of its response; only the path if the server's address is unknown. */
function nextLinkOf(
  services: Services,
  { url, headers }: FastifyRequest,
  { route, response }: { readonly route: Route; readonly response: RouteResponse },
): string | undefined {
  const { nextCursor } = response as { readonly nextCursor?: string };
  if (nextCursor === undefined || route.query["cursor"] === undefined) return undefined;
  const [path, search = ""] = url.split(/\?(.*)/s) as [string, string?];
  const others = search.split("&").filter((pair) => pair !== "" && !pair.startsWith("cursor="));
  const query = [...others, `cursor=${nextCursor}`].join("&");
  return `${baseUrlOf(services.baseUrl, headers) ?? ""}${safeInLink(`${path}?${query}`)}`;
}

/** Percent-encodes the bytes of an address that are not valid in a header or in a link inside it. */
const safeInLink = (address: string) =>
  address.replaceAll(/[^!-~]|[<>"]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
