// How alike tags are that plants write in different ways: the form that is compared, and the order of
// matches.
import { compareText, foldCase } from "../../lib/text.ts";

export interface NameMatch {
  readonly name: string;
  readonly platform: string | undefined;
  /** Single-character edits between the plain forms of tag and name; 0 is the best. */
  readonly score: number;
}

/**
 * The part of a tag that is compared: its runs of letters and of digits, without case, leading zeros and
 * separators, joined by `-`. `21-PT-0019`, `21_pt_19` and `21PT19` are all `21-pt-19`; `1-12` and `11-2` stay
 * different.
 */
export const plainForm = (tag: string): string =>
  (foldCase(tag.normalize("NFKC")).match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [])
    .map((run) => run.replace(/^0+(?=.)/, ""))
    .join("-");

/** By score; then names that equal the tag exactly, then by name and platform. */
export function compareMatches(tag: string, a: NameMatch, b: NameMatch): number {
  return (
    a.score - b.score ||
    Number(b.name === tag) - Number(a.name === tag) ||
    compareText(a.name, b.name) ||
    compareText(a.platform ?? "", b.platform ?? "") ||
    Number(b.platform === undefined) - Number(a.platform === undefined)
  );
}
