// Tag matching: finds the assets that tags of other systems refer to.
import type { ComputationModule } from "../../compute/computation.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { equals, everything } from "../../query/filter.ts";
import type { NameMatch } from "../../query/tags/similarity.ts";
import { assetNames } from "../assets/assets.ts";
import type { TagMatching } from "./tag-matching.compute.ts";

export interface TagsQuery {
  readonly tags: readonly string[];
  /** The greatest score of a match, inclusive; 0 allows only different spellings. */
  readonly scoreMax: number;
  /** Only assets of this source. */
  readonly platform?: string | undefined;
}

const module: ComputationModule<TagMatching> = {
  url: new URL("./tag-matching.compute.ts", import.meta.url),
  size: "large",
};

/** The number of tags whose matches are copied from the compute thread at once: a few milliseconds. */
const tagsAtOnce = 50;

/**
 * For each tag, in the order of the request, the nearest names of assets that the caller may see, best
 * first: at most `limits.tagMatchesMax`, without repeated names of one source. The score is the number of
 * single-character edits between the normalised forms of tag and name (see `plainForm`); the platform is
 * the asset's source. Reads all names from the catalog, so matches are never outdated; the compute thread
 * compares them.
 */
export async function matchTags(ctx: RequestContext, query: TagsQuery): Promise<(readonly NameMatch[])[]> {
  const { tags, platform } = query;
  if (tags.length === 0) return [];
  const scoreMax = Math.min(Math.floor(query.scoreMax), limits.tagEditsMax);
  const start = { tags, scoreMax, matchesMax: limits.tagMatchesMax };
  const filter = platform === undefined ? everything : equals("source", platform);
  return ctx.computing.session(ctx, { module, start }, async (ask) => {
    // Reads the next page while the thread processes the previous one.
    let added: Promise<unknown> = Promise.resolve();
    for await (const page of assetNames(ctx, filter)) {
      await added;
      const names = page.map(({ name, source }) => ({ name, platform: source }));
      added = ask({ kind: "add", names });
      added.catch(() => {}); // It is raised where it is awaited.
    }
    await added;
    const found: (readonly NameMatch[])[] = [];
    for (let at = 0; at < tags.length; at += tagsAtOnce)
      found.push(...(await ask({ kind: "best", tags: tags.slice(at, at + tagsAtOnce) })));
    return found;
  });
}
