// A queue in which the caller who has been served least goes first.

interface Waiting<Item> {
  readonly items: Item[];
  /** The virtual time up to which the caller has been served. */
  servedMs: number;
}

/**
 * Start-time fair queueing: callers share the served time equally, however many items each of them has. The
 * items of one caller are in order. A caller that returns has no credit from before.
 */
export class FairQueue<Item> {
  readonly #callers = new Map<string, Waiting<Item>>();
  /** The virtual time at which the last item was served. */
  #virtualMs = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(caller: string, item: Item): void {
    this.#of(caller).items.push(item);
    this.#size += 1;
  }

  /** Removes the next item; undefined if there is none. */
  take(): { readonly caller: string; readonly item: Item } | undefined {
    let next: { readonly caller: string; readonly waiting: Waiting<Item> } | undefined;
    for (const [caller, waiting] of this.#callers) {
      if (waiting.items.length === 0) this.#forgetIfEven(caller, waiting);
      else if (!next || waiting.servedMs < next.waiting.servedMs) next = { caller, waiting };
    }
    if (!next) return undefined;
    this.#size -= 1;
    const { caller, waiting } = next;
    this.#virtualMs = Math.max(waiting.servedMs, this.#virtualMs);
    waiting.servedMs = this.#virtualMs;
    return { caller, item: waiting.items.shift()! };
  }

  /** Adds the time that an item of the caller took. Call it before the next `take`. */
  served(caller: string, tookMs: number): void {
    if (this.#size === 0) {
      if (this.#callers.size > 0) this.#callers.clear();
    } else this.#of(caller).servedMs += tookMs;
  }

  /** A caller that is not ahead of the others equals a new one. */
  #forgetIfEven(caller: string, { servedMs }: Waiting<Item>): void {
    if (servedMs <= this.#virtualMs) this.#callers.delete(caller);
  }

  #of(caller: string): Waiting<Item> {
    let waiting = this.#callers.get(caller);
    if (!waiting) {
      waiting = { items: [], servedMs: this.#virtualMs };
      this.#callers.set(caller, waiting);
    }
    return waiting;
  }
}
