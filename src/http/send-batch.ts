// Sends short responses together. Writing to a socket wakes the process that reads it. That takes the server
// as long as a short read. If several responses to one process are written in a row, only the first write has
// to wake it. On two cores, 32 connections of one client get 34.9 k latest points a second with this, and
// 19.1 k without; a proxy on the same machine is such a client, too.
import { limits } from "../limits.ts";

/**
 * The short responses of a thread that are ready. They wait for those that follow in a turn of the event
 * loop.
 */
export class SendBatch {
  readonly #nowMs: () => number;
  #waiting: (() => void)[] = [];
  #sinceMs = 0;
  /** Responses in this turn of the event loop, and in the last one that had any. */
  #count = 0;
  #lastCount = 0;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Call when a response is ready. Returns undefined if the response may be sent at once; otherwise a promise
   * that resolves when to send it. The first response of a turn may be sent at once if the last turn had only
   * one.
   */
  turnToSend(): Promise<void> | undefined {
    if (this.#count === 0) setImmediate(this.#endTurn);
    this.#count += 1;
    if (this.#count === 1 && this.#lastCount <= 1) return undefined;
    if (this.#waiting.length === 0) this.#sinceMs = this.#nowMs();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (this.#waiting.length > 1) this.#sendIfDue();
    return promise;
  }

  /** Call before other work. All responses are sent if it may be long, or if they have waited long enough. */
  beforeWork({ mayBeLong }: { readonly mayBeLong: boolean }): void {
    if (this.#waiting.length === 0) return;
    if (mayBeLong) this.#send();
    else this.#sendIfDue();
  }

  #sendIfDue(): void {
    if (this.#nowMs() - this.#sinceMs >= limits.sendTogetherMs) this.#send();
  }

  readonly #endTurn = (): void => {
    this.#lastCount = this.#count;
    this.#count = 0;
    this.#send();
  };

  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const begin of waiting) begin();
  }
}
