// An index of names for searches by edit distance: tries in flat arrays, two for each length of name.
//
// A search walks a trie with one column of the edit-distance table for each node, so names with a common
// beginning share its columns. A column is a pair of 32-bit vectors of vertical differences (Myers 1999) in a
// band around the diagonal that ends in the last cell (Hyyrö 2003). Along that diagonal the distance never
// falls, and it is a lower bound of the distances of all names below the node: the search skips them once it
// is too great.
//
// A name cut in two has at most one edit in its last part, or at least two of them and so two fewer in its
// first part. So a walk that permits two edits fewer in the first part, and one through the names written
// backwards that permits one edit in the last part, find all names. Of names with numbers at their ends both
// see a third of the nodes that a single walk sees; of others they see more, so the first searches try both
// ways.

import { invariant } from "../../lib/invariant.ts";
import { TextColumn } from "../../lib/text-order.ts";
import { limits } from "../../limits.ts";

/** The greatest distance that fits in a band of 32 bits, with spare bits on both sides. */
const distanceMax = 10;
invariant(limits.tagEditsMax <= distanceMax, "every score of a match is within the band");

/** The bit of a column at which text and pattern have the same length. */
const centre = 15;

/** The most edits in the last part of a name, in the walk through reversed names. */
const editsInLast = 1;
/** Below this distance a single walk visits few nodes. */
const twoWalksMin = editsInLast + 2;
/** The cost of a character of a pattern before the walks, in nodes: it sets 64 bits. */
const costOfCharacter = 8;
/**
 * The number of searches for each distance that try both ways, and the relative cost of a node in two
 * walks.
 */
const searchesTried = 8;
const costOfTwoWalks = 1.5;

/** Sorted names of one length as a trie in preorder. */
interface Trie {
  /**
   * For each node its depth and character in one word, then the index of the next node outside its subtree.
   */
  readonly nodes: Int32Array;
  /** For each node at full depth, the index of its name. */
  readonly ends: Int32Array;
  /** The number of nodes of each depth. */
  readonly widths: Int32Array;
}

/** The names of one length, with their indexes among all names. */
class NamesOfLength {
  readonly length: number;
  readonly #names: TextColumn;
  readonly #numbers: Int32Array;
  readonly forward: Trie;
  #both: { readonly backward: Trie; readonly split: number } | undefined;

