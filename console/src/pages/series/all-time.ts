// The range of all times that points can have, and the number of points of a series.
import { useQuery } from "@tanstack/react-query";
import { getTimeseriesByIdDataCount } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";

/** Before all points. */
export const startOfTimeMs = Date.UTC(1900, 0, 1);
/** After all points: the latest timestamp is of the end of 2099. */
export const endOfTimeMs = Date.UTC(2100, 0, 1) - 1;

/** The number of points from `startMs` up to `endMs`, not included. */
export function usePointCount(id: number, { startMs = startOfTimeMs, endMs = endOfTimeMs } = {}) {
  const project = useProject();
  return useQuery({
    queryKey: ["series values", project, "count of", id, startMs, endMs],
    enabled: startMs < endMs,
    queryFn: async ({ signal }) => {
      const range = { start: String(startMs), end: String(endMs) };
      return (await getTimeseriesByIdDataCount(project, id, range, { signal })).data.items[0]!.count;
    },
  });
}
