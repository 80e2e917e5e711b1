// A real MariaDB server for tests, on loopback.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2";
import { until } from "./connector.ts";
import { folderInMemory } from "./folder.ts";
import { freePort } from "./free-port.ts";

export interface MariaDbServer {
  /** Of its only database, `plant`. */
  readonly url: string;
  /** Runs statements, separated by semicolons, on a connection of its own. */
  statement(sql: string): Promise<void>;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

export async function startMariaDb(): Promise<MariaDbServer> {
  const folder = folderInMemory();
  const [data, port] = [join(folder, "data"), await freePort()];
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const install = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"];
  execFileSync("mariadb-install-db", [...install, ...user, `--datadir=${data}`], { stdio: "ignore" });
  const address = ["--bind-address=127.0.0.1", `--port=${port}`, `--socket=${join(folder, "socket")}`];
  const small = ["--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"];
  const server = (database: string) => `mysql://root@127.0.0.1:${port}/${database}`;
  const begin = () =>
    spawn("mariadbd", ["--no-defaults", ...user, `--datadir=${data}`, ...address, ...small], {
      stdio: "ignore",
    });
  let child = begin();
  const answers = () =>
    statement(server("mysql"), "SELECT 1").then(
      () => true,
      () => false,
    );
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  process.on("exit", () => child.kill("SIGKILL"));
  await until(answers, "MariaDB");
  await statement(server("mysql"), "CREATE DATABASE plant CHARACTER SET utf8mb4");
  return {
    url: server("plant"),
    statement: (sql) => statement(server("plant"), sql),
    kill,
    async start() {
      child = begin();
      await until(answers, "MariaDB");
    },
    async remove() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function statement(url: string, sql: string): Promise<void> {
  const connection = createConnection({ uri: url, multipleStatements: true });
  connection.on("error", () => {});
  return new Promise<void>((resolve, reject) => {
    connection.query(sql, (problem) => {
      if (problem) reject(problem);
      else resolve();
    });
  }).finally(() => connection.destroy());
}
