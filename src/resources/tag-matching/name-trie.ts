// An index of names for searches by edit distance: tries in flat arrays, one for each length of name.
//
// A search walks a trie with one column of the edit-distance table for each node, so names with a common
// beginning share its columns. A column is a pair of 32-bit vectors of vertical differences (Myers 1999) in a
// band around the diagonal that ends in the last cell (Hyyrö 2003). Along that diagonal the distance never
// falls, and it is a lower bound of the distances of all names below the node: the search skips them once it
// is too great.

import { invariant } from "../../lib/invariant.ts";
import { limits } from "../../limits.ts";

/** The greatest distance that a band of 32 bits can hold, with room to spare on both sides. */
const distanceMax = 10;
invariant(limits.tagEditsMax <= distanceMax, "every score of a match is within the band");

/** The bit of a column at which text and pattern are equally long. */
const centre = 15;

/** Sorted names of one length as a trie in preorder. */
interface Trie<Value> {
  readonly length: number;
  readonly values: readonly Value[];
  /**
   * For each node its depth and character in one word, then the place of the next node that is not below it.
   */
  readonly nodes: Int32Array;
  /** For each node at the full length, which value its name has. */
  readonly ends: Int32Array;
}

/** Indexes values by their names. */
export class NameTrie<Value> {
  readonly #tries: readonly Trie<Value>[];
  /**
   * A column of three numbers for each depth: positive and negative differences, the distance on the
   * diagonal.
   */
  readonly #columns: Int32Array;
  /** For each character the row of the pattern's bits; row 0 has none. */
  readonly #rowOf = new Uint16Array(2 ** 16);

  constructor(named: ReadonlyMap<string, Value>) {
    const byLength = Map.groupBy(named.keys(), ({ length }) => length);
    this.#tries = [...byLength].map(([length, names]) => trieOf(length, names.sort(), named));
    this.#columns = new Int32Array(3 * (1 + Math.max(0, ...byLength.keys())));
  }

  /**
   * Calls `found` for the value of every name whose distance from the pattern is within these bounds,
   * `distanceMax` at most; yields the numbers of characters compared.
   */
  *search(
    pattern: string,
    { least, most }: { readonly least: number; readonly most: number },
    found: NameFound<Value>,
  ): Generator<number, void> {
    const rows = this.#rowsOf(pattern);
    try {
      for (const trie of this.#tries) {
        if (Math.abs(pattern.length - trie.length) > most) continue;
        yield rows.bits.length + this.#walk(trie, { pattern, rows, least, most }, found);
      }
    } finally {
      for (let at = 0; at < pattern.length; at++) this.#rowOf[pattern.charCodeAt(at)] = 0;
    }
  }
  /** Returns the number of nodes it has seen. */
  #walk({ length, values, nodes, ends }: Trie<Value>, search: Search, found: NameFound<Value>): number {
    const { pattern, rows, least, most } = search;
    const { bits, words } = rows;
    const [columns, rowOf] = [this.#columns, this.#rowOf];
    const longer = pattern.length - length;
    const diagonal = centre + longer;
    columns[0] = -1 << centre;
    columns[1] = 0;
    columns[2] = Math.abs(longer);
    if (length === 0 && columns[2] >= least) found(values[0]!, columns[2]);
    let seen = 0;
    for (let at = 0; at < nodes.length; seen += 1) {
      const node = nodes[at]!;
      const depth = node >>> 16;
      const word = rowOf[node & 0xffff]! * words + ((depth - 1) >>> 5);
      const turn = (depth - 1) & 31;
      const equal = (bits[word]! >>> turn) | ((bits[word + 1]! << 1) << (31 - turn));
      const column = depth * 3;
      const up = columns[column - 3]!;
      const down = columns[column - 2]!;
      const same = ((((equal & up) + up) | 0) ^ up) | equal | down;
      const before = columns[column - 1]!;
      const distance = depth + longer > 0 ? before + 1 - ((same >>> diagonal) & 1) : before;
      if (distance > most) {
        at = nodes[at + 1]!;
        continue;
      }
      const right = down | ~(same | up);
      const below = same >>> 1;
      columns[column] = (same & up) | ~(below | right);
      columns[column + 1] = below & right;
      columns[column + 2] = distance;
      if (depth === length && distance >= least) found(values[ends[at >>> 1]!]!, distance);
      at += 2;
    }
    return seen;
  }

  /** The places of each character in the pattern, as bits; the pattern begins at bit `centre`. */
  #rowsOf(pattern: string): DistanceRows {
    const words = ((pattern.length + centre + distanceMax) >>> 5) + 2;
    const bits = new Int32Array(words * (1 + new Set(pattern.split("")).size));
    let rows = 0;
    for (let at = 0; at < pattern.length; at++) {
      const character = pattern.charCodeAt(at);
      if (this.#rowOf[character] === 0) this.#rowOf[character] = ++rows;
      const place = at + centre;
      bits[this.#rowOf[character]! * words + (place >>> 5)]! |= 1 << (place & 31);
    }
    return { bits, words };
  }
}

type NameFound<Value> = (value: Value, distance: number) => void;

interface DistanceRows {
  readonly bits: Int32Array;
  /** Of one row. */
  readonly words: number;
}

interface Search {
  readonly pattern: string;
  readonly rows: DistanceRows;
  readonly least: number;
  readonly most: number;
}

/** The sorted names must all have this length. */
function trieOf<Value>(
  length: number,
  names: readonly string[],
  named: ReadonlyMap<string, Value>,
): Trie<Value> {
  const shared = names.map((name, at) => (at === 0 ? 0 : sharedLength(names[at - 1]!, name)));
  const count = shared.reduce((sum, one) => sum + length - one, 0);
  const nodes = new Int32Array(2 * count);
  const ends = new Int32Array(count);
  const open = new Int32Array(length + 1);
  let at = 0;
  const close = (depthMin: number) => {
    for (let depth = depthMin; depth <= length; depth++) nodes[open[depth]! + 1] = at;
  };
  for (const [which, name] of names.entries()) {
    const from = shared[which]! + 1;
    if (which > 0) close(from);
    for (let depth = from; depth <= length; depth++, at += 2) {
      nodes[at] = (depth << 16) | name.charCodeAt(depth - 1);
      open[depth] = at;
    }
    ends[(at >>> 1) - 1] = which;
  }
  close(1);
  return { length, values: names.map((name) => named.get(name)!), nodes, ends };
}

function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}
