// Functions that find records by name: `asset_id`, `series_id` and `match_tag`.
import { limits } from "../../limits.ts";
import { editsOf, NameTrie, numberOf } from "../../query/tags/name-trie.ts";
import { plainForm } from "../../query/tags/similarity.ts";
import { FunctionRefusal } from "./problems.ts";
import type { Argument, Result } from "./values.ts";

/** The id, name and external id of each record that the owner may read. */
type NamedRecords = () => readonly (readonly [id: number, name: string, externalId: string | null])[];

export interface Names {
  readonly assets: NamedRecords;
  readonly series: NamedRecords;
}

/** The id of the record with this external id, else of the only record with this name; else null. */
export function idFinder(records: NamedRecords) {
  let byExternalId: Map<string, number> | undefined;
  const byName = new Map<string, number | null>();
  const read = () => {
    const found = new Map<string, number>();
    for (const [id, name, externalId] of records()) {
      if (externalId !== null) found.set(externalId, id);
      byName.set(name, byName.has(name) ? null : id);
    }
    return found;
  };
  return (name: Argument = null): Result => {
    byExternalId ??= read();
    if (name === null) return null;
    const id = byExternalId.get(String(name)) ?? byName.get(String(name)) ?? null;
    return id === null ? null : BigInt(id);
  };
}

interface TagMatch {
  readonly assetId: number;
  readonly name: string;
  readonly score: number;
  /** The number of assets with this score. */
  readonly matches: number;
}

/**
 * The asset whose name is nearest to the tag, as JSON:
 * `{"assetId":1,"name":"21PT0019","score":0,"matches":1}`. The score is the number of edits between the
 * normalised forms. Of several nearest assets it has the first one by name. Null if the nearest one has a
 * greater score than the second argument, which is 0 by default.
 */
export function tagMatcher(records: NamedRecords) {
  let index: TagIndex | undefined;
  const known = new Map<string, Argument>();
  return (tag: Argument = null, scoreMax: Argument = 0): Argument => {
    if (tag === null || scoreMax === null) return null;
    if (typeof scoreMax !== "number" || scoreMax < 0)
      throw new FunctionRefusal("The greatest score of match_tag is a number from 0");
    const most = Math.min(Math.floor(scoreMax), limits.tagEditsMax);
    const key = `${most} ${tag}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    index ??= new TagIndex(records());
    const match = index.nearest(plainForm(String(tag)), most);
    const json = match ? JSON.stringify(match) : null;
    if (known.size < limits.tagNamesPerBatch) known.set(key, json);
    return json;
  };
}

class TagIndex {
  readonly #byPlain = new Map<string, { id: number; name: string; count: number }>();
  readonly #plain: readonly string[];
  readonly #trie: NameTrie;

  constructor(records: ReturnType<NamedRecords>) {
    for (const [id, name] of records) {
      const plain = plainForm(name);
      const known = this.#byPlain.get(plain);
      if (!known) this.#byPlain.set(plain, { id, name, count: 1 });
      else {
        known.count += 1;
        if (name < known.name) Object.assign(known, { id, name });
      }
    }
    this.#plain = [...this.#byPlain.keys()];
    this.#trie = new NameTrie(this.#plain);
  }

  nearest(plain: string, scoreMax: number): TagMatch | undefined {
    const equal = this.#byPlain.get(plain);
    if (equal) return { assetId: equal.id, name: equal.name, score: 0, matches: equal.count };
    for (let score = 1; score <= scoreMax; score += 1) {
      const found = this.#at(plain, score);
      if (found) return found;
    }
    return undefined;
  }

  #at(plain: string, score: number): TagMatch | undefined {
    const search = this.#trie.search(plain, { least: score, most: score });
    let step = search.next();
    while (!step.done) step = search.next();
    let best: TagMatch | undefined;
    for (const hit of step.value) {
      if (editsOf(hit) !== score) continue;
      const { id, name, count } = this.#byPlain.get(this.#plain[numberOf(hit)]!)!;
      const matches = (best?.matches ?? 0) + count;
      best = best && best.name < name ? { ...best, matches } : { assetId: id, name, score, matches };
    }
    return best;
  }
}
