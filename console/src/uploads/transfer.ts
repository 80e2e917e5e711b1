// Sends the bytes of a file to the link of a resumable upload, in chunks (docs/reference/files.md).
import { HttpError } from "@oazapfts/runtime";
import { ConnectionLost } from "../api/connection.ts";
import { serverMessageOf, statusOf } from "../api/errors.ts";
import { defaults } from "../api/generated.ts";

/** The bytes that the server has on disk. */
export interface Progress {
  readonly received: number;
  readonly isComplete: boolean;
}

const chunkBytes = { min: 256 * 1024, first: 1024 ** 2, max: 8 * 1024 ** 2 };
/** Progress is shown after each chunk, so a chunk takes about this time. */
const chunkMs = 1_000;
const retryMs = { first: 1_000, max: 10_000 };

interface Transfer {
  readonly url: string;
  readonly file: File;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/** Continues after the bytes that the server already has. */
export async function sendBytes({ url, file, signal, onProgress }: Transfer): Promise<void> {
  let progress = await readProgress(url, file.size, signal);
  onProgress(progress);
  for (let length = chunkBytes.first; !progress.isComplete; ) {
    const start = progress.received;
    const end = Math.min(file.size, start + length);
    // Bytes in memory: a file that changed on the disk fails here, not as a lost connection.
    const body = await file.slice(start, end).arrayBuffer();
    const startMs = performance.now();
    progress = await put(url, `bytes ${start}-${end - 1}/${file.size}`, { size: file.size, signal, body });
    onProgress(progress);
    length = nextLength(length, performance.now() - startMs);
  }
}

function nextLength(length: number, tookMs: number): number {
  if (tookMs < chunkMs / 2) return Math.min(2 * length, chunkBytes.max);
  return tookMs > 2 * chunkMs ? Math.max(length / 2, chunkBytes.min) : length;
}

/** Also completes an upload whose bytes are all there, such as that of an empty file. */
export const readProgress = (url: string, size: number, signal: AbortSignal): Promise<Progress> =>
  put(url, `bytes */${size}`, { size, signal });

interface PutOptions {
  readonly size: number;
  readonly signal: AbortSignal;
  readonly body?: ArrayBuffer;
}

async function put(url: string, range: string, { size, signal, body }: PutOptions): Promise<Progress> {
  const response = await defaults.fetch!(url, {
    ...{ method: "PUT", credentials: "omit", headers: { "Content-Range": range }, signal },
    ...(body && { body }),
  });
  const incomplete = 308;
  if (response.status === incomplete) {
    const [, last] = /-(\d+)$/.exec(response.headers.get("Range") ?? "") ?? [];
    return { received: last === undefined ? 0 : Number(last) + 1, isComplete: false };
  }
  if (!response.ok) throw new HttpError(response.status, await response.text(), response.headers);
  return { received: size, isComplete: true };
}

interface Retries {
  readonly signal: AbortSignal;
  /** The server is not there, or busy; the work is repeated after a while. */
  onWaiting(problem: unknown): void;
}

/** Repeats the work while the server cannot be reached. `onSuccess` is for parts of the work. */
export async function withRetries<Result>(
  work: (onSuccess: () => void) => Promise<Result>,
  { signal, onWaiting }: Retries,
): Promise<Result> {
  for (let waitMs: number = retryMs.first; ; waitMs = Math.min(2 * waitMs, retryMs.max))
    try {
      return await work(() => {
        waitMs = retryMs.first / 2;
      });
    } catch (problem) {
      if (signal.aborted || !isTemporary(problem)) throw problem;
      onWaiting(problem);
      await delay(waitMs, signal);
    }
}

/** A failure that a later request may not have, without any work of an administrator. */
const isTemporary = (problem: unknown): boolean =>
  problem instanceof ConnectionLost ||
  ([429, 502, 503, 504].includes(statusOf(problem) ?? 0) && !needsSpace(problem));

/** The refusals of a full disk, and no others, have these words (docs/reference/common.md). */
const needsSpace = (problem: unknown): boolean => /free disk space/.test(serverMessageOf(problem) ?? "");

/** Why an upload waits. A server that responds says it itself. */
export function waitingText(problem: unknown): string {
  const message = serverMessageOf(problem);
  return message === undefined ? "Continues when the server is back" : `Tries again by itself: ${message}`;
}

const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
