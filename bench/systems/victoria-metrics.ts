// VictoriaMetrics, single node, with its defaults and an endless retention.
import { mkdirSync } from "node:fs";
import { requestBytes } from "../http.ts";
import { freePort, startProcess } from "../process.ts";
import { packageVersion } from "./debian.ts";
import { groupedSync } from "./file-system-sync.ts";
import { beginningOf, linesIn, occurrences, type Running, type System, type Window } from "./system.ts";

const get = (path: string, query: Readonly<Record<string, string>>) =>
  requestBytes({ method: "GET", path: `${path}?${new URLSearchParams(query)}` });

const rollups = ["avg", "min", "max", "count", "sum", "first", "last", "stddev", "stdvar", "range"];

const seconds = (timeMs: number) => String(timeMs / 1000);

/** Of the cache of results. */
const bypass = { nocache: "1" };

const averageOf = (selector: string) => `avg_over_time(bench{${selector}}[1h])`;
const one = (name: string) => averageOf(`s="${name}"`);
const all = (names: readonly string[]) => averageOf(`s=~"${names.join("|")}"`);

const hourly = (query: string, { startMs, endMs }: Window, more: Readonly<Record<string, string>> = {}) =>
  get("/api/v1/query_range", {
    ...{ query, start: seconds(startMs + 3_600_000), end: seconds(endMs), step: "1h", ...more },
  });

export const victoriaMetrics: System = {
  name: "VictoriaMetrics",
  debianPackage: "victoria-metrics",
  durability: "in memory; on disk within seconds",
  isDurable: false,
  version: () => packageVersion("victoria-metrics"),
  start,
  synced: {
    how:
      "a snapshot, the only request of this version that writes the points in memory to files, " +
      "and for a sync of the file system",
    async start(folder) {
      const running = await start(folder);
      const { port } = running;
      const settle = async () => {
        await get200(port, "/snapshot/delete_all");
        await running.settle();
      };
      // After /internal/force_flush alone, kill -9 still lost all points.
      return { ...running, settle, sync: groupedSync(running, () => get200(port, "/snapshot/create")) };
    },
  },
  requests: {
    backfill: ({ name, times, values }, from, to) => {
      const line = {
        metric: { __name__: "bench", s: name },
        values: [...values.subarray(from, to)],
        timestamps: [...times.subarray(from, to)],
      };
      return requestBytes({ method: "POST", path: "/api/v1/import", body: `${JSON.stringify(line)}\n` });
    },
    scan: (names, { timeMs, values }) => {
      const lines = names.map((name, i) => `bench{s="${name}"} ${values[i]} ${timeMs}\n`);
      return requestBytes({ method: "POST", path: "/api/v1/import/prometheus", body: lines.join("") });
    },
    hourlyAverage: (name, window) => hourly(one(name), window, bypass),
    frame: (names, window) => hourly(all(names), window, bypass),
    raw: (name, { startMs, endMs }) =>
      get("/api/v1/export", {
        "match[]": `bench{s="${name}"}`,
        start: seconds(startMs),
        end: seconds(endMs - 1),
      }),
    buckets: (name, { window: { startMs, endMs }, bucketMs, functions }) => {
      const names = rollups.slice(0, functions).map((one) => `"${one}_over_time"`);
      return get("/api/v1/query_range", {
        query: `aggr_over_time((${names}), bench{s="${name}"}[${bucketMs}ms])`,
        start: seconds(startMs + bucketMs),
        end: seconds(endMs),
        step: `${bucketMs}ms`,
        ...bypass,
      });
    },
    bucketFrame: (names, { window: { startMs, endMs }, bucketMs }) =>
      get("/api/v1/query_range", {
        query: `avg_over_time(bench{s=~"${names.join("|")}"}[${bucketMs}ms])`,
        start: seconds(startMs + bucketMs),
        end: seconds(endMs),
        step: `${bucketMs}ms`,
        ...bypass,
      }),
    latest: (name, lastMs) => get("/api/v1/query", { query: `bench{s="${name}"}`, time: seconds(lastMs) }),
    latestOfMany: (names, lastMs) =>
      get("/api/v1/query", { query: `bench{s=~"${beginningOf(names)}.*"}`, time: seconds(lastMs) }),
  },
  // The cache is in every server; only requests bypass it.
  uncached: start,
  cachedRequests: {
    hourlyAverage: (name, window) => hourly(one(name), window),
    frame: (names, window) => hourly(all(names), window),
  },
  rows: {
    hourlyAverage: (body) => occurrences(body, '"]'),
    frame: (body) => occurrences(body, '"]') / Math.max(1, occurrences(body, '"metric"')),
    raw: (body) => pointsIn(body),
  },
  lineProtocol: {
    write: (lines) => requestBytes({ method: "POST", path: "/write?precision=ms", body: lines }),
    panel: (name, window) => hourly(`${overTime[name]}_over_time(bench_v[1h])`, window),
    seriesIn: (body) => occurrences(body, '"metric"'),
  },
};

async function start(folder: string): Promise<Running> {
  const port = await freePort();
  const data = `${folder}/data`;
  mkdirSync(data, { recursive: true });
  const flags = [`-storageDataPath=${data}`, `-httpListenAddr=127.0.0.1:${port}`, "-retentionPeriod=100y"];
  const probe = `http://127.0.0.1:${port}/health`;
  const started = await startProcess(["victoria-metrics", ...flags], { folder, probe });
  const settle = () => get200(port, "/internal/force_flush");
  return { started, port, declare: async () => {}, settle };
}

async function get200(port: number, path: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

/** The functions over the points of an hour, under the names of this system. */
const overTime = { mean: "avg", min: "min", max: "max", sum: "sum", count: "count" } as const;

function pointsIn(body: Buffer): number {
  const from = body.indexOf('"timestamps":[');
  return linesIn(body) === 0 ? 0 : occurrences(body.subarray(from), ",") + 1;
}
