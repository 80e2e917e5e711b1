// A real ZooKeeper for tests, on loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./clickhouse.ts";
import { folderInMemory } from "./folder.ts";

export interface ZooKeeperServer {
  readonly port: number;
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
  const port = await freePort();
  const folder = join(folderInMemory(), "zookeeper");
  mkdirSync(folder);
  const file = join(folder, "zoo.cfg");
  const lines = [
    `dataDir=${folder}`,
    `clientPort=${port}`,
    "clientPortAddress=127.0.0.1",
    "tickTime=500",
    "maxSessionTimeout=30000",
    "admin.enableServer=false",
  ];
  writeFileSync(file, lines.join("\n"));
  let child: ChildProcess | undefined;
  const kill = async () => {
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGKILL");
    await ended;
  };
  const server = {
    port,
    kill,
    async start() {
      const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
      child = spawn("java", ["-Xmx256m", "-cp", `/etc/zookeeper/conf:${jar}`, main, file], {
        cwd: folder,
        stdio: "ignore",
      });
      child.unref();
      for (let tries = 0; tries < 300; tries++) {
        if (await accepts(port)) return;
        await sleep(100);
      }
      throw new Error("ZooKeeper does not start");
    },
  };
  process.on("exit", () => child?.kill("SIGKILL"));
  await server.start();
  return server;
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
