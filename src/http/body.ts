// Reads request bodies whole, inflates them, and bounds the size of each and the memory of all.
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { type Failure, fail } from "../errors.ts";
import { BufferPool } from "../lib/buffer-pool.ts";
import { freeChunk } from "../lib/free-memory.ts";
import { shortened } from "../lib/text.ts";
import { limits } from "../limits.ts";
import type { MemoryBudget, Reservation } from "./memory-budget.ts";

const nothing = Buffer.alloc(0);

/** A body up to this size mostly arrives in one chunk and is read in the memory of the chunk. */
const oneChunkBytesMax = 2 ** 16;

/** The buffers of larger bodies. */
export const bodyBuffers = (): BufferPool =>
  new BufferPool({ bytesMin: oneChunkBytesMax, idleBytesMax: 8 * 2 ** 20 });

export interface Body {
  readonly bytes: Buffer;
  /** The memory of the body: resized for its decoded values, released at the end of the request. */
  readonly reservation: Reservation;
  /** Call after the last use of the bytes: the next body overwrites them. */
  readonly reuse: () => void;
}

/** The buffers of bodies, and the bound of the memory of all bodies. */
export interface BodyMemory {
  readonly budget: MemoryBudget;
  readonly buffers: BufferPool;
}

interface Reading {
  readonly bytesMax: number;
  /** The sender: a caller, or an address without credentials. */
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Whether a request has a body, which may be empty. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/**
 * Returns the body of a request with any Content-Type (docs/reference/common.md#request-bodies). Refuses
 * bodies that are too large before or after inflation (413), compressed with another algorithm than gzip or
 * declared in another charset than UTF-8 (415), damaged or truncated (400), and those that stall (408).
 */
export async function readBody(
  request: IncomingMessage,
  { budget, buffers }: BodyMemory,
  { bytesMax, client, signal }: Reading,
): Promise<Body> {
  const reservation = budget.open(client);
  const { headers } = request;
  const none = { bytes: nothing, reservation, reuse: () => {} };
  if (!hasBody(request)) return none;
  const announced = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  if (announced === 0) return none;
  if (announced !== undefined && announced > bytesMax) throw tooLarge("sent", bytesMax);
  const isCompressed = isGzip(headers["content-encoding"]);
  requireUtf8Charset(headers["content-type"]);
  const arriving = new ArrivingBody(buffers, reservation, { announced, bytesMax });
  const giveBack = () => arriving.giveBack({ isDone: false });
  try {
    const received = await arriving.from(request, signal);
    const reuse = () => arriving.giveBack({ isDone: true });
    if (!isCompressed || received.length === 0) return { bytes: received, reservation, reuse };
    const bytes = await inflated(received, { bytesMax, reservation, signal });
    giveBack();
    await reservation.resize(bytes.length, signal);
    return { bytes, reservation, reuse: () => freeChunk(bytes) };
  } catch (problem) {
    giveBack();
    reservation.release();
    throw problem;
  }
}

const tooLarge = (what: "sent" | "unpacked", limit: number): Failure =>
  fail("body-too-large", { what, limit });

function isGzip(encoding: string | undefined): boolean {
  const word = encoding?.trim().toLowerCase() ?? "";
  if (word === "" || word === "identity") return false;
  if (word === "gzip" || word === "x-gzip") return true;
  throw fail("encoding-unknown", { encoding: word });
}

/** US-ASCII is a subset of UTF-8. Clients spell both in many ways. */
function requireUtf8Charset(contentType: string | undefined): void {
  const charset = /;\s*charset\s*=\s*["']?([^"';\s]+)/i.exec(contentType ?? "")?.[1];
  if (charset !== undefined && !/^(utf8|usascii|ascii)$/i.test(charset.replaceAll(/[-_]/g, "")))
    throw fail("charset-unknown", { charset: shortened(charset) });
}

/** A body reserves memory for this many times the received bytes, so that it reserves only a few times. */
const aheadFactor = 4;

/** The bytes of a body as they come from the network. */
class ArrivingBody {
  readonly #pool: BufferPool;
  readonly #reservation: Reservation;
  readonly #announced: number | undefined;
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Collects a large body of known length, after enough of it has arrived. */
  #buffer: Buffer | undefined;
  /** The whole body, if no buffer of the pool has it. */
  #joined: Buffer | undefined;

  constructor(
    buffers: BufferPool,
    reservation: Reservation,
    { announced, bytesMax }: { readonly announced: number | undefined; readonly bytesMax: number },
  ) {
    this.#pool = buffers;
    this.#reservation = reservation;
    this.#announced = announced;
    this.#bytesMax = bytesMax;
  }

  /** Returns the whole body; rejects if it is too large or stalls. */
  from(request: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
        end();
      };
      const refuse = (problem: unknown) => settle(() => reject(problem));
      const limitMs = limits.bodyIdleMsMax;
      const timer = setTimeout(() => {
        if (!request.isPaused()) refuse(fail("body-stalled", { limitMs }));
      }, limitMs);
      const onData = (chunk: Buffer) => {
        timer.refresh();
        if (this.#bytes + chunk.length > this.#bytesMax) return refuse(tooLarge("sent", this.#bytesMax));
        const waiting = this.#add(chunk, signal);
        if (!waiting) return;
        request.pause();
        waiting.then(() => {
          timer.refresh();
          request.resume();
        }, refuse);
      };
      const onEnd = () => settle(() => resolve(this.#whole()));
      const onClose = () =>
        refuse(fail("request-malformed", { problem: "the body ends before its announced length" }));
      request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
    });
  }

  /** Adds a chunk; returns a promise if the body must wait for memory. */
  #add(chunk: Buffer, signal: AbortSignal): Promise<void> | undefined {
    const { length } = chunk;
    if (this.#buffer) {
      chunk.copy(this.#buffer, this.#bytes);
      freeChunk(chunk);
    } else this.#chunks.push(chunk);
    this.#bytes += length;
    const reserved = Math.max(this.#reservation.bytes, oneChunkBytesMax);
    if (this.#bytes <= reserved) return undefined;
    const target = Math.min(this.#bytes * aheadFactor, this.#announced ?? this.#bytesMax);
    const waiting = this.#reservation.resize(target, signal);
    if (waiting) return waiting.then(() => this.#collect(target));
    this.#collect(target);
    return undefined;
  }

  #collect(reserved: number): void {
    if (this.#buffer || reserved !== this.#announced) return;
    this.#buffer = this.#pool.take(reserved).subarray(0, reserved);
    copyFreeing(this.#chunks, this.#buffer);
  }

  #whole(): Buffer {
    if (this.#buffer) return this.#buffer;
    this.#joined = joined(this.#chunks, this.#bytes);
    return this.#joined;
  }

  /**
   * Returns the buffer to the pool; call after the last use of the bytes. With `isDone`, a body outside of
   * the pool is freed. Pass false while zlib may still read it on another thread.
   */
  giveBack({ isDone }: { readonly isDone: boolean }): void {
    if (this.#buffer) this.#pool.putBack(this.#buffer);
    if (isDone && this.#joined) freeChunk(this.#joined);
    this.#buffer = undefined;
    this.#joined = undefined;
  }
}

function joined(chunks: Buffer[], bytes: number): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  const whole = Buffer.allocUnsafeSlow(bytes);
  copyFreeing(chunks, whole);
  return whole;
}

/** Copies the chunks and frees each at once, so that a body is never in memory twice. */
function copyFreeing(chunks: Buffer[], whole: Buffer): void {
  let at = 0;
  for (const chunk of chunks.splice(0)) {
    at += chunk.copy(whole, at);
    freeChunk(chunk);
  }
}

/** Inflates chunk by chunk and stops at the first byte beyond the limit. */
async function inflated(
  compressed: Buffer,
  { bytesMax, reservation, signal }: Omit<Reading, "client"> & { readonly reservation: Reservation },
): Promise<Buffer> {
  const inflatedMax = Math.max(limits.inflationFreeBytes, compressed.length * limits.inflationRatioMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const gunzip = createGunzip({ chunkSize: inflatedChunkBytes });
  gunzip.end(compressed);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge("unpacked", bytesMax);
      if (bytes > inflatedMax) throw fail("inflation-too-high", { ratio: limits.inflationRatioMax });
      await reservation.resize(compressed.length + bytes, signal);
      chunks.push(chunk);
    }
  } catch (problem) {
    throw (problem as NodeJS.ErrnoException).code?.startsWith("Z_") ? fail("body-not-gzip", {}) : problem;
  }
  return joined(chunks, bytes);
}

/** Inflation runs on another thread; each chunk costs the main thread a few microseconds. */
const inflatedChunkBytes = 2 ** 18;
