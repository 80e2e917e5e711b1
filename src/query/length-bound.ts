// Bounds how long the records are together that one response is made of.

/**
 * Stores count the records that they read against it, and end a page early when it is reached; with `refuse`
 * the read fails instead, and a store need not return the records that fit.
 */
export class LengthBound {
  /** In characters. */
  readonly max: number;
  readonly #refuse: (() => never) | undefined;
  #used = 0;
  #cuts = 0;

  constructor(max: number, refuse?: () => never) {
    this.max = max;
    this.#refuse = refuse;
  }

  /** A page never ends early: records beyond the bound are refused. */
  get isRefusing(): boolean {
    return this.#refuse !== undefined;
  }

  /** How long all records are that were read so far. */
  get used(): number {
    return this.#used;
  }

  /** How long further records may be; a page that begins has one record even if there is nothing left. */
  get left(): number {
    return this.max - this.#used;
  }

  /** How many pages ended early. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Counts records that were read; `isCut` when there were more that did not fit. */
  count({ length, isCut }: { readonly length: number; readonly isCut: boolean }): void {
    this.#used += length;
    if (!isCut) return;
    this.#refuse?.();
    this.#cuts += 1;
  }
}

/** The length that each value adds to its characters. */
const lengthOfOther = 8;

/** How long a value of a record is: its share of a page, and of a message of the catalog. */
export const lengthOfValue = (value: unknown): number =>
  lengthOfOther + (typeof value === "string" ? value.length : 0);
