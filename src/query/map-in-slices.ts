// Maps the records of a large request, and lets other requests have their turn meanwhile.
import { TimeSlice } from "../lib/time-slice.ts";
import { limits } from "../limits.ts";

/**
 * As `items.map(make)`, in slices of time. A long list begins with a turn for others: its caller took time as
 * well.
 */
export async function mapInSlices<From, To>(
  items: readonly From[],
  make: (item: From, index: number) => To,
): Promise<To[]> {
  const slice = new TimeSlice(limits.timeSliceMs);
  const made: To[] = [];
  if (items.length > limits.itemsWithoutPause) await slice.next();
  for (const [index, item] of items.entries()) {
    if (slice.isOver()) await slice.next();
    made.push(make(item, index));
  }
  return made;
}
