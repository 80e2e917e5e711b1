// Serves queries of the InfluxDB protocol: InfluxQL at `/query`. Flux is refused (docs/influx.md#queries).
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { runQuery } from "../influx/query/query.ts";
import { type ResultFormat, writeResults } from "../influx/query/write-results.ts";
import { withWriter } from "../lib/buffer-writer.ts";
import { prefersToJson } from "../lib/media-types.ts";
import { none } from "../lib/not-covered.ts";
import { bytesOrStream } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import type { RequestAudit } from "./auditing.ts";
import { addEndpoint, type Kernel, type Receive } from "./pipeline.ts";
import { contextOf, type ProjectClient } from "./project-access.ts";
import { sendStream } from "./send.ts";

/** The version of the protocol, which clients read. */
export const pingHeaders = { "X-Influxdb-Version": "1.8.10", "X-Influxdb-Build": "Millrace" };

type Admit = (request: FastifyRequest, audit: RequestAudit) => ProjectClient | Promise<ProjectClient>;

export function addQuery(http: FastifyInstance, kernel: Kernel, url: string, admit: Admit): void {
  addEndpoint<ProjectClient, URLSearchParams, URLSearchParams, QueryResponse>(http, kernel, {
    method: ["GET", "POST"],
    url,
    audit: () => ({ kind: "read", action: "influx query", resource: "timeseries" }),
    admit,
    effect: "read",
    decode: ({ raw }) => new URLSearchParams(raw.url!.replace(/^[^?]*/, "")),
    readBody: ({ request, input }, receive) => withForm(request, input, receive),
    handle: ({ request, admitted, lifetime }, parameters) => {
      const ctx = contextOf(kernel, admitted, lifetime);
      return respond(ctx, parameters, request.headers.accept ?? "");
    },
    send({ reply, lifetime }, { contentType, release, ...content }) {
      lifetime.atEnd(release);
      reply.headers(pingHeaders).type(contentType);
      const sent =
        "stream" in content ? sendStream(reply, content.stream, lifetime) : reply.send(content.bytes);
      lifetime.sending();
      return sent;
    },
  });
}

/** Clients that send Flux read this refusal. */
export function addFlux(http: FastifyInstance, kernel: Kernel, url: string, admit: Admit): void {
  addEndpoint(http, kernel, {
    method: "POST",
    url,
    audit: none("it reads nothing and is always refused"),
    admit,
    effect: "read",
    decode: () => undefined,
    readBody: () => undefined,
    handle: async () => {
      throw fail("flux-not-supported", {});
    },
    send: ({ reply }) => reply,
  });
}

type QueryResponse = { readonly contentType: string; readonly release: () => void } & (
  | { readonly bytes: Buffer }
  | { readonly stream: Readable }
);

/** The parameters of the URL, and those of a body that is a form. */
async function withForm(
  { method, headers }: FastifyRequest,
  parameters: URLSearchParams,
  receive: Receive,
): Promise<URLSearchParams> {
  if (method !== "POST" || !headers["content-type"]?.startsWith("application/x-www-form-urlencoded"))
    return parameters;
  return receive(limits.entityBodyBytesMax, async (bytes) => {
    const all = new URLSearchParams(bytes.toString());
    for (const [name, value] of parameters) if (!all.has(name)) all.set(name, value);
    return all;
  });
}

async function respond(
  ctx: RequestContext,
  parameters: URLSearchParams,
  accept: string,
): Promise<QueryResponse> {
  const q = parameters.get("q");
  if (!q) throw fail("fields-missing", { fields: ["q"] });
  const format = formatOf(parameters, accept);
  await ctx.memory.reserve(limits.influxQueryBytes);
  const results = runQuery(ctx, { q, params: parameters.get("params") ?? undefined });
  return withWriter(ctx.responseBuffers.datapoints, async (writer) => {
    const content = await bytesOrStream(writeResults(writer, results, format), limits.responseChunkBytes);
    if ("stream" in content) await ctx.memory.reserve(limits.responseStreamBytes);
    const contentType = format.isCsv ? "text/csv; charset=utf-8" : "application/json";
    return { contentType, release: () => writer.release(), ...content };
  });
}

function formatOf(parameters: URLSearchParams, accept: string): ResultFormat {
  const isChunked = parameters.get("chunked") === "true";
  const rows = Number(parameters.get("chunk_size") || limits.influxChunkRows);
  if (isChunked && !(Number.isSafeInteger(rows) && rows > 0))
    throw fail("field-invalid", { field: "chunk_size", expected: "a positive integer", got: String(rows) });
  return {
    isCsv: ["text/csv", "application/csv"].some((type) => prefersToJson(type, accept)),
    chunkRows: isChunked ? Math.min(rows, limits.influxChunkRows) : undefined,
    epoch: parameters.get("epoch") ?? undefined,
  };
}
