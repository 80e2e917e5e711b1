// InfluxDB 1.x: line protocol in, InfluxQL out, with its defaults.
import { writeFileSync } from "node:fs";
import { requestBytes } from "../http.ts";
import { freePort, startProcess } from "../process.ts";
import { packageVersion } from "./debian.ts";
import { beginningOf, influxPanel, occurrences, type System, type Window } from "./system.ts";

const write = (body: string) => requestBytes({ method: "POST", path: "/write?db=bench&precision=ms", body });

const query = (text: string) => {
  const asked = new URLSearchParams({
    db: "bench",
    epoch: "ms",
    q: text,
    chunked: "true",
    chunk_size: "1000000",
  });
  return requestBytes({ method: "GET", path: `/query?${asked}` });
};

const selectors = ["mean", "min", "max", "count", "sum", "first", "last", "stddev", "spread", "integral"].map(
  (one) => `${one}(v)`,
);

const within = ({ startMs, endMs }: Window) => `time >= ${startMs}ms AND time < ${endMs}ms`;

export const influxDb: System = {
  name: "InfluxDB",
  debianPackage: "influxdb",
  durability: "in a write-ahead log with fsync",
  isDurable: true,
  version: () => packageVersion("influxdb"),
  async start(folder) {
    const [port, rpcPort] = [await freePort(), await freePort()];
    writeFileSync(`${folder}/influxdb.conf`, configuration(folder, port, rpcPort));
    const probe = `http://127.0.0.1:${port}/query?q=SHOW+DATABASES`;
    const started = await startProcess(["influxd", "-config", `${folder}/influxdb.conf`], { folder, probe });
    const made = await fetch(`http://127.0.0.1:${port}/query?q=CREATE+DATABASE+bench`, { method: "POST" });
    await made.arrayBuffer();
    return { started, port, declare: async () => {}, settle: async () => {} };
  },
  requests: {
    backfill: ({ name, times, values }, from, to) => {
      const lines: string[] = [];
      for (let i = from; i < to; i++) lines.push(`bench,s=${name} v=${values[i]} ${times[i]}`);
      return write(lines.join("\n"));
    },
    scan: (names, { timeMs, values }) =>
      write(names.map((name, i) => `bench,s=${name} v=${values[i]} ${timeMs}`).join("\n")),
    hourlyAverage: (name, window) =>
      query(`SELECT mean(v) FROM bench WHERE s='${name}' AND ${within(window)} GROUP BY time(1h) fill(none)`),
    frame: (names, window) =>
      query(
        `SELECT mean(v) FROM bench WHERE s=~/^(${names.join("|")})$/ AND ${within(window)} ` +
          "GROUP BY time(1h), s fill(none)",
      ),
    raw: (name, window) => query(`SELECT v FROM bench WHERE s='${name}' AND ${within(window)}`),
    buckets: (name, { window, bucketMs, functions }) =>
      query(
        `SELECT ${selectors.slice(0, functions).join()} FROM bench WHERE s='${name}' AND ${within(window)} ` +
          `GROUP BY time(${bucketMs}ms) fill(none)`,
      ),
    bucketFrame: (names, { window, bucketMs }) =>
      query(
        `SELECT mean(v) FROM bench WHERE s=~/^(${names.join("|")})$/ AND ${within(window)} ` +
          `GROUP BY time(${bucketMs}ms), s fill(none)`,
      ),
    latest: (name) => query(`SELECT last(v) FROM bench WHERE s='${name}'`),
    latestOfMany: (names) => query(`SELECT last(v) FROM bench WHERE s=~/^${beginningOf(names)}/ GROUP BY s`),
  },
  rows: {
    hourlyAverage: (body) => occurrences(body, "]") - listsAround,
    frame: (body) => {
      const series = occurrences(body, '"tags"');
      return (occurrences(body, "]") - occurrences(body, '"results"') - 1) / Math.max(1, series) - 2;
    },
    raw: (body) => occurrences(body, "]") - listsAround,
  },
  lineProtocol: {
    write,
    panel: (name, window) => requestBytes({ method: "GET", path: influxPanel(name, window) }),
    seriesIn: (body) => occurrences(body, '"tags"'),
  },
};

/** Closing brackets of a response without those of its rows: columns, values, series, results. */
const listsAround = 4;

const configuration = (folder: string, port: number, rpcPort: number) => `
reporting-disabled = true
bind-address = "127.0.0.1:${rpcPort}"
[meta]
  dir = "${folder}/data/meta"
[data]
  dir = "${folder}/data/data"
  wal-dir = "${folder}/data/wal"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  log-enabled = false
[monitor]
  store-enabled = false
[logging]
  level = "error"
`;
