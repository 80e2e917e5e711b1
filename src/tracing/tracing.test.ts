// The variables of OpenTelemetry that a start refuses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { noTracing, openTracing } from "./tracing.ts";

const opened = (environment: NodeJS.ProcessEnv) => openTracing(environment, pino({ level: "silent" }));

test("a receiver that is no address is refused: spans would go to the default address", async () => {
  for (const endpoint of ["collector", "grpc://collector:4317"])
    await assert.rejects(
      opened({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
      new RegExp(`OTEL_EXPORTER_OTLP_ENDPOINT is an address such as http://\\S+, not ${endpoint}`),
    );
  const traces = "OTEL_EXPORTER_OTLP_TRACES_";
  const endpoint = "http://collector:4318";
  for (const [name, value] of [
    ["ENDPOINT", "collector"],
    ["PROTOCOL", "grpc"],
  ])
    await assert.rejects(
      opened({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, [traces + name]: value }),
      new RegExp(`^Error: ${traces}${name} is `),
    );
  assert.equal(await opened({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }), noTracing);
});
