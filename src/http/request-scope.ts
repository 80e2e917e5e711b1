// How long a request lives: until it is answered, its client goes away, or its deadline passes.
import type { ServerResponse } from "node:http";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** Why a request ends without a response. */
export class ClientGone extends Error {
  constructor() {
    super("The client went away before the response");
  }
}

/** One request under way. */
export class RequestScope {
  readonly #controller = new AbortController();
  readonly #atEnd: (() => void)[] = [];
  /** Refuses who waits for the outcome. */
  #refuse: ((why: unknown) => void) | undefined;
  #hasEnded = false;

  constructor(response: ServerResponse) {
    const giveUp = () => this.#abort(fail("deadline", { limitMs: limits.requestMsMax }));
    const timer = setTimeout(giveUp, limits.requestMsMax);
    response.once("close", () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.#abort(new ClientGone());
      this.#hasEnded = true;
      for (const work of this.#atEnd) work();
    });
  }

  /** Aborted when the client goes away or the deadline passes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Has `work` done when the answer is written or given up; at once when that has happened already. */
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
