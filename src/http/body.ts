// Reads a request's body: whole, inflated, within its limits, and no more of them at once than memory allows.
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { type Failure, fail } from "../errors.ts";
import { BufferPool } from "../lib/buffer-pool.ts";
import { freeChunk } from "../lib/free-memory.ts";
import { shortened } from "../lib/text.ts";
import { limits } from "../limits.ts";
import type { MemoryBudget, Reservation } from "./memory-budget.ts";

const nothing = Buffer.alloc(0);

/** A body that is not larger mostly arrives in one chunk, and is read in its memory. */
const oneChunkBytesMax = 2 ** 16;

/** The buffers of larger bodies. */
export const bodyBuffers = (): BufferPool =>
  new BufferPool({ bytesMin: oneChunkBytesMax, idleBytesMax: 8 * 2 ** 20 });

export interface Body {
  readonly bytes: Buffer;
  /** The memory that the body takes, to be changed by what is made of it and released at the end. */
  readonly reservation: Reservation;
  /** Call when nobody looks at the bytes any more: the next body will lie there. */
  readonly reuse: () => void;
}

/** Where bodies lie, and how much of it all of them may take together. */
export interface BodyMemory {
  readonly budget: MemoryBudget;
  readonly buffers: BufferPool;
}

interface Reading {
  readonly bytesMax: number;
  /** Who sends it: a caller, or the address of a stranger. */
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Whether a request brings a body at all, be it empty. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/**
 * The body of a request, whatever its Content-Type says (docs/reference/common.md#request-bodies). Refuses
 * bodies that are too large as sent or inflated (413), not compressed with gzip or declared in another
 * charset than UTF-8 (415), damaged or truncated (400), and those that stop arriving (408).
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
  const isPacked = isGzip(headers["content-encoding"]);
  requireUtf8Charset(headers["content-type"]);
  const arriving = new ArrivingBody(buffers, reservation, { announced, bytesMax });
  const giveBack = () => arriving.giveBack();
  try {
    const sent = await arriving.from(request, signal);
    if (!isPacked || sent.length === 0) return { bytes: sent, reservation, reuse: giveBack };
    const bytes = await inflated(sent, { bytesMax, reservation, signal });
    giveBack();
    await reservation.resize(bytes.length, signal);
    return { bytes, reservation, reuse: () => {} };
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

/** US-ASCII is a part of UTF-8. Clients spell both in many ways. */
function requireUtf8Charset(contentType: string | undefined): void {
  const charset = /;\s*charset\s*=\s*["']?([^"';\s]+)/i.exec(contentType ?? "")?.[1];
  if (charset !== undefined && !/^(utf8|usascii|ascii)$/i.test(charset.replaceAll(/[-_]/g, "")))
    throw fail("charset-unknown", { charset: shortened(charset) });
}

/** Memory is reserved ahead of what has arrived, so that a body asks for it a few times only. */
const aheadFactor = 4;

/** The bytes of a body as they come from the network. */
class ArrivingBody {
  readonly #buffers: BufferPool;
  readonly #reservation: Reservation;
  readonly #announced: number | undefined;
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Once enough has arrived of a large body whose length is known, it is gathered here. */
  #place: Buffer | undefined;

  constructor(
    buffers: BufferPool,
    reservation: Reservation,
    { announced, bytesMax }: { readonly announced: number | undefined; readonly bytesMax: number },
  ) {
    this.#buffers = buffers;
    this.#reservation = reservation;
    this.#announced = announced;
    this.#bytesMax = bytesMax;
  }

  /** All of it; rejects when too much arrives, or nothing for too long. */
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

  /** A promise when the body has to wait for memory. */
  #add(chunk: Buffer, signal: AbortSignal): Promise<void> | undefined {
    const { length } = chunk;
    if (this.#place) {
      chunk.copy(this.#place, this.#bytes);
      freeChunk(chunk);
    } else this.#chunks.push(chunk);
    this.#bytes += length;
    const reserved = Math.max(this.#reservation.bytes, oneChunkBytesMax);
    if (this.#bytes <= reserved) return undefined;
    const wanted = Math.min(this.#bytes * aheadFactor, this.#announced ?? this.#bytesMax);
    const waiting = this.#reservation.resize(wanted, signal);
    if (waiting) return waiting.then(() => this.#gather(wanted));
    this.#gather(wanted);
    return undefined;
  }

  #gather(reserved: number): void {
    if (this.#place || reserved !== this.#announced) return;
    this.#place = this.#buffers.take(reserved).subarray(0, reserved);
    copyFreeing(this.#chunks, this.#place);
  }

  #whole(): Buffer {
    if (this.#place) return this.#place;
    return joined(this.#chunks, this.#bytes);
  }

  /** Nobody looks at the bytes any more. */
  giveBack(): void {
    if (this.#place) this.#buffers.putBack(this.#place);
    this.#place = undefined;
  }
}

function joined(chunks: Buffer[], bytes: number): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  const whole = Buffer.allocUnsafeSlow(bytes);
  copyFreeing(chunks, whole);
  return whole;
}

/** The memory of each chunk is freed once it is copied, so that a body is never in memory twice. */
function copyFreeing(chunks: Buffer[], whole: Buffer): void {
  let at = 0;
  for (const chunk of chunks.splice(0)) {
    at += chunk.copy(whole, at);
    freeChunk(chunk);
  }
}

/** Inflates piece by piece and stops at the first byte beyond what the body may have. */
async function inflated(
  packed: Buffer,
  { bytesMax, reservation, signal }: Omit<Reading, "client"> & { readonly reservation: Reservation },
): Promise<Buffer> {
  const tight = Math.max(limits.inflationFreeBytes, packed.length * limits.inflationRatioMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const gunzip = createGunzip({ chunkSize: inflatedChunkBytes });
  gunzip.end(packed);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge("unpacked", bytesMax);
      if (bytes > tight) throw fail("inflation-too-high", { ratio: limits.inflationRatioMax });
      await reservation.resize(packed.length + bytes, signal);
      chunks.push(chunk);
    }
  } catch (problem) {
    throw (problem as NodeJS.ErrnoException).code?.startsWith("Z_") ? fail("body-not-gzip", {}) : problem;
  }
  return joined(chunks, bytes);
}

/** Inflation runs on another thread; each piece costs the main one some microseconds. */
const inflatedChunkBytes = 2 ** 18;
