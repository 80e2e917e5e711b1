// A cache from bytes to strings: the names of series are the same in every request.
//
// A new string must be allocated, and hashed at its first lookup. A cached one saves both. Each slot holds
// the last string that was made for it, so a miss costs no more than without the cache.

/** Longer strings are not cached. */
const lengthMax = 255;

export class StringCache {
  readonly #slots: string[];
  readonly #shift: number;

  /** The cache has 2 to the power of `slotsBits` slots. */
  constructor(slotsBits = 16) {
    this.#slots = new Array<string>(2 ** slotsBits).fill("");
    this.#shift = 32 - slotsBits;
  }

  /** The string of these bytes, which are ASCII; `hash` is any 32-bit hash of them. */
  stringOf(bytes: Buffer, { from, to, hash }: { from: number; to: number; hash: number }): string {
    const slot = Math.imul(hash, 0x9e3779b1) >>> this.#shift;
    const cached = this.#slots[slot]!;
    if (cached.length === to - from && equalsAt(bytes, from, cached)) return cached;
    const decoded = bytes.toString("latin1", from, to);
    if (decoded.length <= lengthMax) this.#slots[slot] = decoded;
    return decoded;
  }
}

function equalsAt(bytes: Buffer, from: number, value: string): boolean {
  for (let i = 0; i < value.length; i += 1) if (value.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}
