// Events that began before a time and last beyond it: those that ended later, and those that still last.
import { type Event, getEventsSearch } from "../api/generated.ts";

type Conditions = Parameters<typeof getEventsSearch>[1];

interface Lasting {
  readonly startMs: number;
  /** The most of each kind. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Those that still last first, then the latest end first. */
export async function readLasting(
  project: string,
  conditions: Conditions,
  { startMs, limit, signal }: Lasting,
): Promise<readonly Event[]> {
  const begun = { ...conditions, maxStartTime: startMs - 1, dir: "desc", limit } as const;
  const kinds = await Promise.all([
    getEventsSearch(project, { ...begun, hasEndTime: false, sort: "startTime" }, { signal }),
    getEventsSearch(project, { ...begun, minEndTime: startMs, sort: "endTime" }, { signal }),
  ]);
  return kinds.flatMap(({ data }) => data.items);
}
