// Reads a request's body: whole, inflated, within its limits, and no more of them at once than memory allows.
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { type Failure, fail } from "../errors.ts";
import { freeChunk } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import { type BodyBuffers, onePieceBytesMax } from "./body-buffers.ts";
import type { ByteBudget } from "./byte-budget.ts";

const nothing = Buffer.alloc(0);

export interface Body {
  readonly bytes: Buffer;
  /** Call when nobody looks at the bytes any more: the next body will lie there. */
  readonly reuse: () => void;
  /** Call when the request has ended, and with it what was made of the bytes. */
  readonly release: () => void;
}

const none: Body = { bytes: nothing, reuse: () => {}, release: () => {} };

/** Where bodies lie, and how much of it all of them may take together. */
export interface BodyMemory {
  readonly budget: ByteBudget;
  readonly buffers: BodyBuffers;
}

/** Whether a request brings a body at all, be it empty. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

interface Reading {
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/**
 * The body of a request, whatever its Content-Type says (client-endpoints 1.3). Refuses bodies that are too
 * large as sent or inflated (413), packed otherwise than with gzip (415), damaged or cut short (400).
 */
export async function readBody(
  request: IncomingMessage,
  { budget, buffers }: BodyMemory,
  { bytesMax, signal }: Reading,
): Promise<Body> {
  const { headers } = request;
  if (!hasBody(request)) return none;
  const sentBytes = Number(headers["content-length"] ?? bytesMax);
  if (sentBytes === 0) return none;
  if (sentBytes > bytesMax) throw tooLarge("sent", bytesMax);
  const isPacked = isGzip(headers["content-encoding"]);
  const release = await budget.take(isPacked ? inflatedAtMost(sentBytes, bytesMax) : sentBytes, signal);
  const announced = headers["content-length"] === undefined ? 0 : sentBytes;
  const place = announced > onePieceBytesMax ? buffers.lend(announced) : undefined;
  const giveBack = () => place && buffers.giveBack(place);
  try {
    const sent = await collect(request, bytesMax, place);
    if (!isPacked || sent.length === 0) return { bytes: sent, reuse: giveBack, release };
    const bytes = await inflated(sent, bytesMax);
    giveBack();
    return { bytes, reuse: () => {}, release };
  } catch (problem) {
    giveBack();
    release();
    throw problem;
  }
}

const tooLarge = (what: "sent" | "unpacked", limit: number): Failure =>
  fail("body-too-large", { what, limit });

const inflatedAtMost = (sentBytes: number, bytesMax: number): number =>
  Math.min(bytesMax, Math.max(limits.inflationFreeBytes, sentBytes * limits.inflationRatioMax));

function isGzip(encoding: string | undefined): boolean {
  const word = encoding?.trim().toLowerCase() ?? "";
  if (word === "" || word === "identity") return false;
  if (word === "gzip" || word === "x-gzip") return true;
  throw fail("encoding-unknown", { encoding: word });
}

/** Into `place`, which is as large as was announced, or without it into memory of their own. */
function collect(request: IncomingMessage, bytesMax: number, place?: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (end: () => void) => {
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      end();
    };
    const onData = (chunk: Buffer) => {
      const { length } = chunk;
      if (place) {
        chunk.copy(place, bytes);
        freeChunk(chunk);
      } else chunks.push(chunk);
      bytes += length;
      if (bytes > bytesMax) settle(() => reject(tooLarge("sent", bytesMax)));
    };
    const onEnd = () => settle(() => resolve(place ?? joined(chunks, bytes)));
    const onClose = () =>
      settle(() =>
        reject(fail("request-malformed", { problem: "the body ends before its announced length" })),
      );
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

const joined = (chunks: readonly Buffer[], bytes: number): Buffer =>
  chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);

/** Inflates piece by piece and stops at the first byte beyond what the body may have. */
async function inflated(packed: Buffer, bytesMax: number): Promise<Buffer> {
  const allowed = inflatedAtMost(packed.length, bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const gunzip = createGunzip({ chunkSize: inflatedChunkBytes });
  gunzip.end(packed);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge("unpacked", bytesMax);
      if (bytes > allowed) throw fail("inflation-too-high", { ratio: limits.inflationRatioMax });
      chunks.push(chunk);
    }
  } catch (problem) {
    throw (problem as NodeJS.ErrnoException).code?.startsWith("Z_") ? fail("body-not-gzip", {}) : problem;
  }
  return joined(chunks, bytes);
}

/** Inflation runs on another thread; each piece costs the main one some microseconds. */
const inflatedChunkBytes = 2 ** 18;
