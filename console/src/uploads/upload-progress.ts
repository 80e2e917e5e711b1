// The progress of uploads.
import type { Upload } from "./upload-queue.ts";

/** The whole percent of the bytes that the server has; 100 only when it has all. */
export function percentOf(uploads: readonly Pick<Upload, "received" | "size" | "status">[]): number {
  const isDone = uploads.every(({ status }) => status === "done");
  if (isDone) return 100;
  const size = uploads.reduce((sum, upload) => sum + upload.size, 0);
  const received = uploads.reduce(
    (sum, upload) => sum + (upload.status === "done" ? upload.size : upload.received),
    0,
  );
  return size === 0 ? 0 : Math.min(99, Math.floor((100 * received) / size));
}
