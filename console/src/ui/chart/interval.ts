// The typical distance between the points of a series, by which gaps are detected.
import type { Columns } from "./columns.ts";

/** A line is interrupted where points are further apart than so many typical distances. */
const gapFactor = 8;
const pointsNeeded = 8;
/** Most distances are shorter than this quantile; single long ones do not matter. */
const quantile = 0.9;

/** Points with this distance or more are not connected; undefined when there are too few points to decide. */
export function gapOf(columns: Columns | undefined): number | undefined {
  if (!columns || columns.times.length < pointsNeeded) return undefined;
  const interval =
    columns.kind === "buckets" && columns.averagesMs === undefined
      ? columns.bucketMs / median(columns.counts)
      : distance(columns.times);
  return interval * gapFactor;
}

const median = (counts: Float64Array): number => counts.slice().sort()[counts.length >>> 1]!;

function distance(times: Float64Array): number {
  const distances = new Float64Array(times.length - 1);
  for (let i = 1; i < times.length; i++) distances[i - 1] = times[i]! - times[i - 1]!;
  return distances.sort()[Math.floor((distances.length - 1) * quantile)]!;
}
