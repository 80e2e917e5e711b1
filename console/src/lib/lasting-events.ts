// Events that began before a time and last beyond it: those that ended later, and those that still last.
import { type Event, getEventsSearch } from "../api/generated.ts";

type Conditions = Parameters<typeof getEventsSearch>[1];

interface LastingOptions {
  readonly startMs: number;
  /** The most of each kind. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface LastingEvents {
  /** Those that still last first, then the latest end first. */
  readonly items: readonly Event[];
  /** Whether there may be more of a kind. */
  readonly isCut: boolean;
}

export async function readLasting(
  project: string,
  conditions: Conditions,
  { startMs, limit, signal }: LastingOptions,
): Promise<LastingEvents> {
  const begun = { ...conditions, maxStartTime: startMs - 1, dir: "desc", limit } as const;
  const responses = await Promise.all([
    getEventsSearch(project, { ...begun, hasEndTime: false, sort: "startTime" }, { signal }),
    getEventsSearch(project, { ...begun, minEndTime: startMs, sort: "endTime" }, { signal }),
  ]);
  const kinds = responses.map(({ data }) => data.items);
  return { items: kinds.flat(), isCut: kinds.some(({ length }) => length === limit) };
}
