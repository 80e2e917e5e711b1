// Requests of the usual kinds, for a server that stores its compiled code afterwards.
import { messageOfNumbers } from "../src/demo/point-message.ts";

interface Server {
  readonly baseUrl: string;
  /** Of an administrator. */
  readonly key: string;
  /** Ends the requests. */
  readonly signal: AbortSignal;
}

interface Sample {
  readonly path: string;
  /** JSON, line protocol or a message in protobuf. A request without a body is a GET. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const project = "/api/0.5/projects/default";
const newProject = "/api/0.6/projects/default";
const odata = "/odata/v1/projects/default";
const influx = "/influx/default";

const seriesCount = 10;
const pointCount = 1_000;
const startMs = Date.UTC(2026, 0, 1);
const stepMs = 60_000;
const endMs = startMs + pointCount * stepMs;

const names = Array.from({ length: seriesCount }, (_, i) => `sample ${i}`);
const first = encodeURIComponent(names[0]!);

/** Makes the records that the samples need, and points. */
export async function sendFirst(server: Server): Promise<void> {
  for (const sample of [...declarations, ...samplesOf(-1)]) await send(server, sample);
}

/** Sends each sample over a connection of its own: connections are spread over the threads. */
export async function sendSamples(server: Server, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (const sample of samplesOf(round)) await send(server, sample);
}

async function send({ baseUrl, key, signal }: Server, { path, body }: Sample): Promise<void> {
  const type = typeof body === "string" && body.startsWith("{") ? "application/json" : "application/protobuf";
  const response = await fetch(baseUrl + path, {
    signal,
    method: body === undefined ? "GET" : "POST",
    headers: { "api-key": key, connection: "close", ...(body !== undefined && { "content-type": type }) },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the sample ${path} failed: ${response.status} ${text}`);
}

const post = (path: string, value: unknown): Sample => ({
  path: project + path,
  body: JSON.stringify(value),
});

const declarations: readonly Sample[] = [
  post("/timeseries", { items: names.map((name) => ({ name, unit: "m3/h" })) }),
  post("/assets", {
    items: [
      { name: "pump", refId: "pump", metadata: { maker: "a" } },
      ...Array.from({ length: 100 }, (_, i) => ({ name: `part ${i}`, parentRefId: "pump" })),
    ],
  }),
  post("/events", {
    items: Array.from({ length: 100 }, (_, i) => ({
      ...{ type: "alarm", description: `pump ${i} is hot`, startTime: startMs + i * stepMs },
    })),
  }),
];

/**
 * Each round writes newer points. Reads come first: later ones find these points in memory, by other code.
 */
function samplesOf(round: number): readonly Sample[] {
  const range = `start=${startMs}&end=${endMs}`;
  const window = { start: startMs, end: endMs };
  const hourly = { aggregates: ["avg", "max"], granularity: "1h" };
  return [
    { path: "/login/status" },
    { path: `${project}/timeseries/latest/${first}` },
    { path: `${project}/timeseries/data/${first}?${range}&limit=10000` },
    { path: `${project}/timeseries/data/${first}?${range}&aggregates=avg,min,max,count&granularity=1h` },
    { path: `${project}/timeseries/data/${first}?${range}&aggregates=avg&granularity=1d` },
    post("/timeseries/dataquery", { items: names.map((name) => ({ name })), ...window, limit: 100 }),
    post("/timeseries/dataframe", { items: names.map((name) => ({ name })), ...window, ...hourly }),
    { path: `${project}/timeseries?limit=100` },
    { path: `${project}/timeseries/search?query=sample` },
    { path: `${newProject}/timeseries?limit=100` },
    post(`/timeseries/data/${first}`, { items: pointsOf(round) }),
    post("/timeseries/data", {
      items: names.map((name) => ({ name, datapoints: pointsOf(round) })),
    }),
    { path: `${project}/timeseries/data`, body: messageOf(endMs + round) },
    { path: `${influx}/write?precision=ms`, body: `pump,place=a flow=1.5,speed=3 ${endMs + round}` },
    post("/assets", { items: [{ name: `new ${round}`, metadata: { maker: "b" } }] }),
    { path: `${project}/assets?limit=100` },
    { path: `${newProject}/assets?limit=100` },
    { path: `${project}/assets/search?query=part` },
    post("/events", { items: [{ type: "alarm", description: "new", startTime: endMs + round }] }),
    { path: `${project}/events?limit=100` },
    { path: `${project}/events/search?query=pump&limit=100` },
    { path: `${odata}/` },
    { path: `${odata}/Assets?$top=100` },
    { path: `${odata}/Events?$top=100&$filter=type eq 'alarm'` },
    { path: `${odata}/Timeseries?$top=100&$count=true` },
    { path: `${influx}/query?epoch=ms&q=${encodeURIComponent("SELECT mean(value) FROM points")}` },
    { path: "/health" },
    { path: "/metrics" },
  ];
}

const pointsOf = (round: number) =>
  Array.from({ length: pointCount }, (_, i) => ({
    timestamp: startMs + (i + round) * stepMs,
    value: Math.round(1_000 * Math.sin(i / 100)) / 1_000,
  }));

const messageOf = (timeMs: number) => messageOfNumbers(names, timeMs, (at) => at / 4);
