// Traces of a real server: a receiver of OTLP over HTTP gets the spans of requests and of their calls to the
// stores. Effects of a receiver that is away, a sampler and wrong settings.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";

after(endLeftProcesses);

const key = "a-key-of-this-test-with-enough-letters";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Responds with this status to all that is sent to it. */
async function receiver(status = 200) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString("latin1");
    received.push({ path: request.url!, headers: request.headers, body });
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code: number };
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Span, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const batchesIn = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body) as Batch);

const spansIn = (received: readonly Received[]): Span[] =>
  batchesIn(received).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

const attributesOf = ({ attributes }: Pick<Span, "attributes">) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

type Variables = Readonly<Record<string, string>>;

async function served(variables: Variables, work: (baseUrl: string) => Promise<void>): Promise<string> {
  const settings = { MILLRACE_ADMIN_KEY: key, ...variables };
  const server = await serveMillrace(settings, temporaryFolder());
  await work(server.baseUrl);
  server.child.kill("SIGTERM");
  const { status, errors } = await server.ended;
  assert.equal(status, 0, errors);
  return errors;
}

const send = (baseUrl: string, path: string, body?: unknown, headers: Variables = {}) =>
  fetch(`${baseUrl}/api/0.5/projects/default${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "api-key": key, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test("a request and its calls to the stores are spans of the caller's trace", async () => {
  const { received, url } = await receiver();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  let requestId: string | null = null;
  await served(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret-of-receiver",
      OTEL_SERVICE_NAME: "plant-7",
    },
    async (baseUrl) => {
      assert.equal((await send(baseUrl, "/timeseries", { items: [{ name: "flow" }] })).status, 200);
      const items = [{ timestamp: 1_600_000_000_000, value: 1 }];
      const response = await send(baseUrl, "/timeseries/data/flow", { items }, { traceparent });
      assert.equal(response.status, 200, await response.text());
      requestId = response.headers.get("x-request-id");
      assert.equal((await fetch(`${baseUrl}/health`)).status, 200);
      assert.equal((await send(baseUrl, "/nothing?secret=in-the-address")).status, 404);
    },
  );
  assert.ok(received.every(({ path }) => path === "/v1/traces"));
  assert.ok(received.every(({ headers }) => headers.authorization === "secret-of-receiver"));
  const resource = batchesIn(received)[0]!.resourceSpans[0]!.resource;
  assert.equal(attributesOf(resource)["service.name"], "plant-7");
  const spans = spansIn(received);
  const own = spans.filter((span) => span.traceId === traceId);
  const request = own.find(({ parentSpanId }) => parentSpanId === "b7ad6b7169203331")!;
  assert.match(request.name, /^POST \/api\/0\.5\/projects\/:project\/timeseries\/data\/:\w+$/);
  assert.equal(request.kind, 2); // SERVER
  const attributes = attributesOf(request);
  assert.equal(attributes["http.response.status_code"], 200);
  assert.equal(attributes["millrace.project"], "default");
  assert.equal(attributes["millrace.request_id"], requestId);
  const append = own.find(({ name }) => name === "points append")!;
  assert.equal(append.parentSpanId, request.spanId);
  assert.equal(attributesOf(append)["millrace.points"], 1);
  assert.ok(spans.some(({ name }) => name === "catalog write"));
  const unknown = spans.find((span) => attributesOf(span)["http.response.status_code"] === 404)!;
  assert.notEqual(unknown.status.code, 2); // ERROR is for faults of the server.
  assert.ok(!spans.some(({ name }) => name.includes("/health")));
  const all = received.map(({ body }) => body).join();
  for (const secret of [key, "in-the-address"]) assert.ok(!all.includes(secret), secret);
});

test("the default protocol is protobuf, and a sampler leaves traces out", async () => {
  const { received, url } = await receiver();
  await served({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, async (baseUrl) => {
    assert.equal((await send(baseUrl, "/assets")).status, 200);
  });
  assert.ok(received.length > 0);
  assert.equal(received[0]!.headers["content-type"], "application/x-protobuf");
  const sampled = await receiver();
  const never = { OTEL_EXPORTER_OTLP_ENDPOINT: sampled.url, OTEL_TRACES_SAMPLER: "always_off" };
  await served(never, async (baseUrl) => {
    assert.equal((await send(baseUrl, "/assets")).status, 200);
  });
  assert.deepEqual(sampled.received, []);
});

test("a receiver that refuses the spans does not keep the server from stopping in order", async () => {
  const { received, url } = await receiver(401);
  await served({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, async (baseUrl) => {
    assert.equal((await send(baseUrl, "/assets")).status, 200);
  });
  assert.ok(received.length > 0);
});

test("a receiver that is away delays no request, and is reported once", async () => {
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
  };
  const errors = await served({ ...variables, MILLRACE_LOG_LEVEL: "warn" }, async (baseUrl) => {
    for (let sent = 0; sent < 3; sent++) {
      assert.equal((await send(baseUrl, "/assets")).status, 200);
    }
  });
  assert.equal(errors.split("Traces could not be sent").length - 1, 1, errors);
});

test("what is not supported is refused by its name", async () => {
  const refusals: readonly (readonly [Variables, RegExp])[] = [
    [{ OTEL_TRACES_EXPORTER: "zipkin" }, /OTEL_TRACES_EXPORTER is otlp or none, not zipkin/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      /OTEL_EXPORTER_OTLP_PROTOCOL is http\/protobuf or http\/json, not grpc/,
    ],
  ];
  for (const [variables, refusal] of refusals) {
    const settings = { MILLRACE_PORT: "0", ...variables };
    const { status, errors } = await runMillrace(["serve"], settings, temporaryFolder()).ended;
    assert.equal(status, 1);
    assert.match(errors, refusal);
  }
});
