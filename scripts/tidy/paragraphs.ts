// Docs have one paragraph a line: a change then shows the sentence it changes, and editors wrap as they like.
import type { Finding } from "./source.ts";

/** Joins the lines of each paragraph and list item; code, tables, headings and HTML keep theirs. */
export function joinParagraphs(text: string): string {
  const joined: string[] = [];
  let isOpen = false;
  for (const line of linesOf(text)) {
    if (isOpen && line.continues) joined.push(`${joined.pop()} ${line.text.trimStart()}`);
    else joined.push(line.text);
    isOpen = line.isProse;
  }
  return joined.join("\n");
}

/** The lines that continue a paragraph of the line above. */
export function wrappedParagraphs(path: string, text: string): Finding[] {
  const findings: Finding[] = [];
  let isOpen = false;
  for (const [at, line] of linesOf(text).entries()) {
    if (isOpen && line.continues)
      findings.push({ path, line: at + 1, problem: "one paragraph a line; npm run format joins them" });
    isOpen = line.isProse;
  }
  return findings;
}

interface DocLine {
  readonly text: string;
  /** Words of a paragraph or list item: the next line may continue it. */
  readonly isProse: boolean;
  /** Continues the paragraph above, if there is one. */
  readonly continues: boolean;
}

function linesOf(text: string): DocLine[] {
  let fence: string | undefined;
  return text.split("\n").map((line) => {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    const isVerbatim = fence !== undefined || mark !== undefined;
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
    if (isVerbatim || line.trim() === "") return { text: line, isProse: false, continues: false };
    if (/^\s*([|#<]|---|!\[)/.test(line) || line.endsWith("  ") || line.endsWith("\\"))
      return { text: line, isProse: false, continues: false };
    const isItem = /^\s*([-*+]|\d+[.)]) |^\s*>/.test(line);
    return { text: line, isProse: true, continues: !isItem };
  });
}
