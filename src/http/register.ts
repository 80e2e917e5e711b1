// From route tables to a serving instance: what every request goes through, in order, is `answerTo`.
import type { OutgoingHttpHeaders } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Authenticator, RequestSource } from "../access/authenticator.ts";
import { authorize } from "../access/authorize.ts";
import type { Caller } from "../access/caller.ts";
import type { RequestContext, Services } from "../context.ts";
import { baseUrlOf as addressKnown } from "../lib/base-url.ts";
import { freeingWritable } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import { baseUrlOf } from "../rest/base-url.ts";
import { inChunks } from "../rest/items-json.ts";
import { jsonDecoder } from "../rest/json.ts";
import { parametersDecoder } from "../rest/parameters.ts";
import {
  type Authenticators,
  type BodyWork,
  type BrowserResponse,
  type BytesBody,
  bodyBytesMax,
  effectOf,
  type LinkResponse,
  type LinkRoute,
  type OpenRoute,
  pathOf,
  type Route,
  type RouteResponse,
} from "../rest/route.ts";
import { type BodyMemory, readBody } from "./body.ts";
import { errorBody } from "./error-answer.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { responseMemory } from "./request-memory.ts";
import { type Deadlines, RequestScope } from "./request-scope.ts";

/** What the routes of projects are served with. */
export interface Kernel {
  readonly services: Services;
  readonly authenticator: Pick<Authenticator, "authenticate">;
  /** For the bodies of all requests under way. */
  readonly bodies: BodyMemory;
  /** For all responses under way. */
  readonly responses: MemoryBudget;
  readonly deadlines: Deadlines;
}

type Sent = Readonly<Record<string, string | string[] | undefined>>;

/** Adds every route in each of its versions. */
export function registerRoutes(http: FastifyInstance, kernel: Kernel, routes: readonly Route[]): void {
  for (const route of routes) {
    const decodeBody = bodyDecoderOf(route.body);
    const bytesMax = bodyBytesMax(route.body);
    const decodePath = parametersDecoder(route.parameters);
    const decodeQuery = parametersDecoder(route.query);
    const effect = effectOf(route);
    for (const version of route.versions) {
      const status = route.created?.includes(version) ? 201 : 200;
      const answerTo = async (request: FastifyRequest, reply: FastifyReply) => {
        const sentPath = pathSent(request.params as Sent, route);
        const project = (sentPath["project"] as string).normalize("NFC");
        const caller = authorize(
          await kernel.authenticator.authenticate(senderOf(request), project),
          project,
          route.capability,
        );
        if (effect === "write") kernel.services.disk.requireRoom();
        if (effect === "delete" && kernel.services.disk.isFull) await kernel.services.disk.prepareDelete();
        const path = decodePath(sentPath);
        const query = decodeQuery(request.query as Sent);
        const scope = new RequestScope(reply.raw, kernel.deadlines);
        const ctx = contextOf(kernel, caller, scope);
        const { headers } = request;
        const receiving = { kernel, scope, bytesMax, client: clientOf(caller) };
        const body = await receive(request, receiving, (bytes, work) =>
          decodeBody(bytes, { ctx, path, headers, work }),
        );
        const question = { version, path, query, body, headers };
        const answer = await scope.within(route.handle(ctx, question));
        if (status === 201) reply.header("Location", locationOf(request, route, answer));
        const next = nextLinkOf(kernel.services, request, { route, answer });
        if (next !== undefined) reply.header("Link", `<${next}>; rel="next"`);
        return send(reply.code(status), answer, scope);
      };
      const url = patternOf(pathOf(route, version));
      const pattern = route.takesRest ? url.replace(/:\w+$/, "*") : url;
      http.route({ method: route.method, url: pattern, handler: answerTo });
    }
  }
}

