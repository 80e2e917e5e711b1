// Bounds the memory of writes in progress: a semaphore that counts bytes, first come first served.

export class ByteBudget {
  readonly #bytesMax: number;
  readonly #waiters: { bytes: number; resolve: () => void }[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Resolves when the bytes fit into the budget; the caller then releases as many. A request that is larger
   * than the whole budget is granted when nothing else is acquired.
   */
  async acquire(bytes: number): Promise<void> {
    if (this.#waiters.length === 0 && this.#fits(bytes)) {
      this.#bytes += bytes;
      return;
    }
    await new Promise<void>((resolve) => this.#waiters.push({ bytes, resolve }));
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    while (this.#waiters.length > 0 && this.#fits(this.#waiters[0]!.bytes)) {
      const next = this.#waiters.shift()!;
      this.#bytes += next.bytes;
      next.resolve();
    }
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }
}
