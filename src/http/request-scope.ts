// How long a request lives: until its response is sent, its client goes away, or a deadline passes.
import type { ServerResponse } from "node:http";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** Why a request ends without a response. */
export class ClientGone extends Error {
  constructor() {
    super("The client went away before the response");
  }
}

/** When to try again what found the server too busy. */
const retryAfterSeconds = 10;

/** How long a request and its response may take. */
export interface Deadlines {
  /** Until the response begins. */
  readonly requestMs: number;
  /** Between two parts of the response that its reader takes. */
  readonly idleMs: number;
  /** From the beginning of the response to its end. */
  readonly sendMs: number;
}

/** A transfer takes as long as its bytes move. */
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

/** One request under way. */
export class RequestScope {
  readonly #response: ServerResponse;
  readonly #deadlines: Deadlines;
  #timer: NodeJS.Timeout | undefined;
  readonly #controller = new AbortController();
  readonly #atEnd: (() => void)[] = [];
  /** Refuses who waits for the outcome. */
  #refuse: ((why: unknown) => void) | undefined;
  #hasEnded = false;

  constructor(response: ServerResponse, deadlines: Deadlines) {
    this.#response = response;
    this.#deadlines = deadlines;
    const { requestMs: limitMs } = deadlines;
    const giveUp = () => this.#abort(fail("deadline", { limitMs, retryAfterSeconds }));
    if (limitMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(giveUp, limitMs);
    response.once("close", () => {
      clearTimeout(this.#timer);
      if (!response.writableFinished) this.#abort(new ClientGone());
      this.#hasEnded = true;
      for (const work of this.#atEnd) work();
    });
  }

  /**
   * Call when the response begins: from now on the request lives as long as its reader takes some of it every
   * while. Else the transfer is broken off, so that the reader cannot take a part for the whole.
   */
  sending(): void {
    const { idleMs, sendMs } = this.#deadlines;
    const response = this.#response;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => response.destroy(), sendMs);
    const { socket } = response;
    if (!socket) return;
    const idle = () => {
      if (response.writableLength > 0) response.destroy();
      else socket.setTimeout(idleMs); // The server is slow, not the reader.
    };
    socket.setTimeout(idleMs);
    response.on("timeout", idle);
    // Before the server sets its own time for the next request.
    response.prependOnceListener("finish", () => socket.setTimeout(0));
  }

  /** Aborted when the client goes away or the deadline passes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Has `work` done when the response is sent or given up; at once when that has happened already. */
  atEnd(work: () => void): void {
    if (this.#hasEnded) work();
    else this.#atEnd.push(work);
  }

  /** The outcome of `work`, or the refusal (503) if the deadline comes first. */
  within<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      work.then(resolve, reject);
    });
  }

  #abort(why: Error): void {
    this.#controller.abort(why);
    this.#refuse?.(why);
  }
}