/** Adds operations that belong to no project and need no credentials. */
export function registerOpenRoutes(
  http: FastifyInstance,
  kernel: Kernel & Authenticators,
  routes: readonly OpenRoute[],
): void {
  const { authenticator, browserLogin, services } = kernel;
  for (const route of routes) {
    const decodeBody = route.body ? jsonDecoder(route.body.schema, route.body) : async () => undefined;
    const decodeQuery = parametersDecoder(route.query);
    const answerTo = async (request: FastifyRequest, reply: FastifyReply) => {
      const query = decodeQuery(request.query as Sent);
      const sender = senderOf(request);
      if (route.body) authenticator.throttle.refuseAddress(sender.address);
      const scope = new RequestScope(reply.raw, kernel.deadlines);
      const receiving = { kernel, scope, bytesMax: limits.openBodyBytesMax, client: sender.address };
      const body = await receive(request, receiving, (bytes, work) => decodeBody(bytes, { work }));
      const search = URL.parse(request.url, "http://-")?.search ?? "";
      const baseUrl = baseUrlOf(services, request.headers);
      const question = { query, body, sender, search, baseUrl };
      const answer = await scope.within(route.handle({ authenticator, browserLogin }, question));
      return "cookies" in answer ? sendToBrowser(reply, answer) : send(reply, answer, scope);
    };
    http.route({ method: route.method, url: route.path, handler: answerTo });
  }
}

/** What the handler of a request is given. */
export const contextOf = (
  { services, responses }: Kernel,
  caller: Caller,
  scope: RequestScope,
): RequestContext => ({
  ...services,
  caller,
  project: caller.projectId,
  signal: scope.signal,
  memory: responseMemory(responses, clientOf(caller), scope),
});

export const senderOf = ({ method, headers, ip }: FastifyRequest): RequestSource => ({
  method,
  headers,
  address: ip,
});

function sendToBrowser(reply: FastifyReply, { cookies, location, json }: BrowserResponse): FastifyReply {
  if (cookies.length > 0) reply.header("Set-Cookie", [...cookies]);
  return location === undefined ? reply.send(json) : reply.redirect(location, 303);
}

/** Adds operations that a link permits; they may take their time, as long as something moves. */
export function registerLinkRoutes(
  http: FastifyInstance,
  services: Services,
  routes: readonly LinkRoute[],
): void {
  for (const route of routes) {
    const decodePath = parametersDecoder(route.parameters);
    const answerTo = async (request: FastifyRequest, reply: FastifyReply) => {
      request.raw.setTimeout(limits.uploadIdleMsMax, () => request.raw.destroy());
      const path = decodePath(request.params as Sent);
      const { headers, raw: body } = request;
      const isHead = request.method === "HEAD";
      return sendStreamed(reply, await route.handle(services, { path, headers, isHead, body }));
    };
    const url = patternOf(route.path);
    http.route({ method: route.method, url, handler: answerTo, ...streamed });
  }
}

/** Bytes go out as they are, and may take their time; who has the path may have the file. */
const streamed = { compress: false, config: { mayTakeLong: true, isLink: true } } as const;

function sendStreamed(reply: FastifyReply, { status, headers, ...answer }: LinkResponse): FastifyReply {
  reply.code(status).headers(headers);
  if (answer.refusal) return reply.send(errorBody(answer.refusal));
  if (answer.json) return reply.send(answer.json);
  if (answer.stream) return sendFreeing(reply, answer.stream);
  return headers["Content-Length"] === undefined ? reply.send() : reply.send(Readable.from([]));
}

/** A transfer that breaks off can only be cut short: its status has been sent. */
function sendFreeing(reply: FastifyReply, stream: Readable): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  pipeline(stream, freeingWritable(reply.raw), () => {});
  return reply;
}

/** The rest of a path under the name of the parameter that takes it. */
function pathSent(sent: Sent, { takesRest, path }: Route): Sent {
  const name = takesRest ? /\{(\w+)\}$/.exec(path)?.[1] : undefined;
  return name === undefined ? sent : { ...sent, [name]: sent["*"] };
}

