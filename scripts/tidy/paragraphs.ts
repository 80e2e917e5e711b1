// Docs have one paragraph a line: a change then shows the sentence it changes, and editors wrap as they like.
import type { Finding } from "./source.ts";

/** Joins the lines of each paragraph and list item; code, tables, headings and HTML keep theirs. */
export function joinParagraphs(text: string): string {
  const joined: string[] = [];
  for (const line of linesOf(text)) {
    if (line.isContinuation) joined.push(`${joined.pop()} ${line.text.trimStart()}`);
    else joined.push(line.text);
  }
  return joined.join("\n");
}

/** The lines that continue a paragraph of the line above. */
export const wrappedParagraphs = (path: string, text: string): Finding[] =>
  linesOf(text).flatMap(({ isContinuation }, at) =>
    isContinuation
      ? [{ path, line: at + 1, problem: "one paragraph a line; npm run format joins them" }]
      : [],
  );

interface DocLine {
  readonly text: string;
  /** Continues a paragraph or list item of the line above. */
  readonly isContinuation: boolean;
}

function linesOf(text: string): DocLine[] {
  let fence: string | undefined;
  let wasProse = false;
  return text.split("\n").map((line) => {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    const isVerbatim = fence !== undefined || mark !== undefined;
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
    const isProse = !isVerbatim && isProseLine(line);
    const isContinuation = wasProse && isProse && !/^\s*([-*+]|\d+[.)]) |^\s*>/.test(line);
    wasProse = isProse;
    return { text: line, isContinuation };
  });
}

/** Part of a paragraph or list item: not empty, no table, heading, HTML, image or hard line break. */
const isProseLine = (line: string): boolean =>
  line.trim() !== "" && !/^\s*([|#<]|---|!\[)/.test(line) && !line.endsWith("  ") && !line.endsWith("\\");
