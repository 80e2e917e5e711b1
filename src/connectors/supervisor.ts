// Runs the connectors of a folder as processes beside the server, for small plants.
//
// Each process has an open pipe as its standard input, and stops in order when it ends: also when the server
// is killed, so that no connector is left with a buffer that the next one needs.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../limits.ts";

export interface SupervisorOptions {
  readonly folder: string;
  /** Runs `millrace`; `connect` and its words follow. */
  readonly command: readonly [program: string, ...words: string[]];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A line of a connector, or about it. */
  readonly log: (connector: string, line: string) => void;
}

interface Supervised {
  /** The size and the time of its file. */
  readonly state: string;
  readonly connector: SupervisedConnector;
}

export class ConnectorSupervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #running = new Map<string, Supervised>();
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#watching = this.#watch();
  }

  /** Resolves when all connectors have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    await Promise.all([...this.#running.values()].map(({ connector }) => connector.stop()));
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#follow(await this.#files());
      } catch (problem) {
        this.#options.log(this.#options.folder, `cannot be read: ${(problem as Error).message}`);
      }
      await pause(limits.connectorFilesEveryMs, undefined, { signal }).catch(() => {});
    }
  }

  /** The states of the files by name. */
  async #files(): Promise<Map<string, string>> {
    const { folder, log } = this.#options;
    const names = (await readdir(folder)).filter((name) => [".yaml", ".yml"].includes(extname(name))).sort();
    const left = names.slice(limits.connectorsSupervisedMax);
    if (left.length > 0)
      log(folder, `has more than ${limits.connectorsSupervisedMax} connectors; not run: ${left.join(", ")}`);
    const files = new Map<string, string>();
    for (const name of names.slice(0, limits.connectorsSupervisedMax)) {
      const found = await stat(join(folder, name)).catch(() => undefined);
      if (found?.isFile()) files.set(name, `${found.size}:${found.mtimeMs}`);
    }
    return files;
  }

  /** Stops connectors whose file is gone or has changed, and starts those of new and changed files. */
  async #follow(files: ReadonlyMap<string, string>): Promise<void> {
    const outdated = [...this.#running].filter(([name, { state }]) => files.get(name) !== state);
    for (const [name] of outdated) this.#running.delete(name);
    await Promise.all(outdated.map(([, { connector }]) => connector.stop()));
    for (const [name, state] of files)
      if (!this.#running.has(name) && !this.#stop.signal.aborted)
        this.#running.set(name, { state, connector: new SupervisedConnector(name, this.#options) });
  }
}

/** One file: its process is started again whenever it ends, after longer waits each time. */
class SupervisedConnector {
  readonly #name: string;
  readonly #options: SupervisorOptions;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(name: string, options: SupervisorOptions) {
    this.#name = name;
    this.#options = options;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failed = 0; !signal.aborted; ) {
      const startedMs = performance.now();
      const reason = await this.#runOnce();
      if (signal.aborted) return;
      failed = performance.now() - startedMs > limits.connectorRestartWaitMsMax ? 0 : failed + 1;
      const waitMs = Math.min(limits.connectorRestartWaitMsMax, 500 * 2 ** failed);
      this.#log(`ended with ${reason}; it is started again in ${waitMs / 1_000} s`);
      await pause(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Returns how the process ended. */
  async #runOnce(): Promise<string> {
    const { command, folder, environment } = this.#options;
    const [program, ...words] = command;
    const child = spawn(program, [...words, "connect", join(folder, this.#name), "--supervised"], {
      ...{ cwd: folder, env: environment, stdio: ["pipe", "pipe", "pipe"] },
    });
    const ended = endOf(child);
    this.#log(`started, process ${child.pid}`);
    // The process may end, and close the pipe, while the supervisor writes to it.
    child.stdin.on("error", () => {});
    for (const lines of [child.stdout, child.stderr])
      createInterface({ input: lines }).on("line", (line) => this.#log(line));
    const stop = async () => {
      child.stdin.end();
      const left = new AbortController();
      const waiting = pause(limits.connectorStopMs, true, { signal: left.signal }).catch(() => false);
      if (await Promise.race([waiting, ended.then(() => false)])) child.kill("SIGKILL");
      left.abort();
    };
    this.#stop.signal.addEventListener("abort", stop);
    if (this.#stop.signal.aborted) void stop();
    const reason = await ended;
    this.#stop.signal.removeEventListener("abort", stop);
    return reason;
  }

  #log(line: string): void {
    this.#options.log(this.#name, line);
  }
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [status, signal] = (await once(child, "close")) as [number | null, string | null];
    return signal === null ? `status ${status}` : `signal ${signal}`;
  } catch (problem) {
    return (problem as Error).message;
  }
}
