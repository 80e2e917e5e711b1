// The connections of a front thread to the Unix socket of the main thread.
import { Agent, type AgentOptions } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { limits } from "../limits.ts";

type Connected = (problem: Error | null, socket: Duplex) => void;

interface Attempt {
  readonly untilMs: number;
  readonly connected: Connected;
}

/** So many of those that wait try again at a time. */
const attemptsAtOnce = 16;

/**
 * A Unix socket refuses connections (EAGAIN) while its queue is full: when thousands of requests come at
 * once, or the main thread is busy. The agent tries again, as the system does for connections of clients.
 */
export class MainAgent extends Agent {
  readonly #socketPath: string;
  #waiting: Attempt[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(socketPath: string, options: AgentOptions) {
    super(options);
    this.#socketPath = socketPath;
  }

  override createConnection(_options: unknown, connected: Connected): undefined {
    this.#connect({ untilMs: performance.now() + limits.requestMsMax, connected });
  }

  #connect(attempt: Attempt): void {
    const { untilMs, connected } = attempt;
    const socket = connect(this.#socketPath);
    const failed = (problem: NodeJS.ErrnoException) => {
      if (problem.code === "EAGAIN" && performance.now() < untilMs) this.#wait(attempt);
      else connected(problem, socket);
    };
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.off("error", failed);
      connected(null, socket);
      this.#tryAgain();
    });
  }

  #wait(attempt: Attempt): void {
    this.#waiting.push(attempt);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tryAgain();
    }, limits.frontConnectEveryMs);
  }

  /** Some at a time: each attempt costs about 0.1 ms, and the next ones follow as soon as these succeed. */
  #tryAgain(): void {
    for (const attempt of this.#waiting.splice(0, attemptsAtOnce)) this.#connect(attempt);
  }
}
