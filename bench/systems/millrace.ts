// Millrace, started as by a user.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { messageOfNumbers } from "../../src/demo/point-message.ts";
import type { GeneratedSeries, Scan } from "../generate.ts";
import { type RequestBytes, type RequestParts, requestBytes } from "../http.ts";
import { freePort, startProcess } from "../process.ts";
import { influxPanel, linesIn, occurrences, type Running, type System, type Window } from "./system.ts";

export const administratorKey = "benchmark-key-0123456789abcdef0123456789abcdef";
const root = new URL("../..", import.meta.url).pathname;
const project = "/api/0.5/projects/default";
const project06 = "/api/0.6/projects/default";
const odataRoot = "/odata/v1/projects/default/";
const base = "/timeseries";

const request = (parts: RequestParts, root = project) =>
  requestBytes({
    ...parts,
    path: root + parts.path,
    headers: {
      "api-key": administratorKey,
      ...(parts.body !== undefined && { "content-type": "application/json" }),
      ...parts.headers,
    },
  });

const influx = (method: "GET" | "POST", path: string, body?: string) =>
  requestBytes({
    ...{ method, path: `/influx/default${path}`, headers: { authorization: `Token ${administratorKey}` } },
    ...(body !== undefined && { body }),
  });

/** A read over the entity-model interface: `path` is below its root, or from a link to a further page. */
export const getOData = (path: string) =>
  requestBytes({
    method: "GET",
    path: path.startsWith("/") ? path : odataRoot + path,
    headers: { "api-key": administratorKey },
  });

/** The same request with another key. */
export const withKey = (request: RequestBytes, key: string): RequestBytes =>
  Buffer.from(request.toString("latin1").replace(administratorKey, key), "latin1");

/** A request of the project: `path` begins with `/assets` or the like. */
export const get = (path: string) => request({ method: "GET", path });
export const post = (path: string, body: string) => request({ method: "POST", path, body });

/** The same in version 0.6. */
export const getFrom06 = (path: string) => request({ method: "GET", path }, project06);
export const postTo06 = (path: string, body: string) => request({ method: "POST", path, body }, project06);

export const millrace: System = {
  name: "Millrace",
  durability: "on disk (fsync) before the response",
  isDurable: true,
  start: (folder) => startMillrace(folder),
  uncached: (folder) => startMillrace(folder, { MILLRACE_AGGREGATE_CACHE: "0" }),
  version: () => (JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string }).version,
  requests: {
    backfill: (series, from, to) =>
      post(`${base}/data/${series.name}`, `{"items":[${pointsOf(series, from, to)}]}`),
    scan: (names, scan) => post(`${base}/data`, `{"items":[${itemsOf(names, scan)}]}`),
    hourlyAverage: (name, window) =>
      get(`${base}/data/${name}?${range(window)}&aggregates=avg&granularity=1h&limit=10000`),
    frame: (names, { startMs, endMs }) => {
      const items = names.map((name) => ({ name }));
      const asked = {
        items,
        aggregates: ["avg"],
        granularity: "1h",
        start: startMs,
        end: endMs,
        limit: 2000,
      };
      return post(`${base}/dataframe`, JSON.stringify(asked));
    },
    raw: (name, window) => get(`${base}/data/${name}?${range(window)}&limit=100000`),
    buckets: (name, { window, bucketMs, functions }) => {
      const aggregates = aggregateNames.slice(0, functions).join();
      const granularity = `${bucketMs / 1000}s`;
      const query = `${range(window)}&aggregates=${aggregates}&granularity=${granularity}&limit=10000`;
      return get(`${base}/data/${name}?${query}`);
    },
    bucketFrame: (names, { window: { startMs: start, endMs: end }, bucketMs }) => {
      const asked = { aggregates: ["avg"], granularity: `${bucketMs / 1000}s`, start, end, limit: 10_000 };
      return post(`${base}/dataframe`, JSON.stringify({ items: names.map((name) => ({ name })), ...asked }));
    },
    latest: (name) => get(`${base}/latest/${name}`),
    latestOfMany: (names) =>
      postTo06(`${base}/latest`, JSON.stringify({ items: names.map((name) => ({ name })) })),
  },
  scanMessage: (names, scan) =>
    request({
      method: "POST",
      path: `${base}/data`,
      headers: { "content-type": "application/protobuf" },
      body: messageOf(names, scan),
    }),
  rows: {
    hourlyAverage: (body) => occurrences(body, '"timestamp"'),
    frame: (body) => linesIn(body) - 1,
    raw: (body) => occurrences(body, '"timestamp"'),
  },
  lineProtocol: {
    write: (lines) => influx("POST", "/write?precision=ms", lines),
    panel: (name, window) => influx("GET", influxPanel(name, window)),
    seriesIn: (body) => occurrences(body, '"tags"'),
  },
};

const aggregateNames = [...["avg", "min", "max", "count", "sum", "int", "step", "cv", "dv", "tv"]];

/** Starts a server with these settings beside the usual ones, by a command before its own if there is one. */
export async function startMillrace(
  folder: string,
  more: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Running> {
  const port = await freePort();
  const env = {
    MILLRACE_HOST: "127.0.0.1",
    MILLRACE_PORT: String(port),
    MILLRACE_DATA: `${folder}/data`,
    MILLRACE_ADMIN_KEY: administratorKey,
    MILLRACE_LOG_LEVEL: "warn",
    ...more,
  };
  const probe = `http://127.0.0.1:${port}/health`;
  const [program = process.execPath, ...words] = [
    ...before,
    process.execPath,
    `${root}src/start.js`,
    "serve",
  ];
  const started = await startProcess([program, ...words], { folder, env, probe });
  await untilKeyIsGood(port);
  return { started, port, declare: (names) => declare(port, names), settle: async () => {} };
}

/** The server listens shortly before it accepts the key. */
async function untilKeyIsGood(port: number): Promise<void> {
  const ask = () =>
    fetch(`http://127.0.0.1:${port}${project}${base}?limit=1`, { headers: { "api-key": administratorKey } });
  while ((await ask()).status === 401) await pause(20);
}

const range = ({ startMs, endMs }: Window) => `start=${startMs}&end=${endMs}`;

function pointsOf({ times, values }: GeneratedSeries, from: number, to: number): string {
  const points: string[] = [];
  for (let i = from; i < to; i++) points.push(`{"timestamp":${times[i]},"value":${values[i]}}`);
  return points.join(",");
}

const itemsOf = (names: readonly string[], { timeMs, values }: Scan) =>
  names
    .map((name, i) => `{"name":"${name}","datapoints":[{"timestamp":${timeMs},"value":${values[i]}}]}`)
    .join(",");

const messageOf = (names: readonly string[], { timeMs, values }: Scan) =>
  messageOfNumbers(names, timeMs, (at) => values[at]!);

async function declare(port: number, names: readonly string[]): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${project}${base}`, {
    method: "POST",
    headers: { "api-key": administratorKey, "content-type": "application/json" },
    body: JSON.stringify({ items: names.map((name) => ({ name })) }),
  });
  if (!response.ok) throw new Error(`series were not created: ${await response.text()}`);
}
