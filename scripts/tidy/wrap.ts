// Wraps comments that are too long; the formatter wraps only code.
import { bounds } from "./findings.ts";

interface CommentLine {
  /** Everything before the words: indentation and `// ` or ` * `. */
  readonly margin: string;
  readonly words: string;
}

/** Wraps each paragraph of a comment with a long line again; code stays unchanged. */
export function wrapComments(text: string): string {
  const lines = text.split("\n").flatMap(opened);
  const wrapped: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = endOfParagraph(lines, at);
    const paragraph = lines.slice(at, end);
    wrapped.push(...(paragraph.some((line) => line.length > bounds.columns) ? filled(paragraph) : paragraph));
    at = end;
  }
  return wrapped.join("\n");
}

/** A long one-line block comment gets lines of its own. */
function opened(line: string): string[] {
  const found = /^(\s*)\/\*\* (.*) \*\/$/.exec(line);
  if (!found || line.length <= bounds.columns) return [line];
  const [, indent, words] = found;
  return [`${indent}/**`, `${indent} * ${words}`, `${indent} */`];
}

/** After a line that is no comment, or after the last comment line that reads on from it. */
function endOfParagraph(lines: readonly string[], start: number): number {
  const first = commentLine(lines[start]);
  let end = start + 1;
  if (!first) return end;
  for (let next = commentLine(lines[end]); next && readsOn(first, next); next = commentLine(lines[end]))
    end++;
  return end;
}

/** Lists, indented text and tags start a new paragraph. */
const readsOn = (first: CommentLine, next: CommentLine): boolean =>
  next.margin === first.margin && !/^(\s|[-*@|#]|\d+\.)/.test(next.words);

function commentLine(line: string | undefined): CommentLine | undefined {
  const found = /^(\s*(?:\/\/|\*) )(\S.*)$/.exec(line ?? "");
  return found?.[1] && found[2] ? { margin: found[1], words: found[2] } : undefined;
}

function filled(paragraph: readonly string[]): string[] {
  const comments = paragraph.map(commentLine).filter((one) => one !== undefined);
  const margin = comments[0]?.margin;
  if (margin === undefined) return [...paragraph];
  const result: string[] = [];
  let line = margin.trimEnd();
  for (const word of comments.flatMap((one) => one.words.split(" "))) {
    const longer = `${line} ${word}`;
    if (longer.length <= bounds.columns || line === margin.trimEnd()) line = longer;
    else {
      result.push(line);
      line = margin + word;
    }
  }
  return [...result, line];
}
