// The bytes for the standard input of a process, in the order in which they are added.

export class ReplyQueue implements AsyncIterable<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
  #hasEnded = false;
  #wake = () => {};

  add(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#wake();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#hasEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