/** `/assets/{assetId}` as Fastify writes it. */
const patternOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ":$1");

type Decoder = (bytes: Buffer, sent: Parameters<BytesBody<unknown>["read"]>[1]) => Promise<unknown>;

function bodyDecoderOf(body: Route["body"]): Decoder {
  if (!body) return async () => undefined;
  return body.kind === "bytes" ? body.read : jsonDecoder(body.schema, body);
}

/** Whose share of the memory for bodies a body takes. */
export const clientOf = ({ projectId, user }: Caller): string => `${projectId} ${user}`;

interface Receiving {
  readonly kernel: Kernel;
  readonly scope: RequestScope;
  readonly bytesMax: number;
  readonly client: string;
}

/**
 * What `read` makes of the body, which counts against the memory for bodies until the request has ended. The
 * memory of its bytes is used again as soon as they are read.
 */
export async function receive<Read>(
  request: FastifyRequest,
  { kernel, scope, bytesMax, client }: Receiving,
  read: (bytes: Buffer, work: BodyWork) => Promise<Read>,
): Promise<Read> {
  const { signal } = scope;
  const body = await readBody(request.raw, kernel.bodies, { bytesMax, client, signal });
  const { bytes, reservation, reuse } = body;
  scope.atEnd(() => reservation.release());
  let made = 0;
  const reserve = (more: number) => {
    made = more;
    return reservation.resize(bytes.length + more, signal);
  };
  try {
    return await read(bytes, { signal, reserve });
  } finally {
    reuse();
    reservation.resize(Math.min(made, reservation.bytes), signal);
  }
}

async function send(reply: FastifyReply, made: RouteResponse, scope: RequestScope): Promise<FastifyReply> {
  const answer = await inChunks(made);
  scope.sending();
  if (!("contentType" in answer)) return reply.send(answer);
  if (answer.release) scope.atEnd(answer.release);
  if (answer.nextCursor !== undefined) reply.header("X-Next-Cursor", answer.nextCursor);
  if (!("stream" in answer)) return reply.type(answer.contentType).send(answer.bytes);
  return sendStream(reply.type(answer.contentType), answer.stream, scope);
}

/** The stream ends with the request; when it fails, its transfer is broken off. */
export function sendStream(reply: FastifyReply, stream: Readable, scope: RequestScope): FastifyReply {
  scope.signal.addEventListener("abort", () => stream.destroy(scope.signal.reason), { once: true });
  scope.atEnd(() => stream.destroy());
  return reply.send(stream);
}

/** The address of the created record; of several records, of the first. */
function locationOf(request: FastifyRequest, { createdName = "id" }: Route, answer: RouteResponse): string {
  const collection = request.url.split("?", 1)[0]!.replace(/\/create$/, "");
  type Named = Readonly<Record<string, string | number>>;
  const [first] = (answer as { data?: { items?: readonly Named[] } }).data?.items ?? [];
  const name = first?.[createdName];
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/** The same request with the cursor of its response; a path alone where the server's address is unknown. */
function nextLinkOf(
  services: Services,
  { url, headers }: FastifyRequest,
  { route, answer }: { readonly route: Route; readonly answer: RouteResponse },
): string | undefined {
  const { nextCursor } = answer as { readonly nextCursor?: string };
  if (nextCursor === undefined || route.query["cursor"] === undefined) return undefined;
  const [path, search = ""] = url.split(/\?(.*)/s) as [string, string?];
  const others = search.split("&").filter((one) => one !== "" && !one.startsWith("cursor="));
  const query = [...others, `cursor=${nextCursor}`].join("&");
  return `${addressKnown(services.baseUrl, headers) ?? ""}${safeInLink(`${path}?${query}`)}`;
}

/** Percent-encodes the bytes of an address as it was sent that a header, or a link in it, cannot have. */
const safeInLink = (address: string) =>
  address.replaceAll(/[^!-~]|[<>"]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
