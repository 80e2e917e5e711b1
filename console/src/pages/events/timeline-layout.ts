// Places events on a time line: a lane for each type, and rows inside of a lane for events at the same time.
import type { Event } from "../../api/generated.ts";
import type { TimeRange } from "./search.ts";

export interface PlacedEvent {
  readonly event: Event;
  readonly row: number;
  readonly startMs: number;
  /** The present time for an event that is open. */
  readonly endMs: number;
  /** It has no end yet. */
  readonly isOpen: boolean;
}

export interface Lane {
  readonly type: string;
  readonly rows: number;
  readonly events: readonly PlacedEvent[];
}

const lanesMax = 12;
const rowsMax = 4;
/** An event takes at least this part of the range, so that short events beside each other stay apart. */
const widthPart = 0.006;

export const typeOf = ({ type }: Event): string => type ?? "(no type)";

/** Lanes with many events come first. Events of further types share the last lane. */
export function lanesOf(events: readonly Event[], range: TimeRange, nowMs: number): Lane[] {
  const groups = [...Map.groupBy(events, typeOf)].sort(
    (a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1),
  );
  const own = groups.length > lanesMax ? groups.slice(0, lanesMax - 1) : groups;
  const rest = groups.slice(own.length).flatMap(([, members]) => members);
  const all = rest.length === 0 ? own : [...own, ["other types", rest] as const];
  return all.map(([type, members]) => laneOf(type, members, range, nowMs));
}

function laneOf(type: string, events: readonly Event[], range: TimeRange, nowMs: number): Lane {
  const leastMs = (range.endMs - range.startMs) * widthPart;
  const freeFrom: number[] = [];
  const placed = events
    .filter(({ startTime }) => startTime !== undefined)
    .sort((a, b) => a.startTime! - b.startTime!)
    .map((event): PlacedEvent => {
      const startMs = event.startTime!;
      const isOpen = event.endTime === undefined;
      const endMs = Math.max(startMs, event.endTime ?? nowMs);
      const free = freeFrom.findIndex((fromMs) => fromMs <= startMs);
      const row = free === -1 ? Math.min(freeFrom.length, rowsMax - 1) : free;
      freeFrom[row] = Math.max(freeFrom[row] ?? Number.NEGATIVE_INFINITY, endMs, startMs + leastMs);
      return { event, row, startMs, endMs, isOpen };
    });
  return { type, rows: Math.max(1, freeFrom.length), events: placed };
}

/** The range after zooming by a factor around a time, which stays where it is. */
export function zoomed({ startMs, endMs }: TimeRange, factor: number, aroundMs: number): TimeRange {
  const lengthMs = Math.min(longestMs, Math.max(shortestMs, (endMs - startMs) * factor));
  const part = (aroundMs - startMs) / (endMs - startMs);
  const from = Math.round(aroundMs - part * lengthMs);
  return { startMs: from, endMs: from + Math.round(lengthMs) };
}

const shortestMs = 10_000;
const longestMs = 100 * 365 * 86_400_000;

/** The range moved by a part of its length. */
export function panned({ startMs, endMs }: TimeRange, part: number): TimeRange {
  const byMs = Math.round((endMs - startMs) * part);
  return { startMs: startMs + byMs, endMs: endMs + byMs };
}
