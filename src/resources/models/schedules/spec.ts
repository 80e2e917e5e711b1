// The input, output and windows of a schedule, independent of the form of its data spec.
import { type Granularity, parseGranularity, type TimeRange } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import type { AggregateName } from "../../../storage/points.ts";
import type { GapFilling } from "../../analytics/matching/grid-rows.ts";

/** A series under its own alias (the newer form). */
export interface InputSeries {
  readonly alias: string;
  readonly id: number;
  readonly aggregate?: AggregateName;
  /** A granularity such as `12h`; present if `aggregate` is. */
  readonly granularity?: string;
  readonly includeOutside?: boolean;
}

export interface FrameColumns {
  readonly id: number;
  /** The label of its columns, instead of the name of the series. */
  readonly label?: string;
  readonly aggregates: readonly AggregateName[];
  readonly fill?: GapFilling;
}

/** A table of aggregates of several series (the older form). */
export interface InputFrame {
  readonly label: string;
  readonly granularity: string;
  readonly series: readonly FrameColumns[];
}

export interface ScheduleSpec {
  readonly series: readonly InputSeries[];
  readonly frames: readonly InputFrame[];
  readonly files: readonly { readonly alias: string; readonly id: number }[];
  /** The points of an output are in the window moved by the offset. */
  readonly outputs: readonly { readonly alias: string; readonly id: number; readonly offsetMs: number }[];
  readonly strideMs: number;
  readonly windowMs: number;
  /** The end of the first window. */
  readonly startMs: number;
  /**
   * How long after its end the data of a window may arrive; -1: until every series has a point at or after
   * the end.
   */
  readonly slackMs: number;
}

/** The granularity was validated when the schedule was created. */
export const granularityOf = (text: string): Granularity =>
  parseGranularity(text, limits.granularityDaysMax)!;

export const windowEndingAt = ({ windowMs }: ScheduleSpec, endMs: number): TimeRange => ({
  startMs: endMs - windowMs,
  endMs,
});

/** The earliest time to run a window. */
export const dueAt = ({ slackMs }: ScheduleSpec, endMs: number): number => endMs + Math.max(0, slackMs);

/** How many of the oldest missed windows to skip, if more are due than may be made up for; otherwise 0. */
export function windowsToSkip(spec: ScheduleSpec, nextEndMs: number, nowMs: number): number {
  const due = Math.floor((nowMs - dueAt(spec, nextEndMs)) / spec.strideMs) + 1;
  return Math.max(0, due - limits.modelWindowsMissedMax);
}
