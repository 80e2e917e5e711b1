// Writes bench/RESULTS.md, the figures of record: one section for each kind of run, replaced independently.
import { readFileSync, writeFileSync } from "node:fs";
import { joinParagraphs } from "../scripts/tidy/paragraphs.ts";
import { writeCharts } from "./charts.ts";

const file = new URL("RESULTS.md", import.meta.url);

/** Replaces the section with this heading, and draws the charts again; other sections stay unchanged. */
export function keepSection(heading: string, body: string): void {
  const document = withSection(readFileSync(file, "utf8"), heading, body);
  writeFileSync(file, document);
  writeCharts(document, new URL("images/", file));
}

/** The document with the section of this heading replaced, or appended if it is new. */
export function withSection(document: string, heading: string, body: string): string {
  const [title, ...sections] = document.trimEnd().split(/\n+(?=## )/);
  const section = `## ${heading}\n\n${joinParagraphs(body.trim())}`;
  const at = sections.findIndex((one) => one.split("\n", 1)[0] === `## ${heading}`);
  sections.splice(at < 0 ? sections.length : at, at < 0 ? 0 : 1, section);
  return `${[title, ...sections].join("\n\n")}\n`;
}
