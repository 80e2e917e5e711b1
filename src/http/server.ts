// Creates the HTTP server without routes: request ids, CORS, compression, deadlines and error responses.
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { addressRefusal } from "./address.ts";
import { routerOptions } from "./allowed-methods.ts";
import { hasBody } from "./body.ts";
import { sendClientError } from "./client-error.ts";
import { errorHandler } from "./error-response.ts";
import { type Metrics, measureRequests } from "./metrics.ts";
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
  readonly settings: {
    /** Proxies whose `X-Forwarded-For` header is trusted. */
    readonly trustedProxies: readonly string[];
    readonly baseUrl?: string;
  };
}

/** Creates an instance without routes; it leaves bodies unread. */
export async function createHttp(options: HttpOptions): Promise<FastifyInstance> {
  const { log, metrics, tracing, recordRefusal, protocols, settings } = options;
  const { trustedProxies, baseUrl } = settings;
  const nextRequestId = requestIds();
  const onError = errorHandler({ log, recordRefusal, protocols });
  const security = securityHeaders(baseUrl?.startsWith("https:") ?? false);
  const headersFor = (requestId: string) => ({ "x-request-id": requestId, ...security });
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
      const response = reply as unknown as FastifyReply;
      response.headers(headersFor(request.id));
      onError(problem, request as FastifyRequest, response);
    },
    clientErrorHandler: (problem, socket) => sendClientError(problem, socket, nextRequestId()),
  });
  http.setErrorHandler(onError);
  tracing.traceRequests(http);
  http.addHook("onRequest", (request, reply, done) => {
    reply.headers(headersFor(request.id));
    done();
  });
  refuseIncomplete(http);
  refuseUndecodable(http);
  leaveBodiesUnread(http);
  limitReceiveTime(http);
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

/** Response headers that scripts of other origins may read, besides the safelisted ones. */
const exposedHeaders = [
  ...["X-Request-Id", "Range", "Content-Range", "Content-Disposition", "Location", "ETag", "Retry-After"],
  ...["Link", "X-Next-Cursor"],
  ...["OData-Version", "OData-EntityId", "Preference-Applied"],
];

/** Short ids, unique over restarts: a random prefix of the process and a counter. */
function requestIds(): () => string {
  const prefix = crypto.randomUUID().slice(0, 13);
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** Refuses requests without `Host` with an error body, which Node omits, and ignores an unknown `Expect`. */
function refuseIncomplete(http: FastifyInstance): void {
  http.addHook("onRequest", ({ raw }, _reply, done) => {
    const isIncomplete = raw.httpVersion === "1.1" && raw.headers.host === undefined;
    done(isIncomplete ? fail("fields-missing", { fields: ["Host"] }) : undefined);
  });
  http.server.on("checkExpectation", (request, response) => http.server.emit("request", request, response));
}

/** Refuses a query that cannot be decoded. The router refuses such a path itself (`error-response.ts`). */
function refuseUndecodable(http: FastifyInstance): void {
  http.addHook("onRequest", (request, _reply, done) => done(addressRefusal(request.url)));
}

/**
 * Routes read bodies of any Content-Type, after the rights check (docs/reference/common.md#request-bodies).
 */
function leaveBodiesUnread(http: FastifyInstance): void {
  const wellFormed = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;
  http.removeAllContentTypeParsers();
  http.addContentTypeParser("*", (_request, _payload, done) => done(null));
  http.addHook("onRequest", (request, _reply, done) => {
    const { headers } = request.raw;
    const type = headers["content-type"];
    if (type !== undefined && !wellFormed.test(type)) headers["content-type"] = "application/octet-stream";
    done();
  });
}

/** Node has one receive timeout for all requests, that of file uploads; other requests get a shorter one. */
function limitReceiveTime(http: FastifyInstance): void {
  http.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    if (hasBody(raw) && !(request.routeOptions.config as { isTransfer?: boolean }).isTransfer) {
      const tooLate = { name: "", message: "", code: "ERR_HTTP_REQUEST_TIMEOUT" };
      const giveUp = () => sendClientError(tooLate, raw.socket, request.id);
      const timer = setTimeout(giveUp, limits.receiveMsMax).unref();
      raw.once("close", () => clearTimeout(timer));
    }
    done();
  });
}
