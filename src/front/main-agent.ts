// The connections of a front thread to the Unix socket of the main thread.
import { Agent, type AgentOptions } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { limits } from "../limits.ts";

type Connected = (problem: Error | null, socket: Duplex) => void;

/**
 * A Unix socket refuses connections (EAGAIN) while its queue is full: when thousands of requests come at
 * once, or the main thread is busy. The agent tries again, as the system does for connections of clients.
 */
export class MainAgent extends Agent {
  readonly #socketPath: string;

  constructor(socketPath: string, options: AgentOptions) {
    super(options);
    this.#socketPath = socketPath;
  }

  override createConnection(_options: unknown, connected: Connected): undefined {
    this.#connect(performance.now() + limits.requestMsMax, connected);
  }

  #connect(untilMs: number, connected: Connected): void {
    const socket = connect(this.#socketPath);
    const failed = (problem: NodeJS.ErrnoException) => {
      const isQueueFull = problem.code === "EAGAIN" && performance.now() < untilMs;
      if (isQueueFull) setTimeout(() => this.#connect(untilMs, connected), limits.frontConnectEveryMs);
      else connected(problem, socket);
    };
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.off("error", failed);
      connected(null, socket satisfies Socket);
    });
  }
}
