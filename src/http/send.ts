// Sends the responses of handlers: JSON, bytes and streams.
import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { inChunks } from "../rest/long-lists.ts";
import type { RouteResponse } from "../rest/route.ts";
import type { RequestLifetime } from "./request-lifetime.ts";

/** Sends the result of a handler; from now on the deadlines of responses apply. */
export async function sendResponse(
  reply: FastifyReply,
  result: RouteResponse,
  lifetime: RequestLifetime,
): Promise<FastifyReply> {
  const response = await inChunks(result);
  lifetime.sending();
  if (!("contentType" in response)) return reply.send(response);
  if (response.release) lifetime.atEnd(response.release);
  if (response.nextCursor !== undefined) reply.header("X-Next-Cursor", response.nextCursor);
  if (!("stream" in response)) return reply.type(response.contentType).send(response.bytes);
  return sendStream(reply.type(response.contentType), response.stream, lifetime);
}

/** The stream ends with the request; if it fails, the connection is closed. */
export function sendStream(reply: FastifyReply, stream: Readable, lifetime: RequestLifetime): FastifyReply {
  lifetime.signal.addEventListener("abort", () => stream.destroy(lifetime.signal.reason), { once: true });
  lifetime.atEnd(() => stream.destroy());
  return reply.send(stream);
}
