// A process of the server with low priority, for work on backups. It sends one reply to each message.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { StartRefused } from "../data-folder.ts";

/** The work gets processor time that nothing else needs. */
const niceness = 10;
const exitMsMax = 5_000;

/** The end of a process that cannot do its work. */
export interface FailedReply {
  readonly kind: "failed";
  readonly problem: string;
  /** Whether the problem is a `StartRefused`. */
  readonly isRefusal: boolean;
}

type Reply = { readonly kind: string } | FailedReply;

interface Options<From extends Reply> {
  /** The path of its program. */
  readonly program: string;
  /** For messages: "The process that copies". */
  readonly name: string;
  /** Receives its messages; the result says whether the message was no reply. */
  readonly isProgress: (message: From) => boolean;
}

export class BackgroundProcess<To extends object, From extends Reply> {
  readonly #child: ChildProcess;
  readonly #options: Options<From>;
  #waiting: PromiseWithResolvers<From> | undefined;

  constructor(options: Options<From>) {
    this.#options = options;
    this.#child = fork(options.program, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: ["--no-warnings"],
    });
    this.#child.on("message", (message: From) => this.#receive(message));
    this.#child.on("error", (problem) => this.#waiting?.reject(problem));
    this.#child.on("exit", (code, signal) => {
      const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
      this.#waiting?.reject(new Error(`${options.name} ended ${how}`));
    });
    if (this.#child.pid !== undefined) setPriority(this.#child.pid, niceness);
  }

  /** Throws `StartRefused` if the process does. */
  request(message: To): Promise<Exclude<From, FailedReply>> {
    this.#waiting = Promise.withResolvers<From>();
    this.#child.send(message, (problem) => problem && this.#waiting?.reject(problem));
    return this.#waiting.promise as Promise<Exclude<From, FailedReply>>;
  }

  /** Lets the process clean up, if it runs, and kills it if that takes long. */
  async stop(): Promise<void> {
    await this.#endBy(() => this.#child.connected && this.#child.disconnect());
    await this.end();
  }

  /** Kills the process if it still runs, and waits for its end for a few seconds at most. */
  async end(): Promise<void> {
    await this.#endBy(() => this.#child.kill("SIGKILL"));
    this.#waiting?.reject(new Error(`${this.#options.name} was killed`));
  }

  async #endBy(finish: () => void): Promise<void> {
    const { exitCode, signalCode, pid } = this.#child;
    if (exitCode !== null || signalCode !== null || pid === undefined) return;
    const ended = once(this.#child, "exit");
    finish();
    // A process in a system call of a disk that does not respond ends only after that call.
    await Promise.race([ended, pause(exitMsMax, undefined, { ref: false })]);
  }

  #receive(message: From): void {
    if (this.#options.isProgress(message)) return;
    if (!isFailed(message)) this.#waiting?.resolve(message);
    else {
      const { problem, isRefusal } = message;
      this.#waiting?.reject(isRefusal ? new StartRefused(problem) : new Error(problem));
    }
  }
}

const isFailed = (reply: Reply): reply is FailedReply => reply.kind === "failed";

/**
 * Runs in the process: `stop` ends it with its server. A terminal and systemd send their signals to all
 * processes of a server at once. Then the server decides, or its stop would count as a failure of the work.
 */
export function endWithServer(stop: () => void): void {
  process.on("disconnect", stop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
}

/** The reply of a process that fails with `problem`. */
export const failedBy = (problem: Error): FailedReply => ({
  ...{ kind: "failed", problem: problem.message },
  isRefusal: problem instanceof StartRefused,
});
