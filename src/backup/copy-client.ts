// The server's side of the process that copies its data folder.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StartRefused } from "../data-folder.ts";
import type {
  CopyProgress,
  CopyResult,
  CopyTask,
  FromCopyProcess,
  Snapshot,
  ToCopyProcess,
} from "./messages.ts";

const program = fileURLToPath(new URL("./copy-process.ts", import.meta.url));
/** The copy gets processor time that nothing else needs. */
const niceness = 10;
const exitMsMax = 5_000;

type Reply = Exclude<FromCopyProcess, { kind: "progress" }>;

export class CopyClient {
  readonly #child: ChildProcess;
  readonly #onProgress: (progress: CopyProgress) => void;
  #waiting: PromiseWithResolvers<Reply> | undefined;

  private constructor(onProgress: (progress: CopyProgress) => void) {
    this.#onProgress = onProgress;
    this.#child = fork(program, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: ["--no-warnings"],
    });
    this.#child.on("message", (message: FromCopyProcess) => this.#receive(message));
    this.#child.on("error", (problem) => this.#waiting?.reject(problem));
    this.#child.on("exit", (code, signal) => {
      const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
      this.#waiting?.reject(new Error(`The process that copies ended ${how}`));
    });
  }

  /** Starts the process, which opens the folder of backups. Throws `StartRefused` if it cannot. */
  static async start(task: CopyTask, onProgress: (progress: CopyProgress) => void): Promise<CopyClient> {
    const client = new CopyClient(onProgress);
    try {
      if (client.#child.pid !== undefined) setPriority(client.#child.pid, niceness);
      await client.#request({ kind: "start", ...task });
      return client;
    } catch (problem) {
      await client.end();
      throw problem;
    }
  }

  /** Call while no other process can write the catalog. */
  async freezeCatalog(): Promise<boolean> {
    const reply = await this.#request({ kind: "freezeCatalog" });
    return reply.kind === "catalogFrozen" && reply.isFrozen;
  }

  async copy(snapshot: Snapshot): Promise<CopyResult> {
    const reply = await this.#request({ kind: "copy", ...snapshot });
    if (reply.kind !== "done") throw new Error(`broken invariant: ${reply.kind} is no end of a copy`);
    return reply.result;
  }

  /** Kills the process if it still runs, and waits for its end for a few seconds at most. */
  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null || this.#child.pid === undefined) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    // A process in a system call of a disk that does not respond ends only after that call.
    await Promise.race([ended, pause(exitMsMax, undefined, { ref: false })]);
  }

  #request(message: ToCopyProcess): Promise<Reply> {
    this.#waiting = Promise.withResolvers<Reply>();
    this.#child.send(message, (problem) => problem && this.#waiting?.reject(problem));
    return this.#waiting.promise;
  }

  #receive(message: FromCopyProcess): void {
    if (message.kind === "progress") this.#onProgress(message.progress);
    else if (message.kind !== "failed") this.#waiting?.resolve(message);
    else {
      const { problem, isRefusal } = message;
      this.#waiting?.reject(isRefusal ? new StartRefused(problem) : new Error(problem));
    }
  }
}
