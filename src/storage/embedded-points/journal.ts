// The journal (write-ahead log): every accepted change in order, on disk before its write resolves.
//
// Changes that arrive during a sync form the next group, which takes one write and one sync. A group that
// cannot be written is removed from the file and refused. If removing fails as well, the journal stops until
// the next start.
import { constants } from "node:fs";
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Damage } from "../points.ts";
import { type Change, memoryBytesOf } from "./change.ts";
import { encodeMark, type JournalRecord, planRecord, writeRecord } from "./journal-record.ts";
import {
  endFileName,
  firstSequenceOf,
  recordsOf,
  segmentHeader,
  segmentHeaderBytes,
  segmentName,
} from "./segment.ts";
import { type SharedRing, type SharedSlice, viewOf } from "./shared-ring.ts";

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

export interface StoredRecord extends Pick<JournalRecord, "sequence" | "change"> {
  /** The encoded record. `onStored` takes it over and frees it. */
  readonly slice: SharedSlice;
}

export interface JournalSettings {
  readonly folder: string;
  readonly files: JournalFiles;
  readonly ring: SharedRing;
  /** Called for each change in journal order, when it is on disk and before its write resolves. */
  readonly onStored: (stored: StoredRecord) => void;
}

interface PendingWrite {
  readonly change: Change;
  readonly resolve: () => void;
  readonly reject: (failure: Failure) => void;
}

interface PendingRotation {
  readonly resolve: (boundary: number) => void;
  readonly reject: (error: unknown) => void;
}

interface Segment {
  readonly name: string;
  readonly first: number;
  bytes: number;
  readonly isDamaged: boolean;
}

export class Journal {
  readonly #settings: JournalSettings;
  readonly #queue: PendingWrite[] = [];
  readonly #segments: Segment[];
  #file: JournalFile;
  /** Sequence number of the last change on disk. */
  #stored: number;
  #rotations: PendingRotation[] = [];
  #isMarkRequested = false;
  /** Runs while there is work; at most one at a time. */
  #draining: Promise<void> | undefined;
  #stoppedBecause: string | undefined;
  #syncs = 0;

  private constructor(settings: JournalSettings, segments: Segment[], file: JournalFile) {
    this.#settings = settings;
    this.#segments = segments;
    this.#file = file;
    this.#stored = segments.at(-1)!.first - 1;
  }

