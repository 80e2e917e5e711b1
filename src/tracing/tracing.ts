// Traces by OpenTelemetry, as its standard environment variables say (docs/operations.md#traces). Without
// them nothing is loaded, and requests cost nothing more.
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { StartRefused } from "../data-folder.ts";
import type { DataStores } from "../data-stores.ts";

export interface Tracing {
  /** Makes a span of each request to an instance without other hooks. */
  traceRequests(http: FastifyInstance): void;
  /** The same stores, with a span for each call within a request. */
  traceStores(stores: DataStores): DataStores;
  /** Sends the last spans. */
  close(): Promise<void>;
}

export const noTracing: Tracing = {
  traceRequests: () => undefined,
  traceStores: (stores) => stores,
  close: async () => undefined,
};

/** No tracing unless the variables name a receiver. Throws `StartRefused` for unsupported values. */
export async function openTracing(environment: NodeJS.ProcessEnv, log: Logger): Promise<Tracing> {
  const protocol = protocolIn(environment);
  if (protocol === undefined) return noTracing;
  const { OpenTelemetry } = await import("./open-telemetry.ts");
  return new OpenTelemetry(protocol, log);
}

const traceProtocols = ["http/protobuf", "http/json"] as const;
export type TraceProtocol = (typeof traceProtocols)[number];

const exampleReceiver = "http://collector.example.com:4318";

function protocolIn(environment: NodeJS.ProcessEnv): TraceProtocol | undefined {
  // An empty variable counts as absent (OpenTelemetry's specification).
  const nameOf = (...names: readonly string[]) => names.find((name) => environment[name]);
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const exporter = environment["OTEL_TRACES_EXPORTER"] || undefined;
  if (exporter === "none") return undefined;
  if (exporter !== undefined && exporter !== "otlp")
    throw new StartRefused(`OTEL_TRACES_EXPORTER is otlp or none, not ${exporter}`);
  const endpoint = nameOf("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (exporter === undefined && endpoint === undefined) return undefined;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(environment[endpoint]!)?.protocol ?? ""))
    throw new StartRefused(
      `${endpoint} is an address such as ${exampleReceiver}, not ${environment[endpoint]}`,
    );
  const protocol = nameOf("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol === undefined) return traceProtocols[0];
  const known = traceProtocols.find((one) => one === environment[protocol]);
  if (known) return known;
  throw new StartRefused(`${protocol} is ${traceProtocols.join(" or ")}, not ${environment[protocol]}`);
}
