// Ends a request when its response is sent, its client disconnects, or a deadline passes.
import type { ServerResponse } from "node:http";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** Ends a request without a response. */
export class ClientGone extends Error {
  constructor() {
    super("The client went away before the response");
  }
}

/**
 * The status of a response that was not sent whole, for whatever reason. Only the metrics see it: closed
 * connections do not count as server errors.
 */
export const brokenOffStatus = 499;

/** When a client may retry a request that the server was too busy for. */
const retryAfterSeconds = 10;

/** How long a request and its response may take. */
export interface Deadlines {
  /** Until the response begins. */
  readonly requestMs: number;
  /** Between two parts of the response that the client reads. */
  readonly idleMs: number;
  /** From the start of the response to its end. */
  readonly sendMs: number;
}

/** A transfer has no deadline while bytes arrive or leave. */
export const transferDeadlines: Deadlines = {
  requestMs: Number.POSITIVE_INFINITY,
  idleMs: limits.uploadIdleMsMax,
  sendMs: Number.POSITIVE_INFINITY,
};

export const usualDeadlines: Deadlines = {
  requestMs: limits.requestMsMax,
  idleMs: limits.responseIdleMsMax,
  sendMs: limits.responseMsMax,
};

/** One request in progress. */
export class RequestLifetime {
  readonly #response: ServerResponse;
  readonly #deadlines: Deadlines;
  #timer: NodeJS.Timeout | undefined;
  readonly #controller = new AbortController();
  readonly #atEnd: (() => void)[] = [];
  /** Rejects the promise of `within`. */
  #refuse: ((reason: unknown) => void) | undefined;
  #hasEnded = false;

  constructor(response: ServerResponse, deadlines: Deadlines) {
    this.#response = response;
    this.#deadlines = deadlines;
    const { requestMs: limitMs } = deadlines;
    const giveUp = () => this.#abort(fail("deadline", { limitMs, retryAfterSeconds }));
    if (limitMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(giveUp, limitMs);
    // The client may have disconnected while the caller was authenticated.
    if (response.closed) this.#end();
    else response.once("close", () => this.#end());
  }

  #end(): void {
    clearTimeout(this.#timer);
    if (!this.#response.writableFinished) this.#abort(new ClientGone());
    this.#hasEnded = true;
    for (const work of this.#atEnd) work();
  }

  /**
   * Call after the response has been passed to its connection: from now on only `idleMs` and `sendMs` apply.
   * After these the connection is closed, so that the client cannot mistake a part for the whole response.
   * Most responses are in the buffers of the kernel as a whole: then there is nothing to wait for.
   */
  sending(): void {
    const { idleMs, sendMs } = this.#deadlines;
    const response = this.#response;
    const isSent = response.writableEnded && response.writableLength === 0;
    if (this.#hasEnded || isSent) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => response.destroy(), sendMs);
    const { socket } = response;
    if (!socket) return;
    const idle = () => {
      if (response.writableLength > 0) response.destroy();
      else socket.setTimeout(idleMs); // The server is slow, not the client.
    };
    socket.setTimeout(idleMs);
    response.on("timeout", idle);
    // Runs before the server sets its own timeout for the next request.
    response.prependOnceListener("finish", () => socket.setTimeout(0));
  }

  /** Aborted when the client goes away or the deadline passes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs `work` when the response is sent or aborted; at once if that has happened already. */
  atEnd(work: () => void): void {
    if (this.#hasEnded) work();
    else this.#atEnd.push(work);
  }

  /** Returns the result of `work`. Throws `ClientGone` or the refusal (503) if the request ends first. */
  within<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) reject(this.signal.reason);
      this.#refuse = reject;
      work.then(resolve, reject);
    });
  }

  #abort(reason: Error): void {
    this.#controller.abort(reason);
    this.#refuse?.(reason);
  }
}
