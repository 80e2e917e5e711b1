// Delays requests that arrive after the port is open and before the start is complete.
import type { FastifyInstance } from "fastify";

/** Delays each request until `release`. */
export class HeldRequests {
  readonly #released = Promise.withResolvers<void>();
  #isReleased = false;

  constructor(http: FastifyInstance) {
    http.addHook("onRequest", () => this.#released.promise);
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  release(): void {
    this.#isReleased = true;
    this.#released.resolve();
  }
}
