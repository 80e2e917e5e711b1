// The lines of a write that were not stored, for the error message.

/** Reasons that a message lists. */
const reasonsShown = 5;

export class RefusedLines {
  readonly #reasons: string[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Counts a line once; `reason` is called for the first lines only. */
  add(line: number, reason: () => string): void {
    this.#count += 1;
    if (this.#count <= reasonsShown) this.#reasons.push(`line ${line}: ${reason()}`);
  }

  /** `line 3: unable to parse 'cpu value=': missing field value dropped=1`, as InfluxDB ends it. */
  get message(): string {
    const more = this.#count - this.#reasons.length;
    const reasons = more > 0 ? [...this.#reasons, `and ${more} more lines`] : this.#reasons;
    return `${reasons.join("; ")} dropped=${this.#count}`;
  }
}
