// One file of the journal: its name, its header, and the records that it has after a crash (FORMAT.md,
// "Journal").
import type { Damage } from "../points.ts";
import { decodeRecord, hasRecordMagic, type JournalRecord, markBytes } from "./journal-record.ts";

const magic = "MILLJRN1";
export const segmentHeaderBytes = 16;

/** Names sort like sequence numbers. */
export const segmentName = (first: number): string => `journal-${String(first).padStart(16, "0")}.log`;

/** Name of the file with the valid length of a segment, which exists where truncating the segment failed. */
export const endFileName = (segment: string): string => `${segment}.end`;

/** The sequence number of the first record of a segment, from its name; undefined for other files. */
export function firstSequenceOf(name: string): number | undefined {
  const digits = /^journal-(\d{16})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The header of a segment whose first record has this sequence number. */
export function segmentHeader(first: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(segmentHeaderBytes));
  new Uint8Array(header.buffer).set(Buffer.from(magic, "latin1"));
  header.setFloat64(8, first, true);
  return new Uint8Array(header.buffer);
}

export interface SegmentReport {
  readonly damage: Damage[];
  /** Valid length. The bytes after it are the torn end of a write that was never acknowledged. */
  length: number;
}

/**
 * Yields every whole record in order, and fills the report. Bytes without a whole record are a torn end, cut
 * off with everything after them, when they are in the final segment and no later record shows that they were
 * on disk. Otherwise they are damage, which is reported and skipped.
 */
export function* recordsOf(
  bytes: Uint8Array<ArrayBuffer>,
  { name, isFinalSegment }: { name: string; isFinalSegment: boolean },
  report: SegmentReport,
): Generator<JournalRecord> {
  const addDamage = (offset: number, expected: string, found: string) =>
    report.damage.push({ file: name, offset, expected, found });
  let next = firstSequenceOf(name)!;
  let offset = segmentHeaderBytes;
  const header = bytes.subarray(0, offset);
  let isHeaderDamaged = Buffer.compare(header, segmentHeader(next)) !== 0;
  while (offset < bytes.byteLength) {
    const record = decodeRecord(bytes, offset);
    if (record !== undefined && record.change === undefined) offset += record.bytes.length;
    else if (record === undefined) {
      const resume = nextRecordOffset(bytes, offset + 8);
      // A mark that was never synced. If a change was lost here, the next segment would start after a gap.
      if (resume === bytes.byteLength && resume - offset <= markBytes) break;
      if (isFinalSegment && !wasDurable(bytes, resume, next)) break;
      addDamage(offset, `record ${next}`, `${resume - offset} bytes without a whole record`);
      offset = resume;
    } else {
      // The damage counts only when a record follows; without one, the segment was never finished.
      if (isHeaderDamaged)
        addDamage(0, `header of a segment starting with record ${next}`, Buffer.from(header).toString("hex"));
      isHeaderDamaged = false;
      yield record;
      next = record.sequence + 1;
      offset += record.bytes.length;
    }
  }
  report.length = Math.min(offset, bytes.byteLength);
}

/** Offset of the first whole record at or after `from`; the end of the bytes without one. */
function nextRecordOffset(bytes: Uint8Array<ArrayBuffer>, from: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = from; offset < bytes.byteLength; offset += 8)
    if (hasRecordMagic(view, offset) && decodeRecord(bytes, offset) !== undefined) return offset;
  return bytes.byteLength;
}

/** Whether a record at or after `from` was written when `sequence` was already on disk. */
function wasDurable(bytes: Uint8Array<ArrayBuffer>, from: number, sequence: number): boolean {
  let offset = from;
  while (offset < bytes.byteLength) {
    const record = decodeRecord(bytes, offset);
    if (record !== undefined && record.durableSequence >= sequence) return true;
    offset = nextRecordOffset(bytes, offset + (record?.bytes.length ?? 8));
  }
  return false;
}
