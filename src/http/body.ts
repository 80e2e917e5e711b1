// Reads a request's body: whole, inflated, within its limits, and no more of them at once than memory allows.
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fail } from "../errors.ts";
import { freeChunk } from "../lib/streams.ts";
import { limits } from "../limits.ts";
import { type BodyBuffers, onePieceBytesMax } from "./body-buffers.ts";
import type { ByteBudget } from "./byte-budget.ts";

const inflate = promisify(gunzip);
const nothing = Buffer.alloc(0);

/** No gzip data holds more than this many bytes for each of its own (the bound of the deflate format). */
const inflationMax = 1032;

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

/**
 * The body of a request, whatever its Content-Type says (client-endpoints 1.3). Refuses bodies that are too
 * large as sent or inflated (413), packed otherwise than with gzip (415), damaged or cut short (400).
 */
export async function readBody(
  request: IncomingMessage,
  { budget, buffers }: BodyMemory,
  signal: AbortSignal,
): Promise<Body> {
  const { headers } = request;
  if (!hasBody(request)) return none;
  const sentBytes = Number(headers["content-length"] ?? limits.bodyBytesMax);
  if (sentBytes === 0) return none;
  if (sentBytes > limits.bodyBytesMax) throw fail("body-too-large", tooLarge.sent);
  const isPacked = isGzip(headers["content-encoding"]);
  const release = await budget.take(isPacked ? inflatedAtMost(sentBytes) : sentBytes, signal);
  const announced = headers["content-length"] === undefined ? 0 : sentBytes;
  const place = announced > onePieceBytesMax ? buffers.lend(announced) : undefined;
  const giveBack = () => place && buffers.giveBack(place);
  try {
    const sent = await collect(request, place);
    if (!isPacked || sent.length === 0) return { bytes: sent, reuse: giveBack, release };
    const bytes = await inflated(sent);
    giveBack();
    return { bytes, reuse: () => {}, release };
  } catch (problem) {
    giveBack();
    release();
    throw problem;
  }
}

const tooLarge = {
  sent: { what: "sent", limit: limits.bodyBytesMax },
  unpacked: { what: "unpacked", limit: limits.bodyInflatedBytesMax },
} as const;

const inflatedAtMost = (bytes: number) => Math.min(bytes * inflationMax, limits.bodyInflatedBytesMax);

function isGzip(encoding: string | undefined): boolean {
  const word = encoding?.trim().toLowerCase() ?? "";
  if (word === "" || word === "identity") return false;
  if (word === "gzip" || word === "x-gzip") return true;
  throw fail("encoding-unknown", { encoding: word });
}

/** Into `place`, which is as large as was announced, or without it into memory of their own. */
function collect(request: IncomingMessage, place?: Buffer): Promise<Buffer> {
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
      if (bytes > limits.bodyBytesMax) settle(() => reject(fail("body-too-large", tooLarge.sent)));
    };
    const onEnd = () =>
      settle(() => resolve(place ?? (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes))));
    const onClose = () =>
      settle(() =>
        reject(fail("request-malformed", { problem: "the body ends before its announced length" })),
      );
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

async function inflated(packed: Buffer): Promise<Buffer> {
  try {
    return await inflate(packed, { maxOutputLength: limits.bodyInflatedBytesMax });
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") throw fail("body-too-large", tooLarge.unpacked);
    throw fail("body-not-gzip", {});
  }
}
