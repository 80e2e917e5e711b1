// The journal: every accepted change, in order, on disk before anybody is told of it.
//
// Changes that arrive while a group is being synced form the next group: one write, one sync. A group that
// cannot be written is taken back from the file and refused; where even that fails the journal is finished
// until the next start.
import { constants } from "node:fs";
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Damage } from "../points.ts";
import { bytesOf, type Change } from "./change.ts";
import { type Frame, markFrame, planFrame, writeFrame } from "./frame.ts";
import { bytesAt, type FrameMemory, type Place } from "./frame-memory.ts";
import { endName, firstOf, framesOf, segmentHeader, segmentHeaderBytes, segmentName } from "./segment.ts";

export interface JournalFile {
  writev(pieces: readonly Uint8Array[], position: number): Promise<{ readonly bytesWritten: number }>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/** The calls of the operating system that write; a test may let them fail. */
export interface JournalFiles {
  open(path: string, flags: number): Promise<JournalFile>;
  unlink(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export const realFiles: JournalFiles = { open, unlink, rename };

export interface StoredChange extends Pick<Frame, "sequence" | "change"> {
  /** Its frame, which belongs to whoever is told of the change. */
  readonly place: Place;
}

export interface JournalSettings {
  readonly folder: string;
  readonly files: JournalFiles;
  readonly memory: FrameMemory;
  /**
   * Called for each change in the order of the journal, once it is on disk and before its writer is
   * answered.
   */
  readonly onStored: (stored: StoredChange) => void;
}

interface Waiting {
  readonly change: Change;
  readonly resolve: () => void;
  readonly reject: (why: Failure) => void;
}

interface Segment {
  readonly name: string;
  readonly first: number;
  bytes: number;
  readonly isDamaged: boolean;
}

export class Journal {
  readonly #settings: JournalSettings;
  readonly #queue: Waiting[] = [];
  readonly #segments: Segment[];
  #file: JournalFile;
  /** Sequence number of the last change on disk. */
  #stored: number;
  #rotations: { resolve: (boundary: number) => void; reject: (why: unknown) => void }[] = [];
  #running: Promise<void> | undefined;
  #finished: string | undefined;
  #syncs = 0;
  #isMarkDue = false;

  private constructor(settings: JournalSettings, segments: Segment[], file: JournalFile) {
    this.#settings = settings;
    this.#segments = segments;
    this.#file = file;
    this.#stored = segments.at(-1)!.first - 1;
  }

  /**
   * Goes on behind the segments that recovery left, in a segment of its own beginning with sequence number
   * `first`.
   */
  static async open(settings: JournalSettings, older: readonly Segment[], first: number): Promise<Journal> {
    const { segment, file } = await createSegment(settings, first);
    return new Journal(settings, [...older, segment], file);
  }

  get bytes(): number {
    return this.#segments.reduce((sum, one) => sum + one.bytes, 0);
  }

  /** Why nothing is written until the next start; undefined while all is well. */
  get finished(): string | undefined {
    return this.#finished;
  }

  /** Syncs so far: fewer than changes when requests came together. */
  get syncs(): number {
    return this.#syncs;
  }

  /** Resolves when the change is on disk. Refuses with `points-not-stored` or `points-journal-finished`. */
  write(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#wake();
    });
  }

