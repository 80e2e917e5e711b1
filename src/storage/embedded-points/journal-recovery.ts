// Recovery: reads the journal of earlier processes at a start.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Damage } from "../points.ts";
import type { JournalRecord } from "./journal-record.ts";
import { endFileName, firstSequenceOf, recordsOf, segmentHeaderBytes } from "./segment.ts";
import {
  isSetAside,
  type JournalFolder,
  type JournalSegment,
  removeSegment,
  truncateSegment,
} from "./segment-files.ts";

export interface Recovered {
  readonly segments: readonly JournalSegment[];
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
  settings: JournalFolder,
  flushedSequence: number,
  apply: (record: JournalRecord) => Promise<void> | void,
): Promise<Recovered> {
  const files = await readdir(settings.folder);
  const names = await removeEmpty(
    settings,
    files.filter((name) => firstSequenceOf(name) !== undefined).sort(),
  );
  const segments: JournalSegment[] = [];
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
async function removeEmpty(settings: JournalFolder, names: readonly string[]): Promise<string[]> {
  const remaining: string[] = [];
  for (const name of names) {
    const { size } = await stat(join(settings.folder, name));
    if (size > segmentHeaderBytes) remaining.push(name);
    else await removeSegment(settings, name);
  }
  return remaining;
}

const setAsideEarlier = {
  offset: 0,
  expected: "a segment without damage",
  found: "damage at an earlier start",
};
