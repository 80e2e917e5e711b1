// Bounds the memory that request bodies take together: large ones wait for their turn, small ones never do.

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

export class ByteBudget {
  #free: number;
  readonly #uncounted: number;
  readonly #waiting: Waiting[] = [];

  /** `totalBytes` for all; a request for `uncountedBytes` or less is always served at once. */
  constructor(totalBytes: number, uncountedBytes: number) {
    this.#free = totalBytes;
    this.#uncounted = uncountedBytes;
  }

  /** Resolves with a function that gives the bytes back, first come first served; abort leaves the queue. */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    if (bytes <= this.#uncounted) return () => {};
    if (this.#waiting.length > 0 || bytes > this.#free) await this.#turn(bytes, signal);
    else this.#free -= bytes;
    let taken = bytes;
    return () => {
      this.#free += taken;
      taken = 0;
      this.#startWaiting();
    };
  }

  #turn(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#startWaiting();
        reject(signal.reason);
      };
      const waiting = {
        bytes,
        start: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal.throwIfAborted();
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #startWaiting(): void {
    for (let first = this.#waiting[0]; first && first.bytes <= this.#free; first = this.#waiting[0]) {
      this.#free -= first.bytes;
      this.#waiting.shift();
      first.start();
    }
  }
}