  constructor(length: number, names: readonly string[], numbers: Int32Array) {
    this.length = length;
    this.#names = TextColumn.of(names);
    this.#numbers = numbers;
    this.forward = trieOf(length, this.#names, numbers);
  }

  /** The trie of the reversed names, and the first depth at which it is as wide as the other trie. */
  get both(): { readonly backward: Trie; readonly split: number } {
    if (this.#both) return this.#both;
    const { length, forward } = this;
    const backward = trieOf(length, this.#names.reversed(), this.#numbers);
    let split = 0;
    while (split < length && forward.widths[split]! < backward.widths[length - split]!) split++;
    this.#both = { backward, split };
    return this.#both;
  }
}

/** A hit as one number: the number of edits, then the index of the name. */
export const hitOf = (number: number, edits: number) => (edits << numberBits) | number;
export const editsOf = (hit: number) => hit >>> numberBits;
export const numberOf = (hit: number) => hit & ((1 << numberBits) - 1);
const numberBits = 20;
invariant(limits.tagNamesPerBatch < 2 ** numberBits, "each name of a batch has a number");

/** Finds distinct names by their distance from a pattern. */
export class NameTrie {
  readonly #lengths: readonly NamesOfLength[];
  /**
   * A column of three numbers for each depth: positive and negative differences, and the distance on the
   * diagonal.
   */
  readonly #columns: Int32Array;
  /** For each character the start of its row among those of the pattern; row 0 has no bits. */
  readonly #rowOf = new Int32Array(2 ** 16);
  /** The hits of the current search, and for each name the last search that found it. */
  readonly #hits: Int32Array;
  #hitCount = 0;
  readonly #foundBy: Int32Array;
  #searches = 0;
  /** By distance: the number of searches with one walk and with two, and the nodes they visited. */
  readonly #tried = Array.from({ length: distanceMax + 1 }, () => [
    { searches: 0, seen: 0 },
    { searches: 0, seen: 0 },
  ]);

  constructor(names: readonly string[]) {
    const byLength = Map.groupBy(names.keys(), (number) => names[number]!.length);
    this.#lengths = [...byLength].map(([length, numbers]) => {
      const some = numbers.map((number) => names[number]!);
      return new NamesOfLength(length, some, Int32Array.from(numbers));
    });
    this.#columns = new Int32Array(3 * (1 + Math.max(0, ...byLength.keys())));
    this.#hits = new Int32Array(names.length);
    this.#foundBy = new Int32Array(names.length);
  }

  /**
   * Returns a hit for every name whose distance from the pattern is within the bounds, at most
   * `distanceMax`. The hits are valid until the next search. Yields the number of compared characters.
   */
  *search(
    pattern: string,
    { least, most }: { readonly least: number; readonly most: number },
  ): Generator<number, Int32Array> {
    const rowLength = pattern.length + most + 1;
    const rows = this.#numberRows(pattern, rowLength);
    const forward = this.#equalsOf(pattern, rows, rowLength);
    const backward = this.#equalsOf(pattern.split("").reverse().join(""), rows, rowLength);
    this.#hitCount = 0;
    this.#searches += 1;
    const tried = this.#wayFor(most);
    const isTwice = tried === this.#tried[most]![1];
    tried.searches += 1;
    try {
      yield pattern.length * costOfCharacter;
      for (const names of this.#lengths) {
        const { length } = names;
        const longer = pattern.length - length;
        if (Math.abs(longer) > most) continue;
        const all = { length, longer, least, most };
        const split = isTwice ? names.both.split : 0;
        const first = { ...all, split, mostAtSplit: most - 1 - editsInLast };
        let seen = this.#walk(names.forward, forward, first);
        const last = { ...all, split: length - split, mostAtSplit: editsInLast };
        if (isTwice) seen += this.#walk(names.both.backward, backward, last);
        tried.seen += seen;
        yield seen;
      }
    } finally {
      for (let at = 0; at < pattern.length; at++) this.#rowOf[pattern.charCodeAt(at)] = 0;
    }
    return this.#hits.subarray(0, this.#hitCount);
  }

  /** The way that visits the fewest nodes, by earlier searches of this distance. */
  #wayFor(most: number) {
    const [once, twice] = this.#tried[most]! as [Tried, Tried];
    if (most < twoWalksMin || once.searches < searchesTried) return once;
    if (twice.searches < searchesTried) return twice;
    return (costOfTwoWalks * twice.seen) / twice.searches < once.seen / once.searches ? twice : once;
  }

  /** Returns the number of visited nodes. */
  #walk({ nodes, ends }: Trie, equals: Int32Array, walk: Walk): number {
    const { length, longer, least, most, split, mostAtSplit } = walk;
    const [columns, rowOf] = [this.#columns, this.#rowOf];
    const diagonal = centre + longer;
    columns[0] = -1 << centre;
    columns[1] = 0;
    columns[2] = Math.abs(longer);
    if (length === 0 && columns[2] >= least) this.#keep(ends[0]!, columns[2]);
    let seen = 0;
    for (let at = 0; at < nodes.length; seen += 1) {
      const node = nodes[at]!;
      const depth = node >>> 16;
      const equal = equals[rowOf[node & 0xffff]! + depth]!;
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
      const nextUp = (same & up) | ~(below | right);
      const nextDown = below & right;
      columns[column] = nextUp;
      columns[column + 1] = nextDown;
      columns[column + 2] = distance;
      if (distance > mostAtSplit && depth <= split && depth + longer > 0) {
        if (
          !isNearAbove(nextUp << (32 - diagonal), nextDown << (32 - diagonal), distance, walk) &&
          !isNearBelow(nextUp >>> diagonal, nextDown >>> diagonal, distance, walk)
        ) {
          at = nodes[at + 1]!;
          continue;
        }
      }
      if (depth === length && distance >= least) this.#keep(ends[at >>> 1]!, distance);
      at += 2;
    }
    return seen;
  }

  /** Two walks may find a name twice. */
  #keep(number: number, edits: number): void {
    if (this.#foundBy[number] === this.#searches) return;
    this.#foundBy[number] = this.#searches;
    this.#hits[this.#hitCount++] = hitOf(number, edits);
  }

  /** Assigns each character of the pattern a row of `rowLength`; returns the number of rows. */
  #numberRows(pattern: string, rowLength: number): number {
    let rows = 1;
    for (let at = 0; at < pattern.length; at++) {
      const character = pattern.charCodeAt(at);
      if (this.#rowOf[character] === 0) this.#rowOf[character] = rowLength * rows++;
    }
    return rows;
  }

  /**
   * The positions of each character in the pattern, as the bits of a column: a row of columns for each
   * character.
   */
  #equalsOf(pattern: string, rows: number, rowLength: number): Int32Array {
    const equals = new Int32Array(rows * rowLength);
    for (let at = 0; at < pattern.length; at++) {
      const row = this.#rowOf[pattern.charCodeAt(at)]!;
      const last = at + 1 + centre;
      for (let depth = Math.max(1, last - 31); depth <= Math.min(last, rowLength - 1); depth++)
        equals[row + depth]! |= 1 << (last - depth);
    }
    return equals;
  }
}

