// The process of a drawing: reads the bytes from standard input, writes the tags to descriptor 3.
import { readFileSync, writeSync } from "node:fs";
import { limits } from "../../limits.ts";
import type { DrawingReply } from "../process-reader.ts";
import { pdfTexts } from "./pdf-texts.ts";
import { svgTexts } from "./svg-texts.ts";
import { tagsIn } from "./tags.ts";

const output = 3;

async function replyTo(format: string | undefined, bytes: Uint8Array): Promise<DrawingReply> {
  try {
    const texts = format === "pdf" ? await pdfTexts(bytes) : svgTexts(new TextDecoder().decode(bytes));
    const tags = tagsIn(texts);
    const limit = limits.drawingTagsMax;
    return tags.length > limit ? { problem: `it has more than ${limit} strings like tags` } : { tags };
  } catch (problem) {
    const { message } = problem as Error;
    return { problem: message.slice(0, 200) };
  }
}

const reply = JSON.stringify(await replyTo(process.argv[2], readFileSync(0)));
const sent = Buffer.from(reply);
for (let at = 0; at < sent.length; ) at += writeSync(output, sent, at);
process.exit(0);
