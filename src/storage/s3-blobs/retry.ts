// Repeats requests to the store that failed for a reason that may pass, and describes failures without
// secrets.
import { setTimeout as pause } from "node:timers/promises";
import { Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";

/** A response of the store that its caller handles, such as `NoSuchKey`. */
export class S3Refusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`The store of files refused a request: ${code}`);
    this.code = code;
  }
}

/** The bytes that the store received are not those sent, or the bytes it returned are not those stored. */
export class ChecksumMismatch extends Error {
  override readonly name = "ChecksumMismatch";
}

/** The codes of responses that callers handle. */
const handled: ReadonlySet<string> = new Set([
  ...["NoSuchKey", "NotFound", "NoSuchUpload"],
  ...["InvalidPart", "InvalidPartOrder", "PreconditionFailed", "NotImplemented"],
]);

interface ErrorOfSdk {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/**
 * Runs `attempt` until it succeeds. Waits longer after each failure, at random, so that servers do not repeat
 * their requests at the same time. Fails with `file-store-away`, or with `S3Refusal`.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  attemptsMax: number = limits.s3AttemptsMax,
): Promise<Result> {
  const endMs = performance.now() + limits.s3RetryMsMax;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Failure) throw error;
      const { name = "", $metadata } = error as ErrorOfSdk;
      if (handled.has(name) && $metadata !== undefined) throw new S3Refusal(name);
      const waitMs = Math.random() * limits.s3BackoffMs * 2 ** attempts;
      if (!isPassing(error) || attempts >= attemptsMax || performance.now() + waitMs > endMs)
        throw fail("file-store-away", { problem: problemOf(error) });
      await pause(waitMs);
    }
  }
}

/** The store may accept the same request later: it is away, overloaded or restarting. */
function isPassing(error: unknown): boolean {
  const status = (error as ErrorOfSdk).$metadata?.httpStatusCode;
  return status === undefined || status >= 500 || status === 429 || status === 408 || status === 409;
}

/** Whether the store refused a request because the credentials do not permit it. */
export const isForbidden = (problem: unknown): boolean =>
  problem instanceof Failure &&
  problem.failure === "file-store-away" &&
  (problem.details as { readonly problem: string }).problem.endsWith("status 403");

/** The kind of an error. Messages of the store may repeat parts of requests, so they are not shown. */
export function problemOf(error: unknown): string {
  const { name = "Error", code = "", $metadata } = error as ErrorOfSdk;
  const status = $metadata?.httpStatusCode;
  if (error instanceof ChecksumMismatch) return error.message;
  if (status === undefined) return code === "" || code === name ? name : `${name}, ${code}`;
  return `${name}, status ${status}`;
}