  /** Begins a new segment behind all changes written so far; answers the last sequence number before it. */
  rotate(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#rotations.push({ resolve, reject });
      this.#wake();
    });
  }

  /**
   * Says in the file that all changes so far are on disk, as each frame says of those before it: damage to
   * the last one can then be told from a write that never came to its end. The next frame is written over it,
   * and it is not synced: where it is lost, only that is not known.
   */
  mark(): void {
    this.#isMarkDue = this.#finished === undefined;
    this.#wake();
  }

  /** Deletes the segments that hold nothing behind `sequence`, the oldest first so that no gap can appear. */
  async drop(sequence: number): Promise<void> {
    while (this.#segments.length > 1 && this.#segments[1]!.first <= sequence + 1) {
      const { name, isDamaged } = this.#segments[0]!;
      if (isDamaged) await setAside(this.#settings, name);
      else await removeSegment(this.#settings, name);
      this.#segments.shift();
    }
  }

  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#file.close();
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isBusy) this.#wake();
    });
  }

  get #isBusy(): boolean {
    return this.#queue.length + this.#rotations.length > 0 || this.#isMarkDue;
  }

  async #run(): Promise<void> {
    while (this.#isBusy) {
      if (this.#rotations.length > 0) await this.#rotateNow();
      const group = this.#takeGroup();
      if (group.length > 0) await this.#store(group);
      else if (this.#isMarkDue) await this.#writeMark();
    }
  }

  async #writeMark(): Promise<void> {
    this.#isMarkDue = false;
    const { bytes } = this.#segments.at(-1)!;
    if (bytes === segmentHeaderBytes || this.#finished !== undefined) return;
    // Nobody waits for it; a disk that is full tells so when there is a change to write.
    await this.#file.writev([markFrame(this.#stored)], bytes).catch(() => undefined);
  }

  #takeGroup(): Waiting[] {
    let [count, bytes] = [0, 0];
    while (count < this.#queue.length && bytes < limits.journalGroupBytesMax) {
      bytes += bytesOf(this.#queue[count++]!.change);
    }
    return this.#queue.splice(0, count);
  }

  async #store(group: readonly Waiting[]): Promise<void> {
    if (this.#finished !== undefined) return this.#refuseForGood(group, this.#finished);
    const segment = this.#segments.at(-1)!;
    const frames = this.#frames(group);
    const pieces = frames.map(({ place }) => bytesAt(place));
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    let isWritten = false;
    try {
      const { bytesWritten } = await this.#file.writev(pieces, segment.bytes);
      if (bytesWritten !== bytes) throw new Error(`${bytesWritten} of ${bytes} bytes were written`);
      isWritten = true;
      await this.#file.datasync();
    } catch (why) {
      for (const { place } of frames) this.#settings.memory.free(place);
      await this.#takeBack(group, segment, { problem: (why as Error).message, isLast: isWritten });
      return;
    }
    this.#syncs++;
    segment.bytes += bytes;
    this.#stored += group.length;
    for (const frame of frames) this.#settings.onStored(frame);
    for (const { resolve } of group) resolve();
  }

  #frames(group: readonly Waiting[]): StoredChange[] {
    const durable = this.#stored;
    return group.map(({ change }, index) => {
      const sequence = durable + 1 + index;
      const plan = planFrame(change);
      const place = this.#settings.memory.take(plan.bytes);
      writeFrame(plan, { sequence, durable }, bytesAt(place));
      return { sequence, change, place };
    });
  }

  /**
   * Nothing of a refused group may come back at the next start, so the file ends again where it ended before.
   * After a failed sync the operating system may have dropped pages it reports as clean, so that file is not
   * written again.
   */
  async #takeBack(
    group: readonly Waiting[],
    segment: Segment,
    { problem, isLast }: { problem: string; isLast: boolean },
  ): Promise<void> {
    try {
      await this.#file.truncate(segment.bytes);
      await this.#file.datasync();
    } catch {
      await this.#markEnd(segment);
      return this.#refuseForGood(group, problem);
    }
    if (isLast) return this.#refuseForGood(group, problem);
    for (const { reject } of group) reject(fail("points-not-stored", { problem }));
  }

  async #markEnd(segment: Segment): Promise<void> {
    const path = join(this.#settings.folder, endName(segment.name));
    try {
      await writeFile(this.#settings, path, Buffer.from(`${segment.bytes}\n`));
    } catch {
      // The disk takes nothing at all any more: what the operator is told now is all that can be done.
    }
  }

  #refuseForGood(group: readonly Waiting[], problem: string): void {
    this.#finished = problem;
    for (const { reject } of group) reject(fail("points-journal-finished", { problem }));
  }

  async #rotateNow(): Promise<void> {
    const asked = this.#rotations;
    this.#rotations = [];
    try {
      if (this.#finished !== undefined) throw fail("points-journal-finished", { problem: this.#finished });
      const isEmpty = this.#segments.at(-1)!.bytes === segmentHeaderBytes;
      if (!isEmpty) await this.#nextSegment();
      for (const { resolve } of asked) resolve(this.#stored);
    } catch (why) {
      for (const { reject } of asked) reject(why);
    }
  }

  async #nextSegment(): Promise<void> {
    const { segment, file } = await createSegment(this.#settings, this.#stored + 1);
    await this.#file.close();
    this.#segments.push(segment);
    this.#file = file;
  }
}

