// Tag matching: which existing assets are meant by tags from other systems (client-endpoints 15).
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { equals, everything } from "../../query/filter.ts";
import { visitAssets } from "../assets/assets.ts";
import { type Match, NearestNames } from "./similarity.ts";

export interface TagsWanted {
  readonly tags: readonly string[];
  /** The greatest score of a match, inclusive; 0 asks for tags that differ in their way of writing alone. */
  readonly scoreMax: number;
  /** Only assets of this source. */
  readonly platform?: string | undefined;
}

/**
 * For each tag, in the order sent, the names of assets that the caller may see and that come nearest, best
 * first: at most `limits.tagMatchesMax`, and the same name of the same source once. The score is the number
 * of single-letter edits between the plain forms of tag and name (see `plainForm`), the platform the asset's
 * source. All names are read anew, so that no match is out of date, and in small pages, so that other
 * requests go on meanwhile.
 */
export async function matchTags(ctx: RequestContext, wanted: TagsWanted): Promise<Match[][]> {
  const { tags, platform } = wanted;
  const scoreMax = Math.min(wanted.scoreMax, limits.tagEditsMax);
  const nearest = new NearestNames(tags, { scoreMax, matchesMax: limits.tagMatchesMax });
  if (tags.length === 0) return [];
  const filter = platform === undefined ? everything : equals("source", platform);
  const atOnce = Math.ceil(limits.tagComparisonsAtOnce / Math.max(tags.length, tagsOfLongestPage));
  await visitAssets(ctx, { filter, atOnce }, (page) => {
    for (const { name, source } of page) nearest.offer(name, source);
  });
  return nearest.best();
}

/** Reading has its own cost for each asset: for fewer tags than this a page does not grow. */
const tagsOfLongestPage = 100;
