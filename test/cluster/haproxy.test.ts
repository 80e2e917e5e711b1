// HAProxy before two servers, with the configuration of deploy/: one is killed, the other is stopped, under
// load. No idempotent request fails, and nothing acknowledged is lost.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { skipWithout } from "../../scripts/system-packages.ts";
import { temporaryFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { newDatabase } from "../support/postgres.ts";
import { endLeftProcesses, serveMillrace } from "../support/process.ts";

const skip = skipWithout("postgresql") || skipWithout("haproxy");
const adminKey = "a-key-of-this-test-with-enough-letters";
const readers = 4;
const writers = 2;

type Server = Awaited<ReturnType<typeof serveMillrace>>;

describe("HAProxy before two servers", { skip }, () => {
  let api: string;
  let start: (index: 0 | 1) => Promise<Server>;
  let proxy: ChildProcess | undefined;
  const servers: Server[] = [];

  before(async () => {
    const catalog = (await newDatabase()).url;
    const ports = [await freePort(), await freePort()] as const;
    const folders = [temporaryFolder(), temporaryFolder()] as const;
    start = (index) => {
      const settings = { MILLRACE_CATALOG: catalog, MILLRACE_PORT: String(ports[index]) };
      return serveMillrace({ ...settings, MILLRACE_ADMIN_KEY: adminKey }, folders[index]);
    };
    servers.push(await start(0), await start(1));
    const proxyPort = await freePort();
    proxy = await startHaproxy(proxyPort, ports);
    api = `http://127.0.0.1:${proxyPort}/api/0.6/projects/default`;
  });
  after(() => {
    proxy?.kill();
    endLeftProcesses();
  });

  test("kill -9 of one, its start, and the stop of the other", async (t) => {
    const load = new Load(api);
    const running = load.run();
    await load.until(200);
    servers[0]!.child.kill("SIGKILL");
    await servers[0]!.ended;
    await load.until(200);
    servers[0] = await start(0);
    while ((await serversUp()) < 2) await pause(50);
    servers[1]!.child.kill("SIGTERM");
    await servers[1]!.ended;
    await load.until(200);
    load.stop();
    await running;
    t.diagnostic(
      `${load.reads} reads, ${load.acknowledged.length} writes, failed writes: ${load.failedWrites}`,
    );
    assert.deepEqual(load.failedReads, []);
    assert.ok(load.brokenReads <= readers, `${load.brokenReads} responses broke off`);
    assert.ok(load.failedWrites.length <= 2 * writers, `${load.failedWrites}`);
    for (const status of load.failedWrites) assert.ok([502, 503].includes(status), `${status}`);
    const names = await load.names();
    for (const name of load.acknowledged) assert.ok(names.has(name), `${name} is lost`);
    assert.equal(names.size, names.total, "nothing is stored twice");
  });
});

/** Reads and creations of assets without a pause. */
class Load {
  readonly #api: string;
  #isStopped = false;
  reads = 0;
  brokenReads = 0;
  readonly failedReads: string[] = [];
  readonly failedWrites: number[] = [];
  readonly acknowledged: string[] = [];

  constructor(api: string) {
    this.#api = api;
  }

  async run(): Promise<void> {
    const reading = Array.from({ length: readers }, () => this.#read());
    const writing = Array.from({ length: writers }, (_, index) => this.#write(index));
    await Promise.all([...reading, ...writing]);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Waits for so many more reads. */
  async until(more: number): Promise<void> {
    const target = this.reads + more;
    while (this.reads < target) await pause(20);
  }

  async names() {
    const names = new Set<string>();
    let total = 0;
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const response = await this.#ask(`/assets?limit=1000${cursor && `&cursor=${cursor}`}`);
      const { data } = (await response.json()) as {
        data: { items: { name: string }[]; nextCursor?: string };
      };
      for (const { name } of data.items) names.add(name);
      total += data.items.length;
      cursor = data.nextCursor;
    }
    return Object.assign(names, { total });
  }

  #ask(path: string, body?: unknown): Promise<Response> {
    return fetch(this.#api + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "api-key": adminKey },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async #read(): Promise<void> {
    while (!this.#isStopped)
      try {
        const response = await this.#ask("/assets?limit=1");
        const text = await response.text();
        if (response.status !== 200) this.failedReads.push(`${response.status} ${text.slice(0, 200)}`);
        this.reads++;
      } catch {
        this.brokenReads++; // The server was killed while it sent the response.
      }
  }

  async #write(writer: number): Promise<void> {
    for (let i = 0; !this.#isStopped; i++) {
      const name = `asset ${writer} ${i}`;
      // Without a response, as 502: HAProxy closes the connection.
      const { status } = await this.#ask("/assets", { items: [{ name }] }).catch(() => ({ status: 502 }));
      if (status === 200 || status === 201) this.acknowledged.push(name);
      else this.failedWrites.push(status);
      await pause(10);
    }
  }
}

const stateFolder = temporaryFolder();
const stateSocket = join(stateFolder, "state.sock");

/** How many servers HAProxy sends requests to. */
async function serversUp(): Promise<number> {
  const socket = connect(stateSocket);
  socket.end("show stat\n");
  const rows = (await text(socket)).split("\n").map((line) => line.split(","));
  return rows.filter(
    ([proxy, name, ...fields]) => proxy === "servers" && name !== "BACKEND" && fields[15] === "UP",
  ).length;
}

/** Runs the configuration of deploy/ with other addresses, and a socket that tells its state. */
async function startHaproxy(port: number, servers: readonly [number, number]): Promise<ChildProcess> {
  const settings = readFileSync(new URL("../../deploy/haproxy.cfg", import.meta.url), "utf8")
    .replace("global\n", `global\n    stats socket ${stateSocket} mode 600\n`)
    .replace("bind :8080", `bind 127.0.0.1:${port}`)
    .replace("millrace1:8787", `127.0.0.1:${servers[0]}`)
    .replace("millrace2:8787", `127.0.0.1:${servers[1]}`);
  assert.ok(!settings.includes(":8787"));
  const file = join(stateFolder, "haproxy.cfg");
  writeFileSync(file, settings);
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  for (let tries = 0; ; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined);
    if (response?.status === 200) return child;
    assert.ok(tries < 200 && child.exitCode === null, "HAProxy does not serve");
    await pause(50);
  }
}