export interface Recovered {
  readonly segments: readonly Segment[];
  /** The sequence number that comes next. */
  readonly next: number;
  readonly damage: readonly Damage[];
}

/**
 * Reads what earlier processes left, hands every whole frame behind `applied` to `apply` in order, cuts off
 * the torn end of the last segment, and syncs it: of a process that was killed it may hold frames that are
 * not on disk, and nothing that was once found may be missing later. `applied` is the sequence number up to
 * which all shards hold the changes in blocks.
 */
export async function recoverJournal(
  settings: Pick<JournalSettings, "folder" | "files">,
  applied: number,
  apply: (frame: Frame) => Promise<void> | void,
): Promise<Recovered> {
  const files = await readdir(settings.folder);
  const names = await withoutEmpty(settings, files.filter((name) => firstOf(name) !== undefined).sort());
  const segments: Segment[] = [];
  const damage: Damage[] = files.filter(isSetAside).map((file) => ({ file, ...setAsideEarlier }));
  let next = applied + 1;
  for (const [index, name] of names.entries()) {
    const first = firstOf(name)!;
    const bytes = await readWhole(settings.folder, name);
    if (first > next)
      damage.push({ file: name, offset: 0, expected: `frame ${next}`, found: `frame ${first}` });
    const report = { damage: [], length: 0 };
    const isLast = index === names.length - 1;
    next = Math.max(next, first);
    for (const frame of framesOf(bytes, { name, isLast }, report)) {
      next = Math.max(next, frame.sequence + 1);
      if (frame.sequence > applied) await apply(frame);
    }
    damage.push(...report.damage);
    if (isLast) await settleSegment(settings, name, report.length);
    const isEmpty = report.length <= segmentHeaderBytes;
    if (isEmpty) await removeSegment(settings, name);
    else segments.push({ name, first, bytes: report.length, isDamaged: report.damage.length > 0 });
  }
  return { segments, next, damage };
}

/** The bytes of a segment that count. */
async function readWhole(folder: string, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readFile(join(folder, name));
  return bytes.subarray(0, await markedEnd(folder, name));
}

/** A mark that is not whole was never finished: what it would have cut off was refused, but not lost. */
async function markedEnd(folder: string, name: string): Promise<number | undefined> {
  if (!(await readdir(folder)).includes(endName(name))) return undefined;
  const [, digits] = /^(\d+)\n$/.exec(await readFile(join(folder, endName(name)), "latin1")) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * A segment without a frame is one whose making was broken off, or refused, or whose removal was forgotten by
 * the disk. It says nothing, least of all that the one before it was finished.
 */
async function withoutEmpty(
  settings: Pick<JournalSettings, "folder" | "files">,
  names: readonly string[],
): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) {
    const { size } = await stat(join(settings.folder, name));
    if (size > segmentHeaderBytes) kept.push(name);
    else await removeSegment(settings, name);
  }
  return kept;
}

async function settleSegment(
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
  } catch (why) {
    await file.close();
    await settings.files.unlink(path).catch(() => undefined);
    throw fail("points-not-stored", { problem: (why as Error).message });
  }
  return { segment: { name, first, bytes: segmentHeaderBytes, isDamaged: false }, file };
}

/** The end mark goes last: while the segment is there its mark must be, also when the power fails. */
async function removeSegment(settings: Pick<JournalSettings, "folder" | "files">, name: string) {
  const { folder, files } = settings;
  await files.unlink(join(folder, name));
  if (!(await readdir(folder)).includes(endName(name))) return;
  await syncFolder(settings);
  await files.unlink(join(folder, endName(name)));
}

const isSetAside = (name: string): boolean => name.startsWith("damaged-");
const setAsideEarlier = {
  offset: 0,
  expected: "a segment without damage",
  found: "damage at an earlier start",
};

/** A damaged segment is kept for whoever wants to save more of it than its whole frames. */
async function setAside({ folder, files }: Pick<JournalSettings, "folder" | "files">, name: string) {
  await files.rename(join(folder, name), join(folder, `damaged-${name}`));
}

/** Makes created names in the folder last. */
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
