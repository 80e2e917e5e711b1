// The server of the main thread for requests that front threads forward (`src/front/`).
import { createServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { limits } from "../limits.ts";
import { markAsFront } from "./front-address.ts";

/**
 * Passes requests to the routes of `http`. It has bounds of its own: heads are longer by what front threads
 * add, and idle connections stay open, used or not, so that none closes while a front thread sends a request
 * on it.
 */
export function innerServer(http: FastifyInstance): Server {
  const options = {
    maxHeaderSize: limits.headBytesMax + limits.forwardedHeadBytes,
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: limits.uploadMsMax,
    requireHostHeader: false,
    optimizeEmptyRequests: true,
  };
  const inner = createServer(options);
  inner.on("connection", markAsFront);
  for (const event of ["request", "checkExpectation", "clientError"])
    inner.on(event, (...values) => http.server.emit(event, ...values));
  return inner;
}
