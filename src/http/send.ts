// Sends the responses of handlers: JSON, bytes and streams.
import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { acceptsEncoding } from "../lib/media-types.ts";
import { limits } from "../limits.ts";
import { inChunks } from "../rest/long-lists.ts";
import type { RouteResponse } from "../rest/route.ts";
import type { RequestLifetime } from "./request-lifetime.ts";
import type { SendBatch } from "./send-batch.ts";

interface Sending {
  readonly lifetime: RequestLifetime;
  readonly sendBatch: SendBatch;
}

/** Sends the result of a handler. Then the deadlines of responses apply. */
export function sendResponse(
  reply: FastifyReply,
  result: RouteResponse,
  { lifetime, sendBatch }: Sending,
): FastifyReply | Promise<FastifyReply> {
  const chunks = inChunks(result);
  if (chunks) return chunks.then((response) => send(reply, response, lifetime));
  const waiting = isShort(reply, result) ? sendBatch.turnToSend() : undefined;
  return waiting ? waiting.then(() => sendLater(reply, result, lifetime)) : send(reply, result, lifetime);
}

/** A response that gzip compresses does not count: most are written later, when another thread is done. */
const isShort = ({ request }: FastifyReply, result: RouteResponse): boolean =>
  "bytes" in result &&
  result.bytes.length <= limits.sendTogetherBytesMax &&
  (result.bytes.length < limits.compressionBytesMin ||
    !acceptsEncoding("gzip", request.headers["accept-encoding"]));

/** If the client left meanwhile, only the memory of the response is released. */
function sendLater(reply: FastifyReply, response: RouteResponse, lifetime: RequestLifetime): FastifyReply {
  const { signal } = lifetime;
  if (!signal.aborted) return send(reply, response, lifetime);
  if ("release" in response) response.release?.();
  throw signal.reason;
}

function send(reply: FastifyReply, response: RouteResponse, lifetime: RequestLifetime): FastifyReply {
  const sent = start(reply, response, lifetime);
  lifetime.sending();
  return sent;
}

function start(reply: FastifyReply, response: RouteResponse, lifetime: RequestLifetime): FastifyReply {
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
