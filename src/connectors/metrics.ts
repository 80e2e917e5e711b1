// Figures of a connector for Prometheus, on a port of its own.
import { once } from "node:events";
import { createServer } from "node:http";
import { Gauge, Registry } from "prom-client";
import type { ConnectorState } from "./connector.ts";

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly of: (state: ConnectorState) => number;
}

const figures: readonly Figure[] = [
  { name: "records_received_total", help: "Records from the source", of: ({ counts }) => counts.received },
  { name: "records_written_total", help: "Records that the server has", of: ({ counts }) => counts.written },
  { name: "records_refused_total", help: "Records that are not valid", of: ({ counts }) => counts.refused },
  {
    name: "records_dropped_total",
    help: "Records that the buffer could not hold",
    of: ({ counts }) => counts.dropped,
  },
  { name: "buffer_records", help: "Records in the buffer", of: ({ buffer }) => buffer.items },
  { name: "buffer_bytes", help: "Bytes in the buffer", of: ({ buffer }) => buffer.bytes },
  { name: "healthy", help: "1 without a problem", of: ({ status }) => (status === "RUNNING" ? 1 : 0) },
];

export interface MetricsAddress {
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
}

/** Serves `/metrics` until it is disposed. */
export async function serveMetrics(
  { port, host = "127.0.0.1" }: MetricsAddress,
  state: () => ConnectorState,
): Promise<AsyncDisposable> {
  const registry = new Registry();
  const gauges = figures.map(({ name, help, of }) => {
    const gauge = new Gauge({ name: `millrace_connector_${name}`, help, registers: [registry] });
    return { gauge, of };
  });
  const server = createServer(async (request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    for (const { gauge, of } of gauges) gauge.set(of(state()));
    response.setHeader("content-type", registry.contentType);
    response.end(await registry.metrics());
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
