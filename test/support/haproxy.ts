// A real HAProxy before several servers, on loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "./folder.ts";

export const haproxyPackage = {
  command: "haproxy",
  debian: ["haproxy"],
  usedFor: "several servers behind a load balancer",
};

export interface Haproxy {
  readonly baseUrl: string;
  remove(): void;
}

/** Starts HAProxy on this port, before servers on the others. */
export async function startHaproxy(port: number, servers: readonly number[]): Promise<Haproxy> {
  const folder = temporaryFolder();
  const refusal = join(folder, "503.http");
  writeFileSync(refusal, refusalText);
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configuration(port, servers, refusal));
  const child: ChildProcess = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  child.unref();
  process.on("exit", () => child.kill("SIGKILL"));
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (tries > 100) throw new Error("HAProxy does not start");
    await sleep(100);
  }
  return { baseUrl: `http://127.0.0.1:${port}`, remove: () => void child.kill("SIGKILL") };
}

const configuration = (port: number, servers: readonly number[], refusal: string) => {
  const list = servers.map((one, index) => `  server s${index} 127.0.0.1:${one} check`).join("\n");
  return `
defaults
  mode http
  option forwardfor
  timeout connect 1s
  timeout client 130s
  timeout server 130s
  timeout check 2s
  default-server inter 1s fall 2 rise 1
  # A request that reached no server goes to the next one. One that may have been executed does not, unless
  # it changes nothing.
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response response-timeout
  errorfile 502 ${refusal}
  errorfile 503 ${refusal}
  errorfile 504 ${refusal}

frontend clients
  bind 127.0.0.1:${port}
  http-request disable-l7-retry unless METH_GET
  use_backend healthy if { nbsrv(healthy) gt 0 }
  default_backend live

# Servers that reach all stores.
backend healthy
  option httpchk GET /health
${list}

# All servers, while a store is away: requests that do not need it are served.
backend live
  option httpchk GET /health/live
${list}
`;
};

const body = '{"error":{"code":503,"message":"No server is available; repeat the request"}}';
const refusalText = [
  "HTTP/1.0 503 Service Unavailable",
  "Content-Type: application/json",
  "Retry-After: 1",
  "Connection: close",
  "",
  body,
].join("\r\n");

async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
