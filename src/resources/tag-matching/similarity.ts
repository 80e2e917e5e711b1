// How alike tags are that plants write in different ways, and the names that come nearest to some of them.
import { distance } from "fastest-levenshtein";
import { compareText, foldCase } from "../../lib/text.ts";

export interface Match {
  readonly name: string;
  readonly platform: string | undefined;
  /** Single-letter edits between the plain forms of tag and name; 0 is the best. */
  readonly score: number;
}

/**
 * What counts of a tag: its runs of letters and of digits, without case, leading zeros and separators, joined
 * by `-`. `21-PT-0019`, `21_pt_19` and `21PT19` are all `21-pt-19`; `1-12` and `11-2` stay different.
 */
export const plainForm = (tag: string): string =>
  (foldCase(tag.normalize("NFKC")).match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [])
    .map((run) => run.replace(/^0+(?=.)/, ""))
    .join("-");

interface Wanted {
  readonly tag: string;
  readonly plain: string;
  readonly letters: number;
  readonly found: Map<string, Match>;
  /** The greatest score that can still be among the best. */
  worst: number;
  /** Once there are more matches than wanted: the last of those that are kept. */
  last?: Match;
}

/** Takes in names one by one, and keeps the nearest to each of some tags. */
export class NearestNames {
  readonly #wanted: readonly Wanted[];
  readonly #matchesMax: number;

  /** `scoreMax` is inclusive; `matchesMax` is for each tag. */
  constructor(tags: readonly string[], bounds: { readonly scoreMax: number; readonly matchesMax: number }) {
    this.#matchesMax = bounds.matchesMax;
    this.#wanted = tags.map((tag) => {
      const plain = plainForm(tag);
      return { tag, plain, letters: lettersIn(plain), found: new Map(), worst: bounds.scoreMax };
    });
  }

  /** The same name of the same platform counts once. */
  offer(name: string, platform: string | undefined): void {
    const plain = plainForm(name);
    const letters = lettersIn(plain);
    for (const wanted of this.#wanted) {
      const { worst } = wanted;
      // Most names are ruled out by two comparisons of numbers: an edit changes the length by one at most,
      // and takes away one letter and brings in one at most.
      if (Math.abs(plain.length - wanted.plain.length) > worst) continue;
      if (bitsIn(letters ^ wanted.letters) > 2 * worst) continue;
      const score = distance(plain, wanted.plain);
      if (score <= worst) this.#keep(wanted, { name, platform, score });
    }
  }

  /** In the order of the tags, for each its matches, best first. */
  best(): Match[][] {
    return this.#wanted.map((wanted) => this.#bestOf(wanted));
  }

  #keep(wanted: Wanted, match: Match): void {
    if (wanted.last && compareMatches(wanted.tag, match, wanted.last) >= 0) return;
    wanted.found.set(keyOf(match), match);
    if (wanted.found.size < 2 * this.#matchesMax) return;
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

const keyOf = ({ name, platform }: Match): string => JSON.stringify([name, platform]);

/** By score; then names that are the tag to the letter, then by name and platform. */
function compareMatches(tag: string, a: Match, b: Match): number {
  return (
    a.score - b.score ||
    Number(b.name === tag) - Number(a.name === tag) ||
    compareText(a.name, b.name) ||
    compareText(a.platform ?? "", b.platform ?? "") ||
    Number(b.platform === undefined) - Number(a.platform === undefined)
  );
}

/** A bit for each letter there is; letters that share a bit only make texts look more alike. */
function lettersIn(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31);
  return letters;
}

/** How many bits are set. */
function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
