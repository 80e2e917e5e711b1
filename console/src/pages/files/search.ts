// The search parameters of the page of files.
import { idsIn, present, textIn, wordIn } from "../../lib/search-values.ts";

const contentStates = ["uploaded", "missing"] as const;
type ContentState = (typeof contentStates)[number];

export interface FilesSearch {
  /** Words of the name. */
  readonly query?: string;
  /** Exactly this folder. */
  readonly folder?: string;
  readonly type?: string;
  /** Whether the bytes are there. */
  readonly content?: ContentState;
  /** Assets; files of their subtrees. */
  readonly assets?: readonly number[];
}

export const filesSearch = (raw: Record<string, unknown>): FilesSearch =>
  present({
    query: textIn(raw["query"]),
    folder: textIn(raw["folder"]),
    type: textIn(raw["type"]),
    content: wordIn(raw["content"], contentStates),
    assets: idsIn(raw["assets"]),
  });
