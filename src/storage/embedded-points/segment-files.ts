// Creates, truncates and removes the files of the journal: segments, their end files, and damaged segments
// that are kept.
import { constants } from "node:fs";
import { copyFile, link, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../../errors.ts";
import { canSyncFolders } from "../../lib/durable-files.ts";
import { endFileName, firstSequenceOf, segmentHeader, segmentHeaderBytes, segmentName } from "./segment.ts";

/** An open file of the journal. */
export interface JournalFile {
  writev(buffers: readonly Uint8Array[], position: number): Promise<{ readonly bytesWritten: number }>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/** The file system calls that write. Tests replace them to simulate failures. */
export interface JournalFiles {
  open(path: string, flags: number): Promise<JournalFile>;
  unlink(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export const realFiles: JournalFiles = { open, unlink, rename };

/** The folder of the journal, and how its files are written. */
export interface JournalFolder {
  readonly folder: string;
  readonly files: JournalFiles;
}

/** A file of the journal. */
export interface JournalSegment {
  readonly name: string;
  /** The sequence number of its first record. */
  readonly first: number;
  /** Its valid length. */
  bytes: number;
  readonly isDamaged: boolean;
}

/** Creates an empty segment whose first record will have the sequence number `first`. */
export async function createSegment(
  settings: JournalFolder,
  first: number,
): Promise<{ segment: JournalSegment; file: JournalFile }> {
  const name = segmentName(first);
  const path = join(settings.folder, name);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC;
  const file = await settings.files.open(path, flags);
  try {
    await file.writev([segmentHeader(first)], 0);
    await file.datasync();
    await syncFolder(settings);
  } catch (error) {
    await file.close();
    await settings.files.unlink(path).catch(() => undefined);
    throw fail("points-not-stored", { problem: (error as Error).message });
  }
  return { segment: { name, first, bytes: segmentHeaderBytes, isDamaged: false }, file };
}

/** Removes the end file last: while the segment exists its end file must too, also after a power failure. */
export async function removeSegment(settings: JournalFolder, name: string) {
  const { folder, files } = settings;
  await files.unlink(join(folder, name));
  if (!(await readdir(folder)).includes(endFileName(name))) return;
  await syncFolder(settings);
  await files.unlink(join(folder, endFileName(name)));
}

export async function truncateSegment({ folder, files }: JournalFolder, name: string, length: number) {
  const file = await files.open(join(folder, name), constants.O_RDWR);
  try {
    await file.truncate(length);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Records the valid length of a segment that cannot be truncated; recovery reads no further. */
export async function writeEndFile(settings: JournalFolder, { name, bytes }: JournalSegment): Promise<void> {
  const path = join(settings.folder, endFileName(name));
  await writeFile(settings, path, Buffer.from(`${bytes}\n`));
}

export const isSetAside = (name: string): boolean => name.startsWith("damaged-");

/** Keeps a damaged segment, so that more of it can be recovered by hand. */
export async function setAside({ folder, files }: JournalFolder, name: string) {
  await files.rename(join(folder, name), join(folder, `damaged-${name}`));
}

/**
 * Links the segments with changes up to `sequence` into another folder of the same disk. None of them is
 * written any more. With `mayVanish`, it leaves out segments that are deleted meanwhile.
 */
export async function linkSegments(
  folder: string,
  { sequence, target, mayVanish = false }: LinkedSegments,
): Promise<void> {
  for (const name of await readdir(folder)) {
    const first = firstSequenceOf(name);
    if (first === undefined || first > sequence) continue;
    await linkSegment(folder, name, target).catch((problem: NodeJS.ErrnoException) => {
      if (!mayVanish || problem.code !== "ENOENT") throw problem;
    });
  }
}

interface LinkedSegments {
  readonly sequence: number;
  readonly target: string;
  readonly mayVanish?: boolean;
}

/** Links a segment, and its end file if it has one. Does nothing if they are linked already. */
export async function linkSegment(folder: string, name: string, target: string): Promise<void> {
  const names = await readdir(target);
  // The end file first: without it, more of the segment would be read.
  for (const one of [endFileName(name), name]) {
    if (names.includes(one)) continue;
    const isOptional = one !== name;
    await linkOrCopy(join(folder, one), join(target, one)).catch((problem: NodeJS.ErrnoException) => {
      if (!isOptional || problem.code !== "ENOENT") throw problem;
    });
  }
}

/** Some file systems have no links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code === "ENOENT") throw problem;
    const draft = `${to}.new`;
    await copyFile(from, draft, constants.COPYFILE_FICLONE);
    await rename(draft, to);
  }
}

/** Makes created and removed names in the folder durable. */
async function syncFolder({ folder, files }: JournalFolder): Promise<void> {
  if (!canSyncFolders) return;
  const handle = await files.open(folder, constants.O_RDONLY);
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function writeFile(settings: JournalFolder, path: string, bytes: Uint8Array): Promise<void> {
  const file = await settings.files.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC);
  try {
    await file.writev([bytes], 0);
    await file.datasync();
  } finally {
    await file.close();
  }
  await syncFolder(settings);
}
