// The HTTP server all routes hang on: request ids, cross-origin rules, packing of answers, and every refusal.
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { addressRefusal } from "./address.ts";
import { routerOptions } from "./allowed-methods.ts";
import { hasBody } from "./body.ts";
import { answerClientError } from "./client-error.ts";
import { errorHandler } from "./error-response.ts";
import { type Metrics, measureRequests } from "./metrics.ts";
import type { Protocol } from "./protocol.ts";
import { securityHeaders } from "./security-headers.ts";

interface Surroundings {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Hears of each write that the disk refused. */
  readonly noteRefusal: (problem: string) => void;
  readonly protocols: readonly Protocol[];
  readonly settings: {
    /** Whose word counts on the address that a request comes from. */
    readonly trustedProxies: readonly string[];
    readonly baseUrl?: string;
  };
}

/** An instance without routes that leaves bodies unread. */
export async function createHttp(surroundings: Surroundings): Promise<FastifyInstance> {
  const { log, metrics, noteRefusal, protocols, settings } = surroundings;
  const { trustedProxies, baseUrl } = settings;
  const nextRequestId = requestIds();
  const onError = errorHandler({ log, noteRefusal, protocols });
  const careful = securityHeaders(baseUrl?.startsWith("https:") ?? false);
  const headersFor = (requestId: string) => ({ "x-request-id": requestId, ...careful });
  const http = fastify({
    logger: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: nextRequestId,
    routerOptions,
    requestTimeout: limits.uploadMsMax,
    http: { maxHeaderSize: limits.headBytesMax, requireHostHeader: false },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    frameworkErrors: (problem, request, reply) => {
      const answer = reply as unknown as FastifyReply;
      answer.headers(headersFor(request.id));
      onError(problem, request as FastifyRequest, answer);
    },
    clientErrorHandler: (problem, socket) => answerClientError(problem, socket, nextRequestId()),
  });
  http.setErrorHandler(onError);
  http.addHook("onRequest", (request, reply, done) => {
    reply.headers(headersFor(request.id));
    done();
  });
  refuseByItself(http);
  refuseUndecodable(http);
  leaveBodiesUnread(http);
  boundReceiving(http);
  measureRequests(http, metrics.registry);
  await http.register(cors, {
    origin: true,
    credentials: true,
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders,
    strictPreflight: false,
  });
  await http.register(compress, {
    encodings: ["gzip"],
    threshold: limits.compressionBytesMin,
    zlibOptions: { level: 1 },
    globalDecompression: false,
  });
  return http;
}

/** What scripts of other origins may read, beside what all may. */
const exposedHeaders = [
  ...["X-Request-Id", "Range", "Content-Range", "Content-Disposition", "Location", "ETag", "Retry-After"],
  ...["Link", "X-Next-Cursor"],
  ...["OData-Version", "OData-EntityId", "Preference-Applied"],
];

/** Short, unique over restarts, and cheap: a random beginning for the process and a count. */
function requestIds(): () => string {
  const beginning = crypto.randomUUID().slice(0, 13);
  let count = 0;
  return () => `${beginning}-${(++count).toString(36)}`;
}

/** Node would refuse a request without a Host, and one with an unknown expectation, without an error body. */
function refuseByItself(http: FastifyInstance): void {
  http.addHook("onRequest", ({ raw }, _reply, done) => {
    const isIncomplete = raw.httpVersion === "1.1" && raw.headers.host === undefined;
    done(isIncomplete ? fail("fields-missing", { fields: ["Host"] }) : undefined);
  });
  http.server.on("checkExpectation", (request, response) => http.server.emit("request", request, response));
}

/**
 * The router refuses such a path itself, see `error-response.ts`; queries are decoded leniently after this.
 */
function refuseUndecodable(http: FastifyInstance): void {
  http.addHook("onRequest", (request, _reply, done) => done(addressRefusal(request.url)));
}

/**
 * Routes read bodies of any Content-Type after the rights check (docs/reference/common.md#request-bodies).
 */
function leaveBodiesUnread(http: FastifyInstance): void {
  const wellFormed = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;
  http.removeAllContentTypeParsers();
  http.addContentTypeParser("*", (_request, _payload, done) => done(null));
  http.addHook("onRequest", (request, _reply, done) => {
    const { headers } = request.raw;
    const sent = headers["content-type"];
    if (sent !== undefined && !wellFormed.test(sent)) headers["content-type"] = "application/octet-stream";
    done();
  });
}

/** Node knows one time for all requests to be received in, which is that of file uploads; most have less. */
function boundReceiving(http: FastifyInstance): void {
  http.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    if (hasBody(raw) && !(request.routeOptions.config as { mayTakeLong?: boolean }).mayTakeLong) {
      const tooLate = { name: "", message: "", code: "ERR_HTTP_REQUEST_TIMEOUT" };
      const giveUp = () => answerClientError(tooLate, raw.socket, request.id);
      const timer = setTimeout(giveUp, limits.receiveMsMax).unref();
      raw.once("close", () => clearTimeout(timer));
    }
    done();
  });
}
