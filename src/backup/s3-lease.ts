// A lock in an S3 store: an object that its holder writes again and again. S3 has no lock that ends with a
// process, so a lock counts as left by a killed process when its object did not change for the term.
//
// No clock is compared with that of another machine: who waits for the end of a lock watches the object for
// the term, and the holder measures the time since its last write. Writes name the state that they replace.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { StartRefused } from "../data-folder.ts";
import { parseJson } from "../lib/json.ts";
import { contentOf } from "../storage/s3-blobs/content.ts";
import { S3Refusal } from "../storage/s3-blobs/retry.ts";
import type { S3Bucket } from "../storage/s3-blobs/s3-bucket.ts";

interface Held {
  readonly holder: string;
  /** Differs in each write. */
  readonly nonce: string;
}

interface LeaseOptions {
  readonly bucket: S3Bucket;
  readonly key: string;
  /** Others may take over the lock when its object did not change for so long. */
  readonly termMs: number;
}

/** How many writes of the object a term has. */
const renewalsOfTerm = 6;
/** Part of the term after the last write in which the holder may still change backups. */
const safePart = 1 / 3;
/** How often the object is read while another process waits for the end of its term. */
const looksOfTerm = 20;

export class Lease implements AsyncDisposable {
  readonly #options: LeaseOptions;
  readonly #timer: NodeJS.Timeout;
  #etag: string;
  /** The start of the last write that succeeded, on the clock of this process. */
  #renewedMs: number;
  #isLost = false;
  #renewing: Promise<void> | undefined;

  private constructor(options: LeaseOptions, { etag, startedMs }: Written) {
    this.#options = options;
    this.#etag = etag;
    this.#renewedMs = startedMs;
    this.#timer = setInterval(() => {
      // While the store is away, the lock ends with its term.
      this.renew().catch(() => undefined);
    }, options.termMs / renewalsOfTerm).unref();
  }

  /** Waits for the end of a lock that a killed process has left. Undefined while its holder renews it. */
  static async take(options: LeaseOptions): Promise<Lease | undefined> {
    let written = await write(options, undefined);
    if (written) return new Lease(options, written);
    const left = await etagAfterTerm(options);
    if (left === "alive") return undefined;
    written = await write(options, left);
    return written && new Lease(options, written);
  }

  /** Whether the store refuses a write whose condition does not hold. Some ignore conditions. */
  async isRespected(): Promise<boolean> {
    const other = await write(this.#options, undefined);
    if (other) this.#isLost = true;
    return other === undefined;
  }

  /** Writes the object again. Throws `StartRefused` if another process has taken over the lock. */
  async renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
    if (this.#isLost) throw lost(this.#options);
  }

  /** Throws `StartRefused` unless it is certain that no other process has taken over the lock. */
  requireHeld(): void {
    const isSafe = performance.now() - this.#renewedMs < this.#options.termMs * safePart;
    if (this.#isLost || !isSafe) throw lost(this.#options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing?.catch(() => undefined);
    try {
      this.requireHeld();
    } catch {
      return; // The object may be that of another process.
    }
    // A lock that cannot be removed ends with its term.
    await this.#options.bucket.delete(this.#options.key).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    const written = this.#isLost ? undefined : await write(this.#options, this.#etag);
    if (!written) {
      this.#isLost = true;
      clearInterval(this.#timer);
      return;
    }
    this.#etag = written.etag;
    this.#renewedMs = written.startedMs;
  }
}

/**
 * The ETag of an object that did not change for the term, undefined if there is none at its end, or that its
 * holder lives.
 */
export async function etagAfterTerm({
  bucket,
  key,
  termMs,
}: LeaseOptions): Promise<string | undefined | "alive"> {
  const first = (await bucket.head(key))?.etag;
  for (const untilMs = performance.now() + termMs; performance.now() < untilMs; ) {
    await pause(termMs / looksOfTerm);
    const etag = (await bucket.head(key))?.etag;
    if (etag === undefined) return undefined;
    if (etag !== first) return "alive";
  }
  return first;
}

interface Written {
  readonly etag: string;
  readonly startedMs: number;
}

/** Undefined if the object has another state than that of `etag`. */
async function write({ bucket, key }: LeaseOptions, etag: string | undefined): Promise<Written | undefined> {
  const startedMs = performance.now();
  const held: Held = { holder: `${hostname()} ${process.pid}`, nonce: randomUUID() };
  try {
    return { startedMs, etag: await bucket.put(key, contentOf(JSON.stringify(held)), { etag }) };
  } catch (problem) {
    if (!(problem instanceof S3Refusal)) throw problem;
    // An attempt whose response was lost has written the object, so the next attempt is refused.
    const found = await bucket.get(key);
    const isOwn = found && (parseJson(await text(found.stream)) as Held).nonce === held.nonce;
    return isOwn ? { startedMs, etag: found.etag } : undefined;
  }
}

const lost = ({ key }: LeaseOptions) =>
  new StartRefused(
    `The lock ${key} was lost: the store did not accept it in time, or another process has taken it`,
  );
