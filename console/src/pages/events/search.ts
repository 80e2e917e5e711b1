// The search parameters of the pages of events, and the time range that they name.
import { idsIn, present, textIn, wordIn } from "../../lib/search-values.ts";

export const eventRanges = ["1d", "7d", "30d", "90d", "365d", "3650d"] as const;
export type EventRange = (typeof eventRanges)[number];

export interface EventsSearch {
  /** Words of the description. */
  readonly text?: string;
  readonly type?: string;
  readonly subtype?: string;
  /** Assets; events of their subtrees. */
  readonly assets?: readonly number[];
  /** A range that ends now; 30 days when absent. */
  readonly last?: EventRange;
  /** A fixed range, in ms since 1970, in place of `last`. */
  readonly start?: number;
  readonly end?: number;
}

/** A time range in ms since 1970. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

const timeIn = (value: unknown): number | undefined => {
  const timeMs = Number(value ?? Number.NaN);
  return Number.isSafeInteger(timeMs) ? timeMs : undefined;
};

export function eventsSearch(raw: Record<string, unknown>): EventsSearch {
  const [start, end] = [timeIn(raw["start"]), timeIn(raw["end"])];
  const isRange = start !== undefined && end !== undefined && start < end;
  return present({
    text: textIn(raw["text"]),
    type: textIn(raw["type"]),
    subtype: textIn(raw["subtype"]),
    assets: idsIn(raw["assets"]),
    ...(isRange ? { start, end } : { last: wordIn(raw["last"], eventRanges) }),
  });
}

const dayMs = 86_400_000;
/** A range that ends now reaches a little into the future, where events are planned. */
const aheadPart = 0.03;

export function rangeOf({ start, end, last = "30d" }: EventsSearch, nowMs: number): TimeRange {
  if (start !== undefined && end !== undefined) return { startMs: start, endMs: end };
  const lengthMs = Number.parseInt(last, 10) * dayMs;
  return { startMs: nowMs - lengthMs, endMs: nowMs + Math.round(lengthMs * aheadPart) };
}
