// The body of one request to an upload URL: its bytes as far as they are new, and why it is not complete.
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";

/** One request to an upload URL: a chunk of the bytes, all bytes, or a query of the progress. */
export interface UploadRequest {
  /** The offset of the first byte. */
  readonly start: number;
  /** The announced number of bytes, if known. 0 with a total queries the progress. */
  readonly length: number | undefined;
  /** The size of the whole file, if known. */
  readonly total: number | undefined;
  /** The body is the whole file. */
  readonly isWhole: boolean;
  readonly body: AsyncIterable<Uint8Array>;
  readonly contentType: string | undefined;
}

/**
 * The body of one request, without bytes that are already on disk. Counts the bytes, and ends when the body
 * breaks off.
 */
export class UploadBody {
  readonly #request: UploadRequest;
  readonly #skip: number;
  readonly #signal: AbortSignal;
  #arrived = 0;
  #problem: Error | undefined;

  constructor(request: UploadRequest, skip: number, signal: AbortSignal) {
    this.#request = request;
    this.#skip = skip;
    this.#signal = signal;
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    const { length = Number.POSITIVE_INFINITY } = this.#request;
    const limit = limits.fileBytesMax;
    const stopped = () => fail("upload-taken-over", {});
    try {
      for await (const chunk of interruptible(this.#request.body, this.#signal)) {
        const before = this.#arrived;
        this.#arrived += chunk.length;
        if (this.#request.start + this.#arrived > limit)
          throw fail("body-too-large", { what: "sent", limit });
        const piece = chunk.subarray(Math.max(0, this.#skip - before), Math.max(0, length - before));
        if (piece.length > 0) yield piece;
      }
    } catch (problem) {
      this.#problem = this.#signal.aborted ? stopped() : incompleteBody(problem);
    }
    if (this.#signal.aborted) this.#problem ??= stopped();
  }

  /** The body is longer than announced, so it is unknown which bytes are valid. */
  get isTooLong(): boolean {
    return this.#arrived > (this.#request.length ?? this.#arrived);
  }

  /** Why the body is not complete, or undefined. */
  problem(): Error | undefined {
    const { length = this.#arrived } = this.#request;
    if (this.#problem) return this.#problem;
    if (this.#arrived < length) return incompleteBody(undefined);
    if (this.isTooLong)
      return fail("field-invalid", { field: "body", expected: `${length} bytes`, got: `${this.#arrived}` });
    return undefined;
  }
}

const incompleteBody = (problem: unknown): Error => {
  if (problem instanceof Error && problem.name === "Failure") return problem;
  return fail("request-malformed", { problem: "the body ends before its announced length" });
};

/** Ends when the signal is aborted, even while the source is waiting. */
async function* interruptible(source: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const chunks = source[Symbol.asyncIterator]();
  let stop = () => {};
  let isRefused = true;
  signal.addEventListener("abort", () => stop(), { once: true });
  try {
    while (!signal.aborted) {
      // A new promise for each chunk: a promise that outlives the loop would keep all chunks in memory.
      const chunk = await new Promise<Uint8Array | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        chunks.next().then(({ done, value }) => resolve(done ? undefined : value), reject);
      });
      if (!chunk) break;
      yield chunk;
    }
    isRefused = false;
  } finally {
    if (isRefused) discard(chunks);
  }
}

/**
 * Reads some of the rest of the body: a client that still sends would see a broken connection instead of
 * the refusal.
 */
function discard(chunks: AsyncIterator<Uint8Array>, left: number = limits.refusedBytesReadMax): void {
  chunks.next().then(
    ({ done, value }) => {
      if (done) return;
      if (value.length < left) discard(chunks, left - value.length);
      else chunks.return?.().catch(() => undefined);
    },
    () => undefined, // The client has gone.
  );
}
