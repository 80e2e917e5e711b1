// Finds the names nearest to given tags, batch by batch, so that memory does not grow with the number of
// names.
import { compareText } from "../../lib/text.ts";
import { TextColumn } from "../../lib/text-order.ts";
import { limits } from "../../limits.ts";
import { editsOf, hitOf, NameTrie, numberOf } from "../../query/tags/name-trie.ts";
import { compareMatches, type NameMatch, plainForm } from "../../query/tags/similarity.ts";

interface Named {
  readonly name: string;
  readonly platform: string | undefined;
}

interface NearestQuery {
  readonly tag: string;
  readonly plain: string;
  found: NameMatch[];
  /** The greatest score that can still be among the best matches. */
  worst: number;
  /** The last of the best matches, once there are enough. */
  last?: NameMatch;
}

/** Bounds of a search: the greatest score, inclusive, and the number of matches for each tag. */
export interface Bounds {
  readonly scoreMax: number;
  readonly matchesMax: number;
}

/** Characters compared in one step: about 2 ms. */
const charactersPerStep = 200_000;

/** The cost of normalising a character, in compared characters. */
const plainFormCost = 5;

/** Adds names page by page, and keeps the nearest ones to each tag. */
export class NearestNames {
  readonly #queries: ReadonlyMap<string, NearestQuery>;
  readonly #matchesMax: number;
  /** The batch: names by their normalised form, their number, and the characters of the forms. */
  #byPlain = new Map<string, Named[]>();
  #count = 0;
  #characters = 0;
  /** Characters of the matches that were stored since the last step. */
  #kept = 0;

  constructor(tags: readonly string[], { scoreMax, matchesMax }: Bounds) {
    this.#matchesMax = matchesMax;
    this.#queries = new Map(
      tags.map((tag) => [tag, { tag, plain: plainForm(tag), found: [], worst: scoreMax }]),
    );
  }

  /** Adds a page of names. Yields the number of compared characters. */
  add(names: readonly Named[]): Generator<number, void> {
    return inSteps(this.#add(names));
  }

  /** The matches of each tag, best first, among all names added so far. */
  best(tags: readonly string[]): Generator<number, NameMatch[][]> {
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

  *#best(tags: readonly string[]): Generator<number, NameMatch[][]> {
    yield* this.#searchBatch();
    const found: NameMatch[][] = [];
    for (const tag of tags) {
      found.push(this.#bestOf(this.#queries.get(tag)!));
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
    const batch = new Batch(this.#byPlain);
    yield this.#characters;
    this.#byPlain = new Map();
    this.#count = 0;
    this.#characters = 0;
    // Most tags need the same distance, so each search starts at the smallest distance that a tag needed.
    let first: number | undefined;
    for (const query of this.#queries.values()) {
      const needed = yield* this.#searchFor(query, batch, first ?? 0);
      first = Math.min(first ?? needed, needed);
    }
  }

  /**
   * Searches at growing distances, starting with `first`, until there are enough matches. Returns the
   * smallest distance that was needed.
   */
  *#searchFor(query: NearestQuery, batch: Batch, first: number): Generator<number, number> {
    let most = Math.min(first, query.worst);
    for (let least = 0; ; least = most) {
      const hits = yield* batch.trie.search(query.plain, { least, most });
      for (const hit of batch.best(hits, this.#matchesMax))
        for (const { name, platform } of batch.named[numberOf(hit)]!)
          this.#keep(query, { name, platform, score: editsOf(hit) });
      this.#cut(query);
      yield hits.length + this.#kept;
      this.#kept = 0;
      if (most >= query.worst) return query.worst;
      most += 1;
    }
  }

  #keep(query: NearestQuery, match: NameMatch): void {
    this.#kept += match.name.length;
    if (query.last && compareMatches(query.tag, match, query.last) >= 0) return;
    query.found.push(match);
    if (query.found.length >= 4 * this.#matchesMax) this.#cut(query);
  }

  /** Drops matches beyond the maximum; from then on a match must be better than the last one. */
  #cut(query: NearestQuery): void {
    if (query.found.length < this.#matchesMax) return;
    query.found = this.#bestOf(query);
    if (query.found.length < this.#matchesMax) return;
    query.last = query.found.at(-1)!;
    query.worst = query.last.score;
  }

  /** Repeated names of one platform count once. */
  #bestOf({ tag, found }: NearestQuery): NameMatch[] {
    const sorted = found.toSorted((a, b) => compareMatches(tag, a, b));
    const isNew = (one: NameMatch, at: number) => at === 0 || compareMatches(tag, sorted[at - 1]!, one) !== 0;
    return sorted.filter(isNew).slice(0, this.#matchesMax);
  }
}

/** Names that are searched together. */
class Batch {
  readonly trie: NameTrie;
  /** The names of each normalised form, by the form's index in the trie. */
  readonly named: readonly (readonly Named[])[];
  #order: { readonly placeOf: Int32Array; readonly numberAt: Int32Array } | undefined;

  constructor(byPlain: ReadonlyMap<string, readonly Named[]>) {
    this.trie = new NameTrie([...byPlain.keys()]);
    this.named = [...byPlain.values()];
  }

  /**
   * The best of the hits. A tag can have hundreds of hits, and comparing their numbers takes a tenth of the
   * time of reading their names.
   */
  best(hits: Int32Array, most: number): Int32Array {
    if (hits.length <= most) return hits;
    this.#order ??= this.#ordered();
    const { placeOf, numberAt } = this.#order;
    const best = hits.map((hit) => hitOf(placeOf[numberOf(hit)]!, editsOf(hit))).sort();
    return best.subarray(0, most).map((hit) => hitOf(numberAt[numberOf(hit)]!, editsOf(hit)));
  }

  /** The order of the first names of the normalised forms, and its inverse. */
  #ordered() {
    const lesser = (one: string, other: string) => (compareText(one, other) < 0 ? one : other);
    const first = this.named.map((names) => names.map(({ name }) => name).reduce(lesser));
    const numberAt = TextColumn.of(first).order();
    const placeOf = new Int32Array(numberAt.length);
    for (const [place, which] of numberAt.entries()) placeOf[which] = place;
    return { placeOf, numberAt };
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
