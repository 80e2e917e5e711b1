// Thrown in a front thread by a request that the main thread has to serve (`src/front/`).

export class NeedsMain extends Error {
  /** The body as it was inflated, if it has been read. */
  body: Buffer | undefined;

  constructor() {
    super("The main thread serves this request");
  }
}
