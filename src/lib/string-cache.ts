// Finds the text that some bytes spell without making it anew: names of series come again with every request.
//
// A text made from bytes has to be allocated, and hashed when it is first looked up; one that was made before
// has both behind it. A slot holds the text that was last made for it, so that what does not fit only costs
// what it always did.

/** Longer ones are made anew. */
const lengthMax = 255;

export class StringCache {
  readonly #slots: string[];
  readonly #shift: number;

  /** Has 2 to the power of `slotsBits` slots. */
  constructor(slotsBits = 16) {
    this.#slots = new Array<string>(2 ** slotsBits).fill("");
    this.#shift = 32 - slotsBits;
  }

  /** The text of these bytes, all below 128, whose hash is `hash` (any spread of them over 32 bits). */
  stringOf(bytes: Buffer, { from, to, hash }: { from: number; to: number; hash: number }): string {
    const slot = Math.imul(hash, 0x9e3779b1) >>> this.#shift;
    const known = this.#slots[slot]!;
    if (known.length === to - from && spells(known, bytes, from)) return known;
    const made = bytes.toString("latin1", from, to);
    if (made.length <= lengthMax) this.#slots[slot] = made;
    return made;
  }
}

function spells(text: string, bytes: Buffer, from: number): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}
