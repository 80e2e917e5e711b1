// Serves the routes that a signed link permits: transfers of any number of bytes.
import type { OutgoingHttpHeaders } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { none } from "../lib/not-covered.ts";
import { freeingWritable } from "../lib/streams.ts";
import { parametersDecoder } from "../rest/parameters.ts";
import type { LinkResponse, LinkRoute } from "../rest/route.ts";
import { addEndpoint, type Kernel } from "./pipeline.ts";
import { errorBody } from "./protocol.ts";
import { patternOf, type RawParameters } from "./rest-routes.ts";

export function addLinkRoutes(http: FastifyInstance, kernel: Kernel, routes: readonly LinkRoute[]): void {
  for (const route of routes) {
    const decodePath = parametersDecoder(route.parameters);
    addEndpoint(http, kernel, {
      method: route.method,
      url: patternOf(route.path),
      isTransfer: true,
      audit: none("the request that made the link is recorded"),
      admit: ({ ip }) => ({ client: ip }),
      // An upload checks the disk when it writes.
      effect: "read",
      decode: ({ params }) => decodePath(params as RawParameters),
      readBody: ({ request }) => request.raw,
      handle: async ({ request, input, lifetime }, body) => {
        const isHead = request.method === "HEAD";
        const sent = { path: input, headers: request.headers, isHead, body };
        const response = await route.handle(kernel.services, sent);
        // Nothing is sent to a client that has gone meanwhile. A file that is left open ends the process.
        lifetime.atEnd(() => response.stream?.destroy());
        return response;
      },
      send: ({ reply }, response) => sendStreamed(reply, response),
    });
  }
}

function sendStreamed(reply: FastifyReply, { status, headers, ...response }: LinkResponse): FastifyReply {
  reply.code(status).headers(headers);
  if (response.refusal) return reply.send(errorBody(response.refusal));
  if (response.json) return reply.send(response.json);
  if (response.stream) return sendFreeing(reply, response.stream);
  return headers["Content-Length"] === undefined ? reply.send() : reply.send(Readable.from([]));
}

/** A failed transfer closes the connection, because its status has been sent. */
function sendFreeing(reply: FastifyReply, stream: Readable): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  pipeline(stream, freeingWritable(reply.raw), () => {});
  return reply;
}
