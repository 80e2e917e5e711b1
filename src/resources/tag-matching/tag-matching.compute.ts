// Tag matching as a computation of the compute thread: takes names page by page, then gives the matches of
// tags.
import type { Computation } from "../../compute/computation.ts";
import { type Bounds, NearestNames } from "./nearest-names.ts";
import type { Match } from "./similarity.ts";

export interface TagsToMatch extends Bounds {
  readonly tags: readonly string[];
}

export type TagQuestion =
  | { readonly kind: "add"; readonly names: readonly Omit<Match, "score">[] }
  | { readonly kind: "best"; readonly tags: readonly string[] };

export type TagMatching = Computation<TagsToMatch, TagQuestion, readonly (readonly Match[])[]>;

export const computation: TagMatching = ({ tags, ...bounds }) => {
  const nearest = new NearestNames(tags, bounds);
  return function* (question) {
    if (question.kind === "best") return yield* nearest.best(question.tags);
    yield* nearest.add(question.names);
    return [];
  };
};
