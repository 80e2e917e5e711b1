// The events that overlap a window, as bands of the chart.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Event, getEventsSearch } from "../../api/generated.ts";
import { eventColor } from "../../lib/event-color.ts";
import { readLasting } from "../../lib/lasting-events.ts";
import { useProject } from "../../session/session.ts";
import type { ChartColors } from "../../ui/chart/chart-colors.ts";
import type { ChartBand } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";

/** More bands than these cannot be told apart. */
const eventsMax = 750;
/** The range moves in such parts of the window: a live window does not read the events each second. */
const rangeSteps = 16;
/** So many parts are read on each side: the bands that come into view while the window is panned. */
const stepsBeside = 4;
/** New events of a live window are shown after this time. */
const liveEveryMs = 5_000;
/** In the address, for events of all types. */
export const allTypes = "*";
/** In the address, for events without a type: the address has no empty values. */
export const noType = "*none";

export interface TrendEvents {
  readonly bands: readonly ChartBand[];
  /** The types of the events in the window, for the filter, as the address has them. */
  readonly types: readonly string[];
  /** Whether there are more events than are shown. */
  readonly isCut: boolean;
  readonly problem: unknown;
}

interface EventsShown {
  /** Undefined when no events are shown. */
  readonly types: readonly string[] | undefined;
  readonly window: TimeWindow;
  readonly isLive: boolean;
}

export function useEvents({ types, window, isLive }: EventsShown, { scheme }: ChartColors): TrendEvents {
  const { startMs, endMs } = window;
  const project = useProject();
  const stepMs = Math.ceil((endMs - startMs) / rangeSteps);
  const range = {
    startMs: Math.max(0, (Math.floor(startMs / stepMs) - stepsBeside) * stepMs),
    endMs: (Math.ceil(endMs / stepMs) + stepsBeside) * stepMs,
  };
  const { data, error } = useQuery({
    queryKey: ["trend events", project, range],
    enabled: types !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: isLive && liveEveryMs,
    queryFn: ({ signal }) => loadEvents(project, range, signal),
  });
  return useMemo(() => {
    const found = types === undefined ? [] : (data ?? []);
    const shown = found.filter((event) => types?.includes(allTypes) || types?.includes(typeOf(event)));
    return {
      types: [...new Set(found.map(typeOf))].sort(),
      isCut: found.length >= eventsMax,
      problem: error,
      bands: shown.map((event) => ({
        key: String(event.id),
        lane: event.type ?? "",
        label: [event.type, event.subtype, event.description].filter(Boolean).join(" · "),
        startMs: event.startTime ?? event.endTime ?? 0,
        endMs: event.endTime,
        color: eventColor(event.type ?? "")[scheme],
      })),
    };
  }, [types, data, error, scheme]);
}

const typeOf = ({ type }: Event): string => type || noType;

/** Those that begin in the window, and those that began before and last into it. */
async function loadEvents(
  project: string,
  { startMs, endMs }: TimeWindow,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const range = { minStartTime: startMs, maxStartTime: endMs, limit: eventsMax };
  const [begun, lasting] = await Promise.all([
    getEventsSearch(project, { ...range, sort: "startTime", dir: "desc" }, { signal }),
    readLasting(project, {}, { startMs, limit: eventsMax, signal }),
  ]);
  return [...begun.data.items, ...lasting.items].slice(0, eventsMax);
}
