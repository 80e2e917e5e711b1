// Reads each drawing in a Node process of its own, which has bounded memory and time, reads no files but its
// own source, and has no network.
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { boundedNode, noBoundsHere } from "../model-runner/bounded-node.ts";
import { type ProcessResult, runProcess } from "../model-runner/bounded-process.ts";
import { boundedRuns, howEnded, isOutOfMemory, sourceFolder } from "../model-runner/bounded-runs.ts";
import {
  type DrawingFormat,
  DrawingProblem,
  type DrawingReader,
  type DrawingRequest,
  type DrawingTag,
} from "./drawing-reader.ts";

/**
 * Reads drawings in processes. Their folders begin with `folderPrefix`, unique among the servers of this
 * machine.
 */
export function processDrawingReader({ folderPrefix }: { readonly folderPrefix: string }): DrawingReader {
  const runs = boundedRuns({ folderPrefix, places: limits.drawingsAtOnce });
  return {
    read: (request, signal) => runs(request.project, signal, (folder) => readIn(folder, request, signal)),
  };
}

/** The output of the process: tags, or why there are none. */
export type DrawingReply = { readonly tags: readonly DrawingTag[] } | { readonly problem: string };

async function readIn(
  folder: string,
  { format, bytes }: DrawingRequest,
  signal: AbortSignal,
): Promise<readonly DrawingTag[]> {
  if (noBoundsHere) throw new DrawingProblem(noBoundsHere);
  const ended = await runProcess<string>(
    {
      command: commandFor(format),
      folder,
      environment: { TZ: "UTC" },
      user: undefined,
      input: bytes,
      read: textOf,
      attached: [],
      msMax: limits.drawingMsMax,
    },
    signal,
  );
  if (ended.result) {
    const reply = parseJson(ended.result) as DrawingReply;
    if ("tags" in reply) return reply.tags;
    throw new DrawingProblem(reply.problem);
  }
  throw new DrawingProblem(problemOfEnd(ended));
}

/** Why the process ended without a reply. */
export function problemOfEnd(
  ended: Pick<ProcessResult<unknown>, "isLate" | "signal" | "code" | "log">,
): string {
  if (ended.isLate || ended.signal === "SIGXCPU")
    return `reading it takes more than ${limits.drawingMsMax / 1000} s`;
  if (isOutOfMemory(ended))
    return `reading it takes more than ${limits.drawingMemoryBytesMax} bytes of memory`;
  return `the process that reads it ended ${howEnded(ended)}`;
}

/** The reply of the process; undefined if it has ended without a whole one. */
async function textOf(output: Readable): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limits.drawingReplyBytesMax) throw new DrawingProblem("it has too much text");
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  return text.endsWith("}") ? text : undefined;
}

const program = fileURLToPath(new URL("./engine/drawing-process.ts", import.meta.url));
/** The packages that the process imports. */
const packages = ["saxes", "xmlchars", "unpdf"];

function commandFor(format: DrawingFormat): [string, ...string[]] {
  const folders = packages.map((name) => dirname(findPackageJSON(name, import.meta.url)!));
  const command = boundedNode(program, [sourceFolder, ...folders], {
    memoryBytes: limits.drawingMemoryBytesMax,
    heapBytes: limits.drawingHeapBytesMax,
    cpuMs: limits.drawingMsMax,
    fileBytes: 0,
  });
  return [...command, format];
}
