// Real PostgreSQL servers for tests, on loopback, and a new database for each catalog.
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { folderInMemory } from "./folder.ts";
import { freePort } from "./free-port.ts";

/** The folder with the programs of PostgreSQL: that of the environment, else the newest that Debian has. */
function programs(): string {
  const { POSTGRES_BIN: given } = process.env;
  if (given !== undefined) return given;
  const debian = "/usr/lib/postgresql";
  const [newest] = readdirSync(debian).sort((a, b) => Number(b) - Number(a));
  return join(debian, newest!, "bin");
}

/** PostgreSQL refuses to run as root. */
function otherUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const found =
    lines.find((line) => line.startsWith("postgres:")) ?? lines.find((line) => /^nobody:/.test(line));
  const [, , uid, gid] = found!.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

export interface PostgresServer {
  readonly port: number;
  /** The parent of the processes of its connections. */
  readonly processId: number;
  url(database: string): string;
  /** Ends it as a crash does, or waits for its clients. */
  stop(how?: "immediate" | "fast"): void;
  start(): void;
  /** Makes a primary of a standby. */
  promote(): void;
  /** Stops it and removes its files. */
  remove(): void;
}

interface PostgresOptions {
  /** Without it a power cut would lose data, which no test makes. */
  readonly fsync?: boolean;
  /** The name of the standby that each commit waits for. */
  readonly waitsFor?: string;
  /** Makes a standby of this primary, which it follows as `name`. */
  readonly standbyOf?: { readonly primary: PostgresServer; readonly name: string };
}

/** A server with an empty cluster, or a standby of another one. */
export async function startPostgres(given: PostgresOptions = {}): Promise<PostgresServer> {
  const { fsync = false, waitsFor = "", standbyOf } = given;
  const [bin, user, port] = [programs(), otherUser(), await freePort()];
  const folder = join(folderInMemory(), "postgres");
  mkdirSync(folder);
  if (user.uid !== undefined) {
    chownSync(join(folder, ".."), user.uid, user.gid!);
    chownSync(folder, user.uid, user.gid!);
  }
  const data = join(folder, "data");
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(bin, program), args, { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  if (standbyOf === undefined)
    run("initdb", [
      "-D",
      data,
      "-U",
      "millrace",
      "-A",
      "trust",
      "-E",
      "UTF8",
      "--locale=C.UTF-8",
      "--no-sync",
    ]);
  else {
    const { primary, name } = standbyOf;
    const from = `host=127.0.0.1 port=${primary.port} user=millrace application_name=${name}`;
    run("pg_basebackup", ["-D", data, "-d", from, "-R", "-X", "stream", "-c", "fast", "--no-sync"]);
  }
  const options = [
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=400`,
    `-c fsync=${fsync ? "on" : "off"} -c full_page_writes=${fsync ? "on" : "off"} -c shared_buffers=64MB`,
    `-c synchronous_standby_names=${waitsFor}`,
  ].join(" ");
  const server: PostgresServer = {
    port,
    get processId() {
      return Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    },
    url: (database) => `postgres://millrace@127.0.0.1:${port}/${database}`,
    start: () => {
      run("pg_ctl", ["-D", data, "-o", options, "-l", join(folder, "log"), "-w", "start"]);
    },
    stop: (how = "immediate") => {
      const args = ["-D", data, "-m", how, "-w", "stop"];
      spawnSync(join(bin, "pg_ctl"), args, { ...user, cwd: folder, stdio: "ignore" });
    },
    promote: () => run("pg_ctl", ["-D", data, "-w", "promote"]),
    remove: () => {
      if (existsSync(join(data, "postmaster.pid"))) server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  server.start();
  process.on("exit", server.remove);
  return server;
}

let shared: Promise<string> | undefined;

/** The server of this process, or that of the environment, where tests make their databases. */
function sharedServer(): Promise<string> {
  const { TEST_POSTGRES: given } = process.env;
  shared ??=
    given !== undefined ? Promise.resolve(given) : startPostgres().then(({ url }) => url("postgres"));
  return shared;
}

let count = 0;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** A new, empty database. */
export async function newDatabase(): Promise<TestDatabase> {
  const server = await sharedServer();
  const name = `test_${process.pid}_${++count}`;
  await statement(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => statement(server, `drop database ${name} with (force)`) };
}

/** Runs a statement on a connection of its own. */
export async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text);
  await client.end();
}
