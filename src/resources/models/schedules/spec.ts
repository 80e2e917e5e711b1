// What a schedule reads, when, and where it writes: one meaning for both forms of data specs, and its
// windows.
import { type Granularity, parseGranularity, type TimeRange } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import type { AggregateName } from "../../../storage/points.ts";
import type { GapFilling } from "../../analytics/matching/grid-rows.ts";

/** A series of its own, under a name (the newer form). */
export interface InputSeries {
  readonly alias: string;
  readonly id: number;
  readonly aggregate?: AggregateName;
  /** As in `12h`; there when the aggregate is. */
  readonly granularity?: string;
  readonly includeOutside?: boolean;
}

export interface FrameColumns {
  readonly id: number;
  /** What its columns are called in place of the name of the series. */
  readonly label?: string;
  readonly aggregates: readonly AggregateName[];
  readonly fill?: GapFilling;
}

/** Aggregates of several series side by side (the older form). */
export interface InputFrame {
  readonly label: string;
  readonly granularity: string;
  readonly series: readonly FrameColumns[];
}

export interface ScheduleSpec {
  readonly series: readonly InputSeries[];
  readonly frames: readonly InputFrame[];
  readonly files: readonly { readonly alias: string; readonly id: number }[];
  /** The points of an output lie in the window moved by its offset. */
  readonly outputs: readonly { readonly alias: string; readonly id: number; readonly offsetMs: number }[];
  readonly strideMs: number;
  readonly windowMs: number;
  /** The end of the first window. */
  readonly startMs: number;
  /** How long after its end data of a window may come; -1: until every series has a point at or after it. */
  readonly slackMs: number;
}

/** Of a granularity that was found good when the schedule was made. */
export const granularityOf = (text: string): Granularity => parseGranularity(text)!;

export const windowEndingAt = ({ windowMs }: ScheduleSpec, endMs: number): TimeRange => ({
  startMs: endMs - windowMs,
  endMs,
});

/** When a window is to be run at the earliest. */
export const dueAt = ({ slackMs }: ScheduleSpec, endMs: number): number => endMs + Math.max(0, slackMs);

/**
 * Of the windows that are due and were missed, how many are too many to be made up for: the oldest go. 0 when
 * all may be run.
 */
export function windowsToSkip(spec: ScheduleSpec, nextEndMs: number, nowMs: number): number {
  const due = Math.floor((nowMs - dueAt(spec, nextEndMs)) / spec.strideMs) + 1;
  return Math.max(0, due - limits.modelWindowsMissedMax);
}
