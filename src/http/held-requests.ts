// Delays requests that arrive after the port is open and before the start is complete.
import type { FastifyInstance } from "fastify";

/** Delays each request until `release`. */
export class HeldRequests {
  readonly #released = Promise.withResolvers<void>();
  #isReleased = false;

  constructor(http: FastifyInstance) {
    http.addHook("onRequest", (_request, _reply, done) => {
      if (this.#isReleased) done();
      else void this.#released.promise.then(() => done());
    });
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  release(): void {
    this.#isReleased = true;
    this.#released.resolve();
  }
}
