// Reads a request's body: whole, inflated, within its limits, and no more of them at once than memory allows.
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import type { ByteBudget } from "./byte-budget.ts";

const inflate = promisify(gunzip);
const nothing = Buffer.alloc(0);

/** No gzip data holds more than this many bytes for each of its own (the bound of the deflate format). */
const inflationMax = 1032;

export interface Body {
  readonly bytes: Buffer;
  /** Call when the bytes are no longer needed. */
  readonly release: () => void;
}

const none: Body = { bytes: nothing, release: () => {} };

/**
 * The body of a request, whatever its Content-Type says (client-endpoints 1.3). Refuses bodies that are too
 * large as sent or inflated (413), packed otherwise than with gzip (415), damaged or cut short (400).
 */
export async function readBody(
  request: IncomingMessage,
  budget: ByteBudget,
  signal: AbortSignal,
): Promise<Body> {
  const { headers } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return none;
  const sentBytes = Number(headers["content-length"] ?? limits.bodyBytesMax);
  if (sentBytes === 0) return none;
  if (sentBytes > limits.bodyBytesMax) throw fail("body-too-large", tooLarge.sent);
  const isPacked = isGzip(headers["content-encoding"]);
  const release = await budget.take(isPacked ? inflatedAtMost(sentBytes) : sentBytes, signal);
  try {
    const sent = await collect(request, limits.bodyBytesMax);
    return { bytes: isPacked && sent.length > 0 ? await inflated(sent) : sent, release };
  } catch (problem) {
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

function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (end: () => void) => {
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      end();
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > bytesMax) settle(() => reject(fail("body-too-large", tooLarge.sent)));
    };
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)));
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
