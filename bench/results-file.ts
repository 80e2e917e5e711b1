// bench/RESULTS.md, the figures of record: one section a way of measuring, each replaced on its own.
import { readFileSync, writeFileSync } from "node:fs";
import { joinParagraphs } from "../scripts/tidy/paragraphs.ts";

const file = new URL("RESULTS.md", import.meta.url);

/** Puts the text into the section of that heading, and leaves the others as they are. */
export function keepSection(heading: string, body: string): void {
  writeFileSync(file, withSection(readFileSync(file, "utf8"), heading, body));
}

/** The document with this section in place of the one of the same heading, or else behind all others. */
export function withSection(document: string, heading: string, body: string): string {
  const [title, ...sections] = document.trimEnd().split(/\n+(?=## )/);
  const section = `## ${heading}\n\n${joinParagraphs(body.trim())}`;
  const at = sections.findIndex((one) => one.split("\n", 1)[0] === `## ${heading}`);
  sections.splice(at < 0 ? sections.length : at, at < 0 ? 0 : 1, section);
  return `${[title, ...sections].join("\n\n")}\n`;
}
