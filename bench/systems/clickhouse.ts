// ClickHouse: RowBinary into one MergeTree table ordered by series and time, with its defaults.
import { mkdirSync, writeFileSync } from "node:fs";
import { requestBytes } from "../http.ts";
import { freePort, startProcess } from "../process.ts";
import { packageVersion } from "./debian.ts";
import { groupedSync } from "./file-system-sync.ts";
import { beginningOf, linesIn, occurrences, type Running, type System, type Window } from "./system.ts";

const insert = (body: Buffer) => {
  const path = `/?query=${encodeURIComponent("INSERT INTO points FORMAT RowBinary")}`;
  return requestBytes({ method: "POST", path, body });
};

const query = (body: string) => requestBytes({ method: "POST", path: "/", body });

const columns = [
  ...["avg(value)", "min(value)", "max(value)", "count()", "sum(value)", "argMin(value, time)"],
  ...["argMax(value, time)", "stddevPop(value)", "varPop(value)", "max(value) - min(value)"],
];

const within = ({ startMs, endMs }: Window) => `time >= ${startMs} AND time < ${endMs}`;

const hourMs = 3_600_000;

export const clickHouse: System = {
  name: "ClickHouse",
  debianPackage: "clickhouse-server",
  durability: "in the page cache, no fsync",
  isDurable: false,
  version: () => packageVersion("clickhouse-server"),
  start,
  synced: {
    // An insert is in files of its own before the response; this version has no setting for fsync.
    how: "a sync of the file system",
    async start(folder) {
      const running = await start(folder);
      return { ...running, sync: groupedSync(running, async () => {}) };
    },
  },
  requests: {
    backfill: ({ name, times, values }, from, to) => {
      const rows = new RowWriter((to - from) * rowBytesMax);
      for (let i = from; i < to; i++) rows.add(name, times[i] ?? 0, values[i] ?? 0);
      return insert(rows.bytes);
    },
    scan: (names, { timeMs, values }) => {
      const rows = new RowWriter(names.length * rowBytesMax);
      for (const [i, name] of names.entries()) rows.add(name, timeMs, values[i] ?? 0);
      return insert(rows.bytes);
    },
    hourlyAverage: (name, window) =>
      query(
        `SELECT intDiv(time, ${hourMs}) AS hour, avg(value) FROM points WHERE series = '${name}' ` +
          `AND ${within(window)} GROUP BY hour ORDER BY hour FORMAT JSONCompact`,
      ),
    frame: (names, window) =>
      query(
        `SELECT intDiv(time, ${hourMs}) AS hour, series, avg(value) FROM points ` +
          `WHERE series IN (${names.map((name) => `'${name}'`).join()}) AND ${within(window)} ` +
          "GROUP BY hour, series ORDER BY hour, series FORMAT CSV",
      ),
    raw: (name, window) =>
      query(
        `SELECT time, value FROM points WHERE series = '${name}' AND ${within(window)} ` +
          "ORDER BY time FORMAT JSONCompact",
      ),
    buckets: (name, { window, bucketMs, functions }) =>
      query(
        `SELECT intDiv(time, ${bucketMs}) AS bucket, ${columns.slice(0, functions).join()} FROM points ` +
          `WHERE series = '${name}' AND ${within(window)} GROUP BY bucket ORDER BY bucket FORMAT JSONCompact`,
      ),
    bucketFrame: (names, { window, bucketMs }) =>
      query(
        `SELECT intDiv(time, ${bucketMs}) AS bucket, series, avg(value) FROM points ` +
          `WHERE series IN (${names.map((name) => `'${name}'`).join()}) AND ${within(window)} ` +
          "GROUP BY bucket, series ORDER BY bucket, series FORMAT CSV",
      ),
    latest: (name) =>
      query(`SELECT time, value FROM points WHERE series = '${name}' ORDER BY time DESC LIMIT 1`),
    latestOfMany: (names) =>
      query(
        "SELECT series, argMax(value, time) FROM points " +
          `WHERE series LIKE '${beginningOf(names)}%' GROUP BY series`,
      ),
  },
  rows: {
    hourlyAverage: (body) => occurrences(body, "]") - 2,
    frame: (body) => linesIn(body),
    raw: (body) => occurrences(body, "]") - 2,
  },
};

async function start(folder: string): Promise<Running> {
  const running = await startClickHouse(folder);
  await execute(running.port, table);
  return { ...running, declare: async () => {}, settle: async () => {} };
}

/** A server with its defaults and without tables. */
export async function startClickHouse(folder: string): Promise<Pick<Running, "started" | "port">> {
  const [port, nativePort, replicaPort] = [await freePort(), await freePort(), await freePort()];
  mkdirSync(`${folder}/data`, { recursive: true });
  writeFileSync(`${folder}/config.xml`, configuration(folder, { port, nativePort, replicaPort }));
  writeFileSync(`${folder}/users.xml`, users);
  const command = ["clickhouse-server", `--config-file=${folder}/config.xml`] as const;
  const probe = `http://127.0.0.1:${port}/?query=SELECT%201`;
  return { started: await startProcess([...command], { folder, probe }), port };
}

export async function execute(port: number, statement: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: statement });
  if (!response.ok) throw new Error(await response.text());
}

const table = `CREATE TABLE IF NOT EXISTS points (series String, time Int64, value Float64)
  ENGINE = MergeTree() PARTITION BY tuple() ORDER BY (series, time)`;

/** A name of at most 15 bytes with its length, a time and a value. */
const rowBytesMax = 32;

class RowWriter {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytesMax: number) {
    this.#bytes = Buffer.allocUnsafe(bytesMax);
  }

  add(series: string, timeMs: number, value: number): void {
    this.#bytes[this.#at] = series.length;
    this.#at += 1 + this.#bytes.write(series, this.#at + 1, "latin1");
    this.#at = this.#bytes.writeBigInt64LE(BigInt(timeMs), this.#at);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }
}

const configuration = (folder: string, ports: { port: number; nativePort: number; replicaPort: number }) => `
<yandex>
  <logger>
    <level>error</level>
    <log>${folder}/server.log</log>
    <errorlog>${folder}/server.err.log</errorlog>
  </logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${ports.port}</http_port>
  <tcp_port>${ports.nativePort}</tcp_port>
  <interserver_http_port>${ports.replicaPort}</interserver_http_port>
  <keep_alive_timeout>600</keep_alive_timeout>
  <path>${folder}/data/</path>
  <tmp_path>${folder}/data/tmp/</tmp_path>
  <users_config>${folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>5368709120</mark_cache_size>
</yandex>
`;

const users = `
<yandex>
  <profiles><default><max_memory_usage>10000000000</max_memory_usage></default></profiles>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </default>
  </users>
  <quotas><default></default></quotas>
</yandex>
`;
