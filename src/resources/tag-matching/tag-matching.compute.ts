// Tag matching on the compute thread: receives names page by page, then returns the matches of tags.
import type { Computation } from "../../compute/computation.ts";
import type { NameMatch } from "../../query/tags/similarity.ts";
import { type Bounds, NearestNames } from "./nearest-names.ts";

export interface TagsToMatch extends Bounds {
  readonly tags: readonly string[];
}

export type TagQuery =
  | { readonly kind: "add"; readonly names: readonly Omit<NameMatch, "score">[] }
  | { readonly kind: "best"; readonly tags: readonly string[] };

export type TagMatching = Computation<TagsToMatch, TagQuery, readonly (readonly NameMatch[])[]>;

export const computation: TagMatching = ({ tags, ...bounds }) => {
  const nearest = new NearestNames(tags, bounds);
  return function* (query) {
    if (query.kind === "best") return yield* nearest.best(query.tags);
    yield* nearest.add(query.names);
    return [];
  };
};
