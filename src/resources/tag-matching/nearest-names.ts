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
  found: Match[];
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
  /** The batch: names by their plain forms, how many they are, and the characters of the plain forms. */
  #byPlain = new Map<string, Named[]>();
  #count = 0;
  #characters = 0;
  /** Characters of the names that were kept as matches since the last step. */
  #kept = 0;

  constructor(tags: readonly string[], { scoreMax, matchesMax }: Bounds) {
    this.#matchesMax = matchesMax;
    this.#wanted = new Map(
      tags.map((tag) => [tag, { tag, plain: plainForm(tag), found: [], worst: scoreMax }]),
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
    let compared = 0;
    for (const one of names) {
      this.#addToBatch(one);
      compared += one.name.length * plainFormCost;
      if (compared >= charactersPerStep) {
        yield compared;
        compared = 0;
      }
      if (this.#count >= limits.tagNamesPerBatch || this.#characters >= limits.tagBatchCharacters)
        yield* this.#searchBatch();
    }
    yield compared;
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
    const plain = plainForm(one.name);
    this.#count += 1;
    const same = this.#byPlain.get(plain);
    if (same) same.push(one);
    else {
      this.#byPlain.set(plain, [one]);
      this.#characters += plain.length;
    }
  }

  /** Compares every tag with the batch, and empties it. */
  *#searchBatch(): Generator<number, void> {
    if (this.#count === 0) return;
    const trie = new NameTrie(this.#byPlain);
    yield this.#characters;
    this.#byPlain = new Map();
    this.#count = 0;
    this.#characters = 0;
    // Most tags need the same distance, so the search begins at the least that any tag needed.
    let first: number | undefined;
    for (const wanted of this.#wanted.values()) {
      const needed = yield* this.#searchFor(wanted, trie, first ?? 0);
      first = Math.min(first ?? needed, needed);
    }
  }

  /**
   * Searches at growing distances, from `first` on, until there are enough; returns the least that was
   * needed.
   */
  *#searchFor(wanted: Wanted, trie: NameTrie<Named[]>, first: number): Generator<number, number> {
    let most = Math.min(first, wanted.worst);
    for (let least = 0; ; least = most) {
      const keepAll = (names: readonly Named[], score: number) => {
        for (const { name, platform } of names) this.#keep(wanted, { name, platform, score });
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
    wanted.found.push(match);
    if (wanted.found.length >= 4 * this.#matchesMax) this.#cut(wanted);
  }

  /** Forgets the matches beyond those wanted; from then on a match must be better than the last of them. */
  #cut(wanted: Wanted): void {
    if (wanted.found.length < this.#matchesMax) return;
    wanted.found = this.#bestOf(wanted);
    if (wanted.found.length < this.#matchesMax) return;
    wanted.last = wanted.found.at(-1)!;
    wanted.worst = wanted.last.score;
  }

  /** The same name of the same platform counts once. */
  #bestOf({ tag, found }: Wanted): Match[] {
    const sorted = found.toSorted((a, b) => compareMatches(tag, a, b));
    const isNew = (one: Match, at: number) => at === 0 || compareMatches(tag, sorted[at - 1]!, one) !== 0;
    return sorted.filter(isNew).slice(0, this.#matchesMax);
  }
}

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
