// Real ZooKeepers for tests, on loopback: one, or an ensemble.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { folderInMemory } from "./folder.ts";
import { freePort } from "./free-port.ts";

export interface ZooKeeperServer {
  readonly port: number;
  /** `leader`, `follower` or `standalone`; undefined while it does not respond. */
  role(): Promise<string | undefined>;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Debian's package has no command on PATH. */
export const zooKeeperPackage = {
  command: "/usr/share/zookeeper/bin/zkServer.sh",
  debian: ["zookeeper"],
  usedFor: "replicas of ClickHouse",
};
const jar = "/usr/share/java/zookeeper.jar";

export async function startZooKeeper(): Promise<ZooKeeperServer> {
  const [server] = await startZooKeepers(1);
  return server!;
}

/** An ensemble of so many servers. */
export async function startZooKeepers(count: number): Promise<ZooKeeperServer[]> {
  const members: string[] = [];
  for (let id = 1; count > 1 && id <= count; id++)
    members.push(`server.${id}=127.0.0.1:${await freePort()}:${await freePort()}`);
  const servers: ZooKeeperServer[] = [];
  for (let id = 1; id <= count; id++) servers.push(await zooKeeper(id, members));
  await Promise.all(servers.map((server) => server.start()));
  return servers;
}

async function zooKeeper(id: number, members: readonly string[]): Promise<ZooKeeperServer> {
  const port = await freePort();
  const folder = join(folderInMemory(), "zookeeper");
  mkdirSync(folder);
  const file = join(folder, "zoo.cfg");
  const lines = [
    `dataDir=${folder}`,
    `clientPort=${port}`,
    "clientPortAddress=127.0.0.1",
    "tickTime=500",
    "initLimit=20",
    "syncLimit=10",
    "maxSessionTimeout=30000",
    "admin.enableServer=false",
    "4lw.commands.whitelist=srvr",
    ...members,
  ];
  writeFileSync(file, lines.join("\n"));
  writeFileSync(join(folder, "myid"), String(id));
  let child: ChildProcess | undefined;
  process.on("exit", () => child?.kill("SIGKILL"));
  const role = () => roleOf(port);
  return {
    port,
    role,
    async kill() {
      if (child?.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    async start() {
      const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
      child = spawn("java", ["-Xmx256m", "-cp", `/etc/zookeeper/conf:${jar}`, main, file], {
        cwd: folder,
        stdio: "ignore",
      });
      child.unref();
      for (let tries = 0; tries < 600; tries++) {
        if ((await role()) !== undefined) return;
        await sleep(100);
      }
      throw new Error("ZooKeeper does not start");
    },
  };
}

/** Of a response; a ZooKeeper that starts may accept a connection and never respond on it. */
const roleMsMax = 2_000;

const roleOf = (port: number) =>
  new Promise<string | undefined>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("srvr"));
    socket.setTimeout(roleMsMax, () => socket.destroy());
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(/^Mode: (\w+)$/m.exec(text)?.[1]));
  });
