// Creates the HTTP server without routes: request ids, CORS, compression, deadlines and error responses.
import compress from "@fastify/compress";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { type Failure, fail } from "../errors.ts";
import { networkCheck } from "../lib/address-policy.ts";
import { limits } from "../limits.ts";
import { addressRefusal, emptyNameRefusal } from "./address.ts";
import { routerOptions } from "./allowed-methods.ts";
import { hasBody } from "./body.ts";
import { sendClientError } from "./client-error.ts";
import { addPreflights, shareWithPage, variesByOrigin } from "./cross-origin.ts";
import { errorHandler } from "./error-response.ts";
import { isFront, isFrontAddress } from "./front-address.ts";
import { type Metrics, measureRequest } from "./metrics.ts";
import type { Protocol } from "./protocol.ts";
import { securityHeaders } from "./security-headers.ts";

interface HttpOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: {
    /** Makes a span of each request to an instance without other hooks. */
    traceRequests(http: FastifyInstance): void;
  };
  /** Called for each failed write to the disk. */
  readonly recordRefusal: (problem: string) => void;
  readonly protocols: readonly Protocol[];
  /** In a front thread: the requests that the main thread serves. */
  readonly forwarding?: {
    has(request: FastifyRequest): boolean;
    /** Forwards the request if the problem, before anything has changed, is one for the main thread. */
    takeOver(problem: unknown, request: FastifyRequest, reply: FastifyReply): boolean;
  };
  readonly settings: {
    /** Proxies whose `X-Forwarded-For` header is trusted. */
    readonly trustedProxies: readonly string[];
    readonly baseUrl?: string;
  };
  /** Front threads forward requests, and name the addresses of their clients. */
  readonly hasFront?: boolean;
}

/** Creates an instance without routes; it leaves bodies unread. */
export async function createHttp(options: HttpOptions): Promise<FastifyInstance> {
  const { log, metrics, tracing, recordRefusal, protocols, settings, forwarding } = options;
  const { baseUrl } = settings;
  const nextRequestId = requestIds();
  const sendProblem = errorHandler({ log, recordRefusal, protocols });
  const onError: typeof sendProblem = (problem, request, reply) =>
    forwarding?.takeOver(problem, request, reply) ? reply : sendProblem(problem, request, reply);
  const always = { ...securityHeaders(baseUrl?.startsWith("https:") ?? false), ...variesByOrigin };
  const setHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header("x-request-id", request.id).headers(always);
    shareWithPage(request, reply);
  };
  const http = fastify({
    logger: false,
    trustProxy: trustOf(options),
    genReqId: nextRequestId,
    routerOptions,
    requestTimeout: limits.uploadMsMax,
    // Emits no stream events for requests without a body; they cost as much as routing.
    http: { maxHeaderSize: limits.headBytesMax, requireHostHeader: false, optimizeEmptyRequests: true },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    frameworkErrors: (problem, request, reply) => {
      const response = reply as unknown as FastifyReply;
      setHeaders(request as FastifyRequest, response);
      onError(problem, request as FastifyRequest, response);
    },
    clientErrorHandler: (problem, socket) => sendClientError(problem, socket, nextRequestId()),
  });
  http.setErrorHandler(onError);
  tracing.traceRequests(http);
  // One hook for all of this: each one costs every request.
  http.addHook("onRequest", (request, reply, done) => {
    measureRequest(metrics.durations, request, reply, () => !forwarding?.has(request));
    setHeaders(request, reply);
    const { method, url } = request;
    const refusal = refusalOfIncomplete(request) ?? addressRefusal(url) ?? emptyNameRefusal(method, url);
    ignoreMalformedType(request);
    limitReceiveTime(request);
    done(refusal);
  });
  http.server.on("checkExpectation", (request, response) => http.server.emit("request", request, response));
  leaveBodiesUnread(http);
  addPreflights(http);
  await http.register(compress, {
    encodings: ["gzip"],
    threshold: limits.compressionBytesMin,
    zlibOptions: { level: 1 },
    globalDecompression: false,
  });
  return http;
}

/** A front thread names the address of its client; whether it is that of a proxy, it has decided already. */
function trustOf({ hasFront, settings: { trustedProxies } }: HttpOptions) {
  if (!hasFront) return trustedProxies.length > 0 && [...trustedProxies];
  const isProxy = networkCheck(trustedProxies);
  return (address: string, hop: number) => isFrontAddress(address, hop) || isProxy(address);
}

/** Short ids, unique over restarts: a random prefix of the process and a counter. */
function requestIds(): () => string {
  const prefix = crypto.randomUUID().slice(0, 13);
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** The refusal (400) of a request without `Host`, with an error body, which Node omits. */
function refusalOfIncomplete({ raw }: FastifyRequest): Failure | undefined {
  // A front thread forwards requests of HTTP/1.0 as those of 1.1.
  const isIncomplete = raw.headers.host === undefined && raw.httpVersion === "1.1" && !isFront(raw.socket);
  return isIncomplete ? fail("fields-missing", { fields: ["Host"] }) : undefined;
}

const wellFormed = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

/** Replaces a malformed Content-Type, which Fastify would refuse. */
function ignoreMalformedType({ raw: { headers } }: FastifyRequest): void {
  const type = headers["content-type"];
  if (type !== undefined && !wellFormed.test(type)) headers["content-type"] = "application/octet-stream";
}

/**
 * Routes read bodies of any Content-Type, after the rights check (docs/reference/common.md#request-bodies).
 */
function leaveBodiesUnread(http: FastifyInstance): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser("*", (_request, _payload, done) => done(null));
}

/** Node has one receive timeout for all requests, that of file uploads; other requests get a shorter one. */
function limitReceiveTime(request: FastifyRequest): void {
  const { raw } = request;
  if (!hasBody(raw) || (request.routeOptions.config as { isTransfer?: boolean }).isTransfer) return;
  const tooLate = { name: "", message: "", code: "ERR_HTTP_REQUEST_TIMEOUT" };
  const giveUp = () => sendClientError(tooLate, raw.socket, request.id);
  const timer = setTimeout(giveUp, limits.receiveMsMax).unref();
  raw.once("close", () => clearTimeout(timer));
}