  /**
   * Continues after the segments that recovery left, in a new segment that starts with sequence number
   * `first`.
   */
  static async open(settings: JournalSettings, older: readonly Segment[], first: number): Promise<Journal> {
    const { segment, file } = await createSegment(settings, first);
    return new Journal(settings, [...older, segment], file);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Why no change is accepted until the next start; undefined while the journal works. */
  get stoppedBecause(): string | undefined {
    return this.#stoppedBecause;
  }

  /** Number of syncs so far: less than the number of changes when writers share them. */
  get syncs(): number {
    return this.#syncs;
  }

  /** Resolves when the change is on disk. Rejects with `points-not-stored` or `points-journal-finished`. */
  write(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#startDraining();
    });
  }

  /**
   * Starts a new segment after all changes written so far. Resolves with the last sequence number before it.
   */
  rotate(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#rotations.push({ resolve, reject });
      this.#startDraining();
    });
  }

  /**
   * Records in the file that all changes so far are on disk, as each record does for those before it. Damage
   * to the last record can then be told from a write that was never completed. The next record overwrites the
   * mark. It is not synced: a lost mark loses only that knowledge.
   */
  writeMark(): void {
    this.#isMarkRequested = this.#stoppedBecause === undefined;
    this.#startDraining();
  }

  /** Deletes segments without changes after `sequence`, the oldest first, so that no gap can appear. */
  async drop(sequence: number): Promise<void> {
    while (this.#segments.length > 1 && this.#segments[1]!.first <= sequence + 1) {
      const { name, isDamaged } = this.#segments[0]!;
      if (isDamaged) await setAside(this.#settings, name);
      else await removeSegment(this.#settings, name);
      this.#segments.shift();
    }
  }

  async close(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
    await this.#file.close();
  }

  #startDraining(): void {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      if (this.#hasWork) this.#startDraining();
    });
  }

  get #hasWork(): boolean {
    return this.#queue.length + this.#rotations.length > 0 || this.#isMarkRequested;
  }

  async #drain(): Promise<void> {
    while (this.#hasWork) {
      if (this.#rotations.length > 0) await this.#rotateNow();
      const group = this.#takeGroup();
      if (group.length > 0) await this.#store(group);
      else if (this.#isMarkRequested) await this.#writeMarkNow();
    }
  }

  async #writeMarkNow(): Promise<void> {
    this.#isMarkRequested = false;
    const { bytes } = this.#segments.at(-1)!;
    if (bytes === segmentHeaderBytes || this.#stoppedBecause !== undefined) return;
    // No caller waits for the mark. The next change reports a full disk.
    await this.#file.writev([encodeMark(this.#stored)], bytes).catch(() => undefined);
  }

  #takeGroup(): PendingWrite[] {
    let [count, bytes] = [0, 0];
    while (count < this.#queue.length && bytes < limits.journalGroupBytesMax) {
      bytes += memoryBytesOf(this.#queue[count++]!.change);
    }
    return this.#queue.splice(0, count);
  }

  /** Writes and syncs a group. Resolves or rejects each of its writes, whatever fails. */
  async #store(group: readonly PendingWrite[]): Promise<void> {
    if (this.#stoppedBecause !== undefined) return this.#refuseAndStop(group, this.#stoppedBecause);
    const segment = this.#segments.at(-1)!;
    const records: StoredRecord[] = [];
    let state: "encoding" | "writing" | "syncing" = "encoding";
    try {
      for (const { change } of group) records.push(this.#encode(change, this.#stored + 1 + records.length));
      state = "writing";
      const bytes = await this.#append(records, segment.bytes);
      state = "syncing";
      await this.#file.datasync();
      segment.bytes += bytes;
    } catch (error) {
      for (const { slice } of records) this.#settings.ring.free(slice);
      const { message: problem } = error as Error;
      if (state === "encoding") refuseGroup(group, problem);
      else await this.#undoWrite(group, segment, { problem, fileUnusable: state === "syncing" });
      return;
    }
    this.#syncs++;
    this.#stored += group.length;
    for (const record of records) this.#settings.onStored(record);
    for (const { resolve } of group) resolve();
  }

  #encode(change: Change, sequence: number): StoredRecord {
    const plan = planRecord(change);
    const slice = this.#settings.ring.allocate(plan.bytes);
    writeRecord(plan, { sequence, durableSequence: this.#stored }, viewOf(slice));
    return { sequence, change, slice };
  }

  /** Returns the number of bytes written. */
  async #append(records: readonly StoredRecord[], position: number): Promise<number> {
    const buffers = records.map(({ slice }) => viewOf(slice));
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    const { bytesWritten } = await this.#file.writev(buffers, position);
    if (bytesWritten !== bytes) throw new Error(`${bytesWritten} of ${bytes} bytes were written`);
    return bytes;
  }

  /**
   * A refused group must not come back at the next start, so the file is truncated to its end before the
   * group. After a failed sync, the operating system may have dropped pages that it reports as clean; such a
   * file is never written again.
   */
  async #undoWrite(
    group: readonly PendingWrite[],
    segment: Segment,
    { problem, fileUnusable }: { problem: string; fileUnusable: boolean },
  ): Promise<void> {
    try {
      await this.#file.truncate(segment.bytes);
      await this.#file.datasync();
    } catch {
      await this.#recordEnd(segment);
      return this.#refuseAndStop(group, problem);
    }
    if (fileUnusable) return this.#refuseAndStop(group, problem);
    refuseGroup(group, problem);
  }

  async #recordEnd(segment: Segment): Promise<void> {
    const path = join(this.#settings.folder, endFileName(segment.name));
    try {
      await writeFile(this.#settings, path, Buffer.from(`${segment.bytes}\n`));
    } catch {
      // The disk accepts no write at all. All that is left is to report the failure to the writers.
    }
  }

  #refuseAndStop(group: readonly PendingWrite[], problem: string): void {
    this.#stoppedBecause = problem;
    for (const { reject } of group) reject(fail("points-journal-finished", { problem }));
  }

  async #rotateNow(): Promise<void> {
    const rotations = this.#rotations;
    this.#rotations = [];
    try {
      if (this.#stoppedBecause !== undefined)
        throw fail("points-journal-finished", { problem: this.#stoppedBecause });
      const isEmpty = this.#segments.at(-1)!.bytes === segmentHeaderBytes;
      if (!isEmpty) await this.#startSegment();
      for (const { resolve } of rotations) resolve(this.#stored);
    } catch (error) {
      for (const { reject } of rotations) reject(error);
    }
  }

  async #startSegment(): Promise<void> {
    const { segment, file } = await createSegment(this.#settings, this.#stored + 1);
    await this.#file.close();
    this.#segments.push(segment);
    this.#file = file;
  }
}

function refuseGroup(group: readonly PendingWrite[], problem: string): void {
  for (const { reject } of group) reject(fail("points-not-stored", { problem }));
}

export interface Recovered {
  readonly segments: readonly Segment[];
  /** The next sequence number. */
  readonly next: number;
  readonly damage: readonly Damage[];
}

/**
 * Reads the segments of earlier processes and passes every whole record after `flushedSequence` to `apply`,
 * in order. `flushedSequence` is the sequence number up to which all shards have the changes in blocks.
 *
 * Cuts off the torn end of the final segment and syncs it: after a kill, it may have records that are not on
 * disk yet, and a change that was once visible must never disappear.
 */
export async function recoverJournal(
  settings: Pick<JournalSettings, "folder" | "files">,
  flushedSequence: number,
  apply: (record: JournalRecord) => Promise<void> | void,
): Promise<Recovered> {
  const files = await readdir(settings.folder);
  const names = await removeEmpty(
    settings,
    files.filter((name) => firstSequenceOf(name) !== undefined).sort(),
  );
  const segments: Segment[] = [];
  const damage: Damage[] = files.filter(isSetAside).map((file) => ({ file, ...setAsideEarlier }));
  let next = flushedSequence + 1;
  for (const [index, name] of names.entries()) {
    const first = firstSequenceOf(name)!;
    const bytes = await readSegment(settings.folder, name);
    if (first > next)
      damage.push({ file: name, offset: 0, expected: `record ${next}`, found: `record ${first}` });
    const report = { damage: [], length: 0 };
    const isFinalSegment = index === names.length - 1;
    next = Math.max(next, first);
    for (const record of recordsOf(bytes, { name, isFinalSegment }, report)) {
      next = Math.max(next, record.sequence + 1);
      if (record.sequence > flushedSequence) await apply(record);
    }
    damage.push(...report.damage);
    if (isFinalSegment) await truncateSegment(settings, name, report.length);
    const isEmpty = report.length <= segmentHeaderBytes;
    if (isEmpty) await removeSegment(settings, name);
    else segments.push({ name, first, bytes: report.length, isDamaged: report.damage.length > 0 });
  }
  return { segments, next, damage };
}

/** The valid bytes of a segment. */
async function readSegment(folder: string, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readFile(join(folder, name));
  return bytes.subarray(0, await recordedEnd(folder, name));
}

/**
 * The length in the segment's end file. An incomplete end file was never finished, so it counts for nothing:
 * the bytes that it should cut off were refused, and need not be lost.
 */
async function recordedEnd(folder: string, name: string): Promise<number | undefined> {
  if (!(await readdir(folder)).includes(endFileName(name))) return undefined;
  const [, digits] = /^(\d+)\n$/.exec(await readFile(join(folder, endFileName(name)), "latin1")) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Removes segments without a record and returns the others. Such a segment was never finished, or was
 * refused, or its removal did not reach the disk. It does not prove that the segment before it was finished.
 */
async function removeEmpty(
  settings: Pick<JournalSettings, "folder" | "files">,
  names: readonly string[],
): Promise<string[]> {
  const remaining: string[] = [];
  for (const name of names) {
    const { size } = await stat(join(settings.folder, name));
    if (size > segmentHeaderBytes) remaining.push(name);
    else await removeSegment(settings, name);
  }
  return remaining;
}

async function truncateSegment(
  { folder, files }: Pick<JournalSettings, "folder" | "files">,
  name: string,
  length: number,
) {
  const file = await files.open(join(folder, name), constants.O_RDWR);
  try {
    await file.truncate(length);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function createSegment(
  settings: JournalSettings,
  first: number,
): Promise<{ segment: Segment; file: JournalFile }> {
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
async function removeSegment(settings: Pick<JournalSettings, "folder" | "files">, name: string) {
  const { folder, files } = settings;
  await files.unlink(join(folder, name));
  if (!(await readdir(folder)).includes(endFileName(name))) return;
  await syncFolder(settings);
  await files.unlink(join(folder, endFileName(name)));
}

const isSetAside = (name: string): boolean => name.startsWith("damaged-");
const setAsideEarlier = {
  offset: 0,
  expected: "a segment without damage",
  found: "damage at an earlier start",
};

/** Keeps a damaged segment, so that more of it can be recovered by hand. */
async function setAside({ folder, files }: Pick<JournalSettings, "folder" | "files">, name: string) {
  await files.rename(join(folder, name), join(folder, `damaged-${name}`));
}

/** Makes created and removed names in the folder durable. */
async function syncFolder({ folder, files }: Pick<JournalSettings, "folder" | "files">): Promise<void> {
  const handle = await files.open(folder, constants.O_RDONLY);
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function writeFile(settings: JournalSettings, path: string, bytes: Uint8Array): Promise<void> {
  const file = await settings.files.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC);
  try {
    await file.writev([bytes], 0);
    await file.datasync();
  } finally {
    await file.close();
  }
  await syncFolder(settings);
}
