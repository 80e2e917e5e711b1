// Sends the responses of handlers: JSON, bytes and streams.
import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { inChunks } from "../rest/items-json.ts";
import type { RouteResponse } from "../rest/route.ts";
import type { RequestScope } from "./request-scope.ts";

/** Sends the result of a handler; from now on the deadlines of responses apply. */
export async function sendResponse(
  reply: FastifyReply,
  result: RouteResponse,
  scope: RequestScope,
): Promise<FastifyReply> {
  const response = await inChunks(result);
  scope.sending();
  if (!("contentType" in response)) return reply.send(response);
  if (response.release) scope.atEnd(response.release);
  if (response.nextCursor !== undefined) reply.header("X-Next-Cursor", response.nextCursor);
  if (!("stream" in response)) return reply.type(response.contentType).send(response.bytes);
  return sendStream(reply.type(response.contentType), response.stream, scope);
}

/** The stream ends with the request; if it fails, the connection is closed. */
export function sendStream(reply: FastifyReply, stream: Readable, scope: RequestScope): FastifyReply {
  scope.signal.addEventListener("abort", () => stream.destroy(scope.signal.reason), { once: true });
  scope.atEnd(() => stream.destroy());
  return reply.send(stream);
}