interface Tried {
  searches: number;
  seen: number;
}

interface Walk {
  /** The length of the names, and how much longer the pattern is. */
  readonly length: number;
  readonly longer: number;
  readonly least: number;
  readonly most: number;
  /** Down to this depth only `mostAtSplit` edits are permitted. */
  readonly split: number;
  readonly mostAtSplit: number;
}

/**
 * Whether a cell of the column above the diagonal has at most `mostAtSplit` edits, and leads back to the
 * diagonal with at most `most`: each step away from the diagonal is an edit that another one undoes. The
 * differences start at the highest bit; `distance` is the distance on the diagonal.
 */
function isNearAbove(up: number, down: number, distance: number, { most, mostAtSplit }: Walk): boolean {
  for (let edits = distance, steps = 1; ; steps++, up <<= 1, down <<= 1) {
    edits -= (up >>> 31) - (down >>> 31);
    if (edits + steps > most) return false;
    if (edits <= mostAtSplit) return true;
  }
}

/** The same below the diagonal; the differences start at the lowest bit. */
function isNearBelow(up: number, down: number, distance: number, { most, mostAtSplit }: Walk): boolean {
  for (let edits = distance, steps = 1; ; steps++, up >>>= 1, down >>>= 1) {
    edits += (up & 1) - (down & 1);
    if (edits + steps > most) return false;
    if (edits <= mostAtSplit) return true;
  }
}

/** The names must all have this length. */
function trieOf(length: number, names: TextColumn, numbers: Int32Array): Trie {
  const order = names.order();
  const shared = new Int32Array(names.count);
  for (let at = 1; at < names.count; at++) shared[at] = sharedLength(names, order[at - 1]!, order[at]!);
  const size = shared.reduce((sum, one) => sum + length - one, 0);
  const nodes = new Int32Array(2 * size);
  const ends = new Int32Array(Math.max(1, size));
  const widths = new Int32Array(length + 1);
  const open = new Int32Array(length + 1);
  let at = 0;
  const close = (depthMin: number) => {
    for (let depth = depthMin; depth <= length; depth++) nodes[open[depth]! + 1] = at;
  };
  for (let place = 0; place < names.count; place++) {
    const which = order[place]!;
    const from = shared[place]! + 1;
    if (place > 0) close(from);
    for (let depth = from; depth <= length; depth++, at += 2) {
      nodes[at] = (depth << 16) | names.units[which * length + depth - 1]!;
      widths[depth]! += 1;
      open[depth] = at;
    }
    ends[Math.max(0, (at >>> 1) - 1)] = numbers[which]!;
  }
  close(1);
  return { nodes, ends, widths };
}

function sharedLength({ units, starts }: TextColumn, one: number, other: number): number {
  const [from, to] = [starts[one]!, starts[one + 1]!];
  const beside = starts[other]! - from;
  let at = from;
  while (at < to && units[at] === units[at + beside]) at += 1;
  return at - from;
}
