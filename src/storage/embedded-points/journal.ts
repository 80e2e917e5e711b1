// The journal (write-ahead log): every accepted change in order, on disk before its write resolves.
//
// Changes that arrive during a sync form the next group, which takes one write and one sync.
//
// | Failure | On disk | The writers get | The journal | The next start |
// |---|---|---|---|---|
// | encoding | nothing | `points-not-stored` | continues | - |
// | write | a part, which is truncated | `points-not-stored` | continues | - |
// | sync | unknown; the group is truncated | `points-journal-finished` | stops | reads up to the truncation |
// | truncation | unknown | `points-journal-finished` | stops | reads up to the length in the end file |
// | the end file too | unknown | `points-journal-finished` | stops | may find the refused group |
import { type Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { type Change, memoryBytesOf } from "./change.ts";
import { encodeMark, type JournalRecord, planRecord, writeRecord } from "./journal-record.ts";
import { segmentHeaderBytes } from "./segment.ts";
import {
  createSegment,
  type JournalFile,
  type JournalFolder,
  type JournalSegment,
  linkSegment,
  removeSegment,
  setAside,
  writeEndFile,
} from "./segment-files.ts";
import { type SharedRing, type SharedSlice, viewOf } from "./shared-ring.ts";

export interface StoredRecord extends Pick<JournalRecord, "sequence" | "change"> {
  /** The encoded record. `onStored` takes it over and frees it. */
  readonly slice: SharedSlice;
}

export interface JournalSettings extends JournalFolder {
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

export class Journal {
  readonly #settings: JournalSettings;
  readonly #queue: PendingWrite[] = [];
  readonly #segments: JournalSegment[];
  #file: JournalFile;
  /** Sequence number of the last change on disk. */
  #stored: number;
  #rotations: PendingRotation[] = [];
  #isMarkRequested = false;
  /** Runs while there is work; at most one at a time. */
  #draining: Promise<void> | undefined;
  #stoppedBecause: string | undefined;
  #syncs = 0;
  #keptIn: string | undefined;

  private constructor(settings: JournalSettings, segments: JournalSegment[], file: JournalFile) {
    this.#settings = settings;
    this.#segments = segments;
    this.#file = file;
    this.#stored = segments.at(-1)!.first - 1;
  }

  /**
   * Continues after the segments that recovery left, in a new segment that starts with sequence number
   * `first`.
   */
  static async open(
    settings: JournalSettings,
    older: readonly JournalSegment[],
    first: number,
  ): Promise<Journal> {
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

  /** From now on, a segment is linked into this folder before it is deleted. True if it was before. */
  keepIn(folder: string | undefined): boolean {
    const isSame = this.#keptIn === folder;
    this.#keptIn = folder;
    return isSame;
  }

  /** The folder of `keepIn`, until a segment could not be kept. */
  get keptIn(): string | undefined {
    return this.#keptIn;
  }

  /** Deletes segments without changes after `sequence`, the oldest first, so that no gap can appear. */
  async drop(sequence: number): Promise<void> {
    while (this.#segments.length > 1 && this.#segments[1]!.first <= sequence + 1) {
      const { name, isDamaged } = this.#segments[0]!;
      await this.#keep(name);
      if (isDamaged) await setAside(this.#settings, name);
      else await removeSegment(this.#settings, name);
      this.#segments.shift();
    }
  }

  /** Without space for it, the segment is deleted all the same: writers need the journal's space. */
  async #keep(name: string): Promise<void> {
    if (this.#keptIn === undefined) return;
    await linkSegment(this.#settings.folder, name, this.#keptIn).catch(() => {
      this.#keptIn = undefined;
    });
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

  /** Writes and syncs a group. Resolves or rejects each of its writes, also after a failure of any call. */
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
    segment: JournalSegment,
    { problem, fileUnusable }: { problem: string; fileUnusable: boolean },
  ): Promise<void> {
    try {
      await this.#file.truncate(segment.bytes);
      await this.#file.datasync();
    } catch {
      // If the disk accepts no write at all, all that is left is to report the failure to the writers.
      await writeEndFile(this.#settings, segment).catch(() => undefined);
      return this.#refuseAndStop(group, problem);
    }
    if (fileUnusable) return this.#refuseAndStop(group, problem);
    refuseGroup(group, problem);
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
