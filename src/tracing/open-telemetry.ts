// The spans of requests and of their calls to the stores, sent by OpenTelemetry's library in the background.
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, hostDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { DataStores } from "../data-stores.ts";
import { version } from "../lib/version.ts";
import { traceStores } from "./traced-stores.ts";
import type { TraceProtocol, Tracing } from "./tracing.ts";

/** Probes would be most of the spans. */
const untraced: readonly (string | undefined)[] = ["/health", "/health/live", "/metrics"];

const projectLengthMax = 128;
const closeMsMax = 3_000;

export class OpenTelemetry implements Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #current = new AsyncLocalStorage<Context>();

  constructor(protocol: TraceProtocol, log: Logger) {
    diag.setLogger(loggerTo(log), DiagLogLevel.WARN);
    const exporter = protocol === "http/json" ? new JsonExporter() : new ProtobufExporter();
    const own = resourceFromAttributes({ "service.name": "millrace", "service.version": version });
    const resource = own.merge(detectResources({ detectors: [hostDetector, envDetector] }));
    this.#provider = new BasicTracerProvider({
      resource,
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.#tracer = this.#provider.getTracer("millrace", version);
  }

  traceRequests(http: FastifyInstance): void {
    http.addHook("onRequest", (request, reply, done) => {
      const route = request.routeOptions.url;
      if (untraced.includes(route)) return done();
      const parent = this.#propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const settings = { kind: SpanKind.SERVER, attributes: attributesOf(request) };
      const span = this.#tracer.startSpan([request.method, route].join(" ").trim(), settings, parent);
      reply.raw.once("close", () => {
        const { isFailed, attributes } = outcomeOf(reply);
        span.setAttributes(attributes);
        if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      this.#current.run(trace.setSpan(parent, span), done);
    });
  }

  traceStores(stores: DataStores): DataStores {
    return traceStores(stores, (name, attributes, work) => this.#within(name, attributes, work));
  }

  /** A receiver that does not respond delays the end of the server by some seconds at most. */
  async close(): Promise<void> {
    const given = pause(closeMsMax, undefined, { ref: false });
    // A receiver that refuses the last spans is in the log, and no reason to fail.
    await Promise.race([this.#provider.shutdown().catch(() => undefined), given]);
  }

  async #within<Result>(name: string, attributes: Attributes, work: () => Promise<Result>): Promise<Result> {
    const parent = this.#current.getStore();
    if (!parent || !trace.getSpan(parent)?.isRecording()) return work();
    const span = this.#tracer.startSpan(name, { attributes }, parent);
    try {
      return await this.#current.run(trace.setSpan(parent, span), work);
    } catch (problem) {
      span.setAttribute("error.type", (problem as Error).name);
      throw problem;
    } finally {
      span.end();
    }
  }
}

/** Neither path nor query: those of links hold credentials. */
const attributesOf = ({ method, routeOptions, id, params }: FastifyRequest): Attributes => ({
  "http.request.method": method,
  ...(routeOptions.url !== undefined && { "http.route": routeOptions.url }),
  "millrace.request_id": id,
  ...projectIn(params),
});

function projectIn(params: unknown): Attributes {
  const { project } = (params ?? {}) as { readonly project?: string };
  // Anyone may send a long one, and spans wait in memory.
  return project === undefined ? {} : { "millrace.project": project.slice(0, projectLengthMax) };
}

const outcomeOf = ({ statusCode, raw }: FastifyReply) => ({
  isFailed: statusCode >= 500,
  attributes: {
    "http.response.status_code": statusCode,
    // The client left before the end, or did not read the response.
    ...(!raw.writableFinished && { "error.type": "incomplete response" }),
  },
});

const silentMs = 3_600_000;

/** One message an hour: while the receiver is away, every batch fails. */
function loggerTo(log: Logger) {
  let lastMs = Number.NEGATIVE_INFINITY;
  const tell = (problem: string) => {
    if (performance.now() - lastMs < silentMs) return;
    lastMs = performance.now();
    log.warn({ problem }, "Traces could not be sent; further failures within an hour are not logged");
  };
  const ignore = () => undefined;
  return { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore };
}
