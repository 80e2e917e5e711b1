// Files beside the data: progress and reports. Others may write to that folder, so no link is followed.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { UsageError } from "./command.ts";

/** Windows has neither links without a right of their own nor owners by number. */
const noFollow = constants.O_NOFOLLOW ?? 0;

/**
 * Opens a file of this user for `task`, which gets the descriptor. Refuses links and files of other users,
 * which could lead the writer to another file or make it trust the content of another user.
 */
export function withOwnFile<Result>(
  file: string,
  flags: number,
  task: (descriptor: number) => Result,
): Result {
  const descriptor = openUnlinked(file, flags);
  try {
    const found = fstatSync(descriptor);
    const isOwn = process.geteuid === undefined || found.uid === process.geteuid();
    if (!found.isFile() || found.nlink > 1 || !isOwn) throw foreign(file);
    return task(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function openUnlinked(file: string, flags: number): number {
  try {
    return openSync(file, flags | noFollow | (constants.O_NONBLOCK ?? 0), 0o600);
  } catch (problem) {
    throw (problem as NodeJS.ErrnoException).code === "ELOOP" ? foreign(file) : problem;
  }
}

const foreign = (file: string) =>
  new UsageError(`${file} is a link or belongs to another user; remove it, or name another place`);
