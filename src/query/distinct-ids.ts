// Collects the distinct ids in lists of a large request, and lets other requests run meanwhile.
import { TimeSlice } from "../lib/time-slice.ts";
import { limits } from "../limits.ts";

/** The distinct ids of these lists in the order in which they occur first, in batches for one query each. */
export async function* distinctIds(lists: Iterable<readonly number[]>): AsyncGenerator<number[]> {
  const slice = new TimeSlice(limits.timeSliceMs);
  const seen = new Set<number>();
  let batch: number[] = [];
  for (const ids of lists) {
    if (slice.isOver()) await slice.next();
    for (const id of ids) {
      if (seen.has(id)) continue;
      seen.add(id);
      batch.push(id);
      if (batch.length < limits.idsPerQueryMax) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
