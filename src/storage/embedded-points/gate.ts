// Back-pressure: bounds the bytes under way; who comes when it is full waits, first come first served.
export class Gate {
  readonly #bytesMax: number;
  readonly #waiting: { bytes: number; enter: () => void }[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Resolves when there is room; one that is larger than the bound alone enters when nobody else is in. */
  async enter(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#bytes += bytes;
      return;
    }
    await new Promise<void>((enter) => this.#waiting.push({ bytes, enter }));
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
    while (this.#waiting.length > 0 && this.#hasRoom(this.#waiting[0]!.bytes)) {
      const next = this.#waiting.shift()!;
      this.#bytes += next.bytes;
      next.enter();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }
}
