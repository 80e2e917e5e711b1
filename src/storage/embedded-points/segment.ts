// One file of the journal: its name, its header, and what its bytes hold after a crash (FORMAT.md,
// "Journal").
import type { Damage } from "../points.ts";
import { decodeFrame, type Frame, looksLikeFrame, markBytes } from "./frame.ts";

const magic = "MILLJRN1";
export const segmentHeaderBytes = 16;

/** Names sort like sequence numbers. */
export const segmentName = (first: number): string => `journal-${String(first).padStart(16, "0")}.log`;

/** Holds how much of a segment counts, where cutting the file itself failed. */
export const endName = (segment: string): string => `${segment}.end`;

/** The number of the first frame of a segment by its name; undefined for the name of another file. */
export function firstOf(name: string): number | undefined {
  const digits = /^journal-(\d{16})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The first bytes of a segment whose first frame has this number. */
export function segmentHeader(first: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(segmentHeaderBytes));
  new Uint8Array(header.buffer).set(Buffer.from(magic, "latin1"));
  header.setFloat64(8, first, true);
  return new Uint8Array(header.buffer);
}

export interface SegmentReport {
  readonly damage: Damage[];
  /** The bytes behind this are the torn end of a write that was never acknowledged. */
  length: number;
}

/**
 * Every whole frame, in order. A bad stretch is a torn end, to be cut off with all behind it, only in the
 * last segment and only when no later frame says that it was on disk already; else it is damage, reported and
 * passed over.
 */
export function* framesOf(
  bytes: Uint8Array<ArrayBuffer>,
  { name, isLast }: { name: string; isLast: boolean },
  report: SegmentReport,
): Generator<Frame> {
  const bad = (offset: number, expected: string, found: string) =>
    report.damage.push({ file: name, offset, expected, found });
  let next = firstOf(name)!;
  let at = segmentHeaderBytes;
  const header = bytes.subarray(0, at);
  let isHeaderBad = Buffer.compare(header, segmentHeader(next)) !== 0;
  while (at < bytes.byteLength) {
    const frame = decodeFrame(bytes, at);
    if (frame !== undefined && frame.change === undefined) at += frame.raw.length;
    else if (frame === undefined) {
      const behind = nextFrame(bytes, at + 8);
      // A mark that was never synced; were it more, the next segment would begin behind a gap.
      if (behind === bytes.byteLength && behind - at <= markBytes) break;
      if (isLast && !wasDurable(bytes, behind, next)) break;
      bad(at, `frame ${next}`, `${behind - at} bytes without a whole frame`);
      at = behind;
    } else {
      // Without a frame behind it, it is a segment that was never finished.
      if (isHeaderBad)
        bad(0, `header of a segment beginning with frame ${next}`, Buffer.from(header).toString("hex"));
      isHeaderBad = false;
      yield frame;
      next = frame.sequence + 1;
      at += frame.raw.length;
    }
  }
  report.length = Math.min(at, bytes.byteLength);
}

/** Offset of the first whole frame at or behind `at`; the end of the bytes when there is none. */
function nextFrame(bytes: Uint8Array<ArrayBuffer>, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = at;
  while (found < bytes.byteLength) {
    if (looksLikeFrame(view, found) && decodeFrame(bytes, found) !== undefined) return found;
    found += 8;
  }
  return bytes.byteLength;
}

/** Whether a frame from `at` on was written when `sequence` was on disk already. */
function wasDurable(bytes: Uint8Array<ArrayBuffer>, at: number, sequence: number): boolean {
  let offset = at;
  while (offset < bytes.byteLength) {
    const frame = decodeFrame(bytes, offset);
    if (frame !== undefined && frame.durable >= sequence) return true;
    offset = nextFrame(bytes, offset + (frame?.raw.length ?? 8));
  }
  return false;
}
