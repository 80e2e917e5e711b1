// Errors of a disk as the failure `file-not-stored`.
import { fail } from "../errors.ts";

/** Errors of a disk that is full, broken or read-only. */
const diskErrors: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EFBIG"]);

/** Turns an error of the disk into the failure `file-not-stored`. */
export async function refuseDiskErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (problem) {
    const { code = "" } = problem as NodeJS.ErrnoException;
    throw diskErrors.has(code) ? fail("file-not-stored", { problem: code }) : problem;
  }
}
