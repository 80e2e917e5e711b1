// The similarity of tags in different spellings: the normalised form that is compared, and the order of
// matches.
import { compareText, foldCase } from "../../lib/text.ts";

export interface NameMatch {
  readonly name: string;
  readonly platform: string | undefined;
  /** The number of single-character edits between the normalised forms of tag and name; 0 is the best. */
  readonly score: number;
}

/**
 * The normalised form of a tag: its runs of letters and of digits in lower case, without leading zeros and
 * separators, joined by `-`. `21-PT-0019`, `21_pt_19` and `21PT19` all become `21-pt-19`; `1-12` and `11-2`
 * stay different.
 */
export const plainForm = (tag: string): string =>
  (foldCase(tag.normalize("NFKC")).match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [])
    .map((run) => run.replace(/^0+(?=.)/, ""))
    .join("-");

/** Compares by score, then puts names equal to the tag first, then compares name and platform. */
export function compareMatches(tag: string, a: NameMatch, b: NameMatch): number {
  return (
    a.score - b.score ||
    Number(b.name === tag) - Number(a.name === tag) ||
    compareText(a.name, b.name) ||
    compareText(a.platform ?? "", b.platform ?? "") ||
    Number(b.platform === undefined) - Number(a.platform === undefined)
  );
}
