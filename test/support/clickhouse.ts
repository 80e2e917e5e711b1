// A real ClickHouse server for tests, on loopback, and a new database for each store.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openClickHousePoints } from "../../src/storage/clickhouse-points/clickhouse-points.ts";
import { ClickHouseClient } from "../../src/storage/clickhouse-points/client.ts";
import {
  type ClickHouseLocation,
  parseClickHouseShards,
} from "../../src/storage/clickhouse-points/location.ts";
import { TombstoneSweep } from "../../src/storage/clickhouse-points/tombstone-sweep.ts";
import type { StoreUnderTest } from "../../src/storage/conformance/points.ts";
import type { PointsStore } from "../../src/storage/points.ts";
import { folderInMemory } from "./folder.ts";
import { freePort } from "./free-port.ts";

/** A server whose databases tests use. */
export interface ClickHouseHost {
  readonly httpPort: number;
  url(database: string): string;
}

export interface ClickHouseServer extends ClickHouseHost {
  readonly tcpPort: number;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Kills it and removes its files. */
  remove(): void;
}

/** Of a server that starts; it may accept a connection and not respond on it. */
const pingMsMax = 5_000;
const testPassword = "a pass/word@of:tests";

const hostAt = (httpPort: number): ClickHouseHost => ({
  httpPort,
  url: (database) =>
    `clickhouse://millrace:${encodeURIComponent(testPassword)}@127.0.0.1:${httpPort}/${database}`,
});

/** The place of a server among replicas. */
export interface ReplicaPlace {
  readonly zooKeeperPorts: readonly number[];
  readonly replica: number;
  /** The folder of its files, for one on a small disk; one in memory when absent. */
  readonly folder?: string;
}

/** A server with a folder of its own and the user `millrace`. */
export async function startClickHouse(place?: ReplicaPlace): Promise<ClickHouseServer> {
  const [httpPort, tcpPort] = [await freePort(), await freePort()];
  const replication = place === undefined ? "" : await replicationOf(place);
  const folder = join(place?.folder ?? folderInMemory(), "clickhouse");
  mkdirSync(folder);
  const file = join(folder, "config.xml");
  writeFileSync(file, configuration(folder, { httpPort, tcpPort, replication }));
  writeFileSync(join(folder, "users.xml"), users);
  let child: ChildProcess | undefined;
  const server: ClickHouseServer = {
    ...hostAt(httpPort),
    tcpPort,
    async start() {
      child = spawn("clickhouse-server", [`--config-file=${file}`], { cwd: folder, stdio: "ignore" });
      child.unref();
      for (let tries = 0; tries < 300; tries++) {
        const signal = AbortSignal.timeout(pingMsMax);
        const isUp = await fetch(`http://127.0.0.1:${httpPort}/ping`, { signal }).then(
          ({ ok }) => ok,
          () => false,
        );
        if (isUp) return;
        await sleep(100);
      }
      throw new Error(`clickhouse-server does not start; its log is ${join(folder, "log")}`);
    },
    async kill() {
      if (child === undefined) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      child = undefined;
    },
    remove() {
      child?.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  process.on("exit", () => server.remove());
  await server.start();
  return server;
}

const replicationOf = async ({ zooKeeperPorts, replica }: ReplicaPlace) => `
  <zookeeper>
    ${zooKeeperPorts.map((port) => `<node><host>127.0.0.1</host><port>${port}</port></node>`).join("")}
    <session_timeout_ms>5000</session_timeout_ms>
  </zookeeper>
  <macros><shard>1</shard><replica>${replica}</replica></macros>
  <interserver_http_host>127.0.0.1</interserver_http_host>
  <interserver_http_port>${await freePort()}</interserver_http_port>`;

interface ServerPlace {
  readonly httpPort: number;
  readonly tcpPort: number;
  /** The part of the configuration about replicas. */
  readonly replication: string;
}

const configuration = (folder: string, ports: ServerPlace) => `<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${ports.httpPort}</http_port>
  <tcp_port>${ports.tcpPort}</tcp_port>
  ${ports.replication}
  <path>${folder}/data/</path>
  <tmp_path>${folder}/tmp/</tmp_path>
  <users_config>${folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
</yandex>
`;

const users = `<?xml version="1.0"?>
<yandex>
  <profiles><default></default></profiles>
  <quotas><default></default></quotas>
  <users>
    <millrace>
      <password>${testPassword}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </millrace>
  </users>
</yandex>
`;

let shared: Promise<ClickHouseHost> | undefined;

/** The server at the port that TEST_CLICKHOUSE names, else that of this process, which ends with it. */
export function sharedClickHouse(): Promise<ClickHouseHost> {
  const { TEST_CLICKHOUSE: port } = process.env;
  shared ??= port === undefined ? startClickHouse() : Promise.resolve(hostAt(Number(port)));
  return shared;
}

let count = 0;

/** Undefined for a string of another form, and for several shards. */
export function parseClickHouseUrl(text: string): ClickHouseLocation | undefined {
  const [only, ...others] = parseClickHouseShards(text) ?? [];
  return others.length === 0 ? only : undefined;
}

/** The address of a new, empty database. */
export async function newClickHouseDatabase(server: ClickHouseHost): Promise<string> {
  const name = `test_${process.pid}_${++count}`;
  await statement(server, `CREATE DATABASE ${name}`);
  return server.url(name);
}

/** Runs a statement in `database`. */
export async function statement(
  { httpPort }: ClickHouseHost,
  text: string,
  database = "default",
): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${httpPort}/?database=${database}`, {
    method: "POST",
    headers: { "X-ClickHouse-User": "millrace", "X-ClickHouse-Key": testPassword },
    body: text,
  });
  const body = await response.text();
  if (!response.ok) throw new Error(body);
  return body;
}

/** The clocks of a store in an unused database, and its reaction to a sweep that fails. */
export const clocks = {
  isUsed: false,
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  onSweepFailure: (problem: unknown) => {
    throw problem;
  },
};

/** Sweeps of the database that find every tombstone old. */
export const sweepOf = ({ server, database }: ClickHouseUnderTest): TombstoneSweep =>
  sweepAt(parseClickHouseUrl(server.url(database))!);

export function sweepAt(location: ClickHouseLocation): TombstoneSweep {
  const client = new ClickHouseClient(location);
  let hours = 0;
  return new TombstoneSweep({
    client,
    monotonicMs: () => ++hours * 3_600_000,
    onFailure: clocks.onSweepFailure,
  });
}

export interface ClickHouseUnderTest extends StoreUnderTest {
  readonly server: ClickHouseHost;
  readonly database: string;
}

/** A store in a new database. */
export async function clickHouseUnderTest(pointsInArrays?: number): Promise<ClickHouseUnderTest> {
  const server = await sharedClickHouse();
  const location = parseClickHouseUrl(await newClickHouseDatabase(server))!;
  const opened: PointsStore[] = [];
  const open = async () => {
    const store = await openClickHousePoints({
      location,
      owner: 1,
      ...clocks,
      ...(pointsInArrays && { pointsInArrays }),
    });
    opened.push(store);
    return store;
  };
  return {
    store: await open(),
    server,
    database: location.database,
    restart: async () => {
      await opened.at(-1)!.close();
      return open();
    },
    crash: open,
    end: async () => {
      for (const store of opened) await store.close();
      await statement(server, `DROP DATABASE ${location.database}`);
    },
  };
}
