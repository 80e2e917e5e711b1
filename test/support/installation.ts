// Two servers and HAProxy on replicated parts, each of which a test can take away: PostgreSQL with a
// synchronous standby, three ClickHouse with three ZooKeeper, an S3 store, and the networks between.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ClickHouseServer, startClickHouse, statement } from "./clickhouse.ts";
import { temporaryFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { type Haproxy, startHaproxy } from "./haproxy.ts";
import { type PostgresServer, statement as postgresStatement, startPostgres } from "./postgres.ts";
import { serveMillrace } from "./process.ts";
import { testS3 } from "./s3-store.ts";
import { type ProxyMode, TcpProxy } from "./tcp-proxy.ts";
import { startZooKeepers, type ZooKeeperServer } from "./zookeeper.ts";

export const adminKey = "a-key-of-all-servers-with-enough-letters";

/** The parts that a server reaches through proxies of its own. */
export const parts = ["PostgreSQL", "ClickHouse", "S3"] as const;
export type Part = (typeof parts)[number];

/** A small disk in memory; a test fills it. */
export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  free(): void;
  remove(): void;
}

export interface ServerProcess {
  readonly baseUrl: string;
  start(environment?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it: by default as a crash does. */
  end(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** The lines of its log with errors of the server itself. */
  faults(): readonly string[];
  /** Changes the network between the server and each host of the part. */
  network(part: Part, mode: ProxyMode): void;
}

export interface Installation {
  readonly haproxy: Haproxy;
  readonly servers: readonly ServerProcess[];
  readonly zooKeepers: readonly ZooKeeperServer[];
  /** The first is on the small disk. */
  readonly clickHouses: readonly ClickHouseServer[];
  readonly smallDisk: SmallDisk;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  remove(): Promise<void>;
}

export async function startInstallation(): Promise<Installation> {
  const smallDisk = mountSmallDisk();
  const zooKeepers = await startZooKeepers(3);
  const zooKeeperPorts = zooKeepers.map(({ port }) => port);
  const clickHouses: ClickHouseServer[] = [];
  for (const replica of [1, 2, 3]) {
    const place = { zooKeeperPorts, replica, ...(replica === 1 && { folder: smallDisk.folder }) };
    clickHouses.push(await startClickHouse(place));
  }
  for (const one of clickHouses) await statement(one, "CREATE DATABASE plant");
  const primary = await startPostgres({ fsync: true, waitsFor: "second" });
  const standby = await startPostgres({ fsync: true, standbyOf: { primary, name: "second" } });
  await postgresStatement(primary.url("postgres"), "create database plant");
  const { location, credentials } = (await testS3()).place();
  const [haproxyPort, ...serverPorts] = [await freePort(), await freePort(), await freePort()];
  const haproxy = await startHaproxy(haproxyPort!, serverPorts);
  const targets: Record<Part, readonly string[]> = {
    PostgreSQL: [primary, standby].map(({ port }) => `http://127.0.0.1:${port}`),
    ClickHouse: clickHouses.map(({ httpPort }) => `http://127.0.0.1:${httpPort}`),
    S3: [location.endpoint!],
  };
  const [user] = clickHouses[0]!.url("plant").split("@127");
  const shared = {
    MILLRACE_ADMIN_KEY: adminKey,
    MILLRACE_BASE_URL: haproxy.baseUrl,
    MILLRACE_TRUSTED_PROXIES: "127.0.0.1",
    MILLRACE_LOG_LEVEL: "error",
    AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
  };
  const servers = serverPorts.map((port) =>
    serverProcess(port, targets, (hosts) => ({
      ...shared,
      MILLRACE_CATALOG: `postgres://millrace@${hosts.PostgreSQL}/plant`,
      MILLRACE_POINTS: `${user}@${hosts.ClickHouse}/plant?quorum=2`,
      MILLRACE_BLOBS: `s3://${location.bucket}/${location.prefix}?endpoint=http://${hosts.S3}`,
    })),
  );
  for (const server of servers) await server.start();
  return {
    ...{ haproxy, servers, zooKeepers, clickHouses, smallDisk, primary, standby },
    async remove() {
      haproxy.remove();
      for (const server of servers) await server.end();
      for (const one of clickHouses) one.remove();
      for (const one of zooKeepers) await one.kill();
      for (const one of [standby, primary]) one.remove();
      smallDisk.remove();
    },
  };
}

const startsMax = 10;

/** `environmentOf` gets the addresses of the proxies, separated by commas. */
function serverProcess(
  port: number,
  targets: Readonly<Record<Part, readonly string[]>>,
  environmentOf: (hosts: Readonly<Record<Part, string>>) => Readonly<Record<string, string>>,
): ServerProcess {
  const folder = temporaryFolder();
  const proxies: Partial<Record<Part, readonly TcpProxy[]>> = {};
  let running: Awaited<ReturnType<typeof serveMillrace>> | undefined;
  const hostsOf = (part: Part) => proxies[part]!.map(({ endpoint }) => new URL(endpoint).host).join();
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async start(more = {}) {
      for (const part of parts)
        proxies[part] ??= await Promise.all(targets[part].map((target) => TcpProxy.start(target)));
      const hosts = {
        PostgreSQL: hostsOf("PostgreSQL"),
        ClickHouse: hostsOf("ClickHouse"),
        S3: hostsOf("S3"),
      };
      const environment = { ...environmentOf(hosts), MILLRACE_PORT: String(port), ...more };
      const serve = () => serveMillrace(environment, folder);
      // As a supervisor does after a refused start: a part may not respond in time on a busy machine.
      for (let starts = 1; running === undefined; starts++)
        running = await (starts < startsMax ? serve().catch(() => undefined) : serve());
    },
    async end(signal = "SIGKILL") {
      running?.child.kill(signal);
      await running?.ended;
      running = undefined;
    },
    faults: () => (running?.errors().split("\n") ?? []).filter((line) => line.includes("Unexpected fault")),
    network(part, mode) {
      for (const proxy of proxies[part]!) proxy.set(mode);
    },
  };
}

/** ClickHouse leaves 30 MiB free. */
const smallDiskMebibytes = 400;

function mountSmallDisk(): SmallDisk {
  const folder = temporaryFolder();
  const run = (command: string, ...words: readonly string[]) =>
    spawnSync(command, words, { stdio: "ignore" });
  const { status } = run("mount", "-t", "tmpfs", "-o", `size=${smallDiskMebibytes}m`, "tmpfs", folder);
  if (status !== 0) throw new Error("this user may not mount a tmpfs for the test of a full disk");
  mkdirSync(join(folder, "disk"));
  const filler = join(folder, "filler");
  // Before the folder is removed.
  const remove = () => void run("umount", "-l", folder);
  process.prependListener("exit", remove);
  return {
    folder: join(folder, "disk"),
    // It ends when the disk is full.
    fill: () => void run("dd", "if=/dev/zero", `of=${filler}`, "bs=65536"),
    free: () => void run("rm", "-f", filler),
    remove,
  };
}
