// The names nearest to each of some tags, found batch by batch, so that memory does not grow with the names.
import { limits } from "../../limits.ts";
import { NameTrie } from "./name-trie.ts";
import { compareMatches, type Match, plainForm } from "./similarity.ts";

interface Named {
  readonly name: string;
  readonly platform: string | undefined;
}

interface Wanted {
  readonly tag: string;
  readonly plain: string;
  readonly found: Map<string, Match>;
  /** The greatest score that can still be among the best. */
  worst: number;
  /** Once there are enough matches: the last of the best. */
  last?: Match;
}

/** Bounds of a search: the greatest score, inclusive, and the number of matches for each tag. */
export interface Bounds {
  readonly scoreMax: number;
  readonly matchesMax: number;
}

/** Characters compared in one step: about 2 ms. */
const charactersPerStep = 200_000;

/** What the plain form of a character costs, in characters compared. */
const plainFormCost = 5;

/** Takes names page by page and keeps the nearest to each tag. */
export class NearestNames {
  readonly #wanted: ReadonlyMap<string, Wanted>;
  readonly #matchesMax: number;
  /** The batch: names by their plain forms, each name of each platform once. */
  #byPlain = new Map<string, Named[]>();
  #keys = new Set<string>();
  #characters = 0;
  /** Characters of the names that were kept as matches since the last step. */
  #kept = 0;

  constructor(tags: readonly string[], { scoreMax, matchesMax }: Bounds) {
    this.#matchesMax = matchesMax;
    this.#wanted = new Map(
      tags.map((tag) => [tag, { tag, plain: plainForm(tag), found: new Map(), worst: scoreMax }]),
    );
  }

  /** Takes a page of names; yields the numbers of characters compared. */
  add(names: readonly Named[]): Generator<number, void> {
    return inSteps(this.#add(names));
  }

  /** The matches of each of these tags, best first, among all names added so far. */
  best(tags: readonly string[]): Generator<number, Match[][]> {
    return inSteps(this.#best(tags));
  }

  *#add(names: readonly Named[]): Generator<number, void> {
    for (const one of names) {
      this.#addToBatch(one);
      yield one.name.length * plainFormCost;
      if (this.#keys.size >= limits.tagNamesPerBatch || this.#characters >= limits.tagBatchCharacters)
        yield* this.#searchBatch();
    }
  }

  *#best(tags: readonly string[]): Generator<number, Match[][]> {
    yield* this.#searchBatch();
    const found: Match[][] = [];
    for (const tag of tags) {
      found.push(this.#bestOf(this.#wanted.get(tag)!));
      yield found.at(-1)!.length * tag.length;
    }
    return found;
  }

  #addToBatch(one: Named): void {
    const key = keyOf(one);
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const plain = plainForm(one.name);
    const same = this.#byPlain.get(plain);
    if (same) same.push(one);
    else {
      this.#byPlain.set(plain, [one]);
      this.#characters += plain.length;
    }
  }

  /** Compares every tag with the batch, and empties it. */
  *#searchBatch(): Generator<number, void> {
    if (this.#keys.size === 0) return;
    const batch = this.#byPlain;
    const trie = new NameTrie(batch.keys());
    yield this.#characters;
    this.#byPlain = new Map();
    this.#keys = new Set();
    this.#characters = 0;
    // Most tags need the same distance, so the search begins at the least that any tag needed.
    let first: number | undefined;
    for (const wanted of this.#wanted.values()) {
      const needed = yield* this.#searchFor(wanted, { batch, trie, first: first ?? 0 });
      first = Math.min(first ?? needed, needed);
    }
  }

  /** Searches at growing distances until there are enough matches; returns the last distance. */
  *#searchFor(wanted: Wanted, { batch, trie, first }: Batch): Generator<number, number> {
    let most = Math.min(first, wanted.worst);
    for (let least = 0; ; least = most) {
      const keepAll = (plain: string, score: number) => {
        for (const one of batch.get(plain)!) this.#keep(wanted, { ...one, score });
      };
      for (const compared of trie.search(wanted.plain, { least, most }, keepAll)) {
        yield compared + this.#kept;
        this.#kept = 0;
      }
      this.#cut(wanted);
      if (most >= wanted.worst) return wanted.worst;
      most += 1;
    }
  }

  #keep(wanted: Wanted, match: Match): void {
    this.#kept += match.name.length;
    if (wanted.last && compareMatches(wanted.tag, match, wanted.last) >= 0) return;
    wanted.found.set(keyOf(match), match);
    if (wanted.found.size >= 2 * this.#matchesMax) this.#cut(wanted);
  }

  /** Forgets the matches beyond those wanted; from then on a match must be better than the last of them. */
  #cut(wanted: Wanted): void {
    if (wanted.found.size < this.#matchesMax) return;
    const best = this.#bestOf(wanted);
    wanted.last = best.at(-1)!;
    wanted.worst = wanted.last.score;
    wanted.found.clear();
    for (const one of best) wanted.found.set(keyOf(one), one);
  }

  #bestOf({ tag, found }: Wanted): Match[] {
    return [...found.values()].sort((a, b) => compareMatches(tag, a, b)).slice(0, this.#matchesMax);
  }
}

interface Batch {
  readonly batch: ReadonlyMap<string, readonly Named[]>;
  readonly trie: NameTrie;
  /** The distance to begin with. */
  readonly first: number;
}

const keyOf = ({ name, platform }: Named): string => JSON.stringify([name, platform]);

/** Joins short steps into longer ones, because each step costs a few microseconds. */
function* inSteps<Result>(steps: Generator<number, Result>): Generator<number, Result> {
  let compared = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) {
      yield compared;
      return step.value;
    }
    compared += step.value;
    if (compared < charactersPerStep) continue;
    yield compared;
    compared = 0;
  }
}
