// Reads aggregates over runs of buckets: the months of a year, or days with a change of clocks in between.
import type { BucketRun } from "../../lib/clock-buckets.ts";
import type { AggregateColumns, AggregateQuery } from "../../storage/points.ts";

/** The most reads of one series at a time. Each run is a read of its own. */
const runsAtOnce = 16;

export type RunQuery = Pick<AggregateQuery, "startMs" | "endMs" | "bucketMs" | "limit">;

/**
 * The first rows of buckets that start at or after `fromMs`: fewer than `limit` only if there are no more.
 */
export async function readBucketRows(
  runs: readonly BucketRun[],
  { fromMs, limit }: { readonly fromMs: number; readonly limit: number },
  read: (query: RunQuery) => Promise<AggregateColumns>,
): Promise<AggregateColumns> {
  const parts: AggregateColumns[] = [];
  let [left, rest] = [limit, runsFrom(runs, fromMs)];
  while (left > 0 && rest.length > 0) {
    const some = firstRuns(rest, left);
    const results = await Promise.all(
      some.map(({ startMs, bucketMs, count }) =>
        read({ startMs, endMs: startMs + count * bucketMs, bucketMs, limit: left }),
      ),
    );
    parts.push(...results);
    left -= results.reduce((sum, { times }) => sum + times.length, 0);
    rest = rest.slice(some.length);
  }
  return joined(parts, limit);
}

function runsFrom(runs: readonly BucketRun[], fromMs: number): BucketRun[] {
  return runs.flatMap(({ startMs, bucketMs, count }) => {
    const skipped = Math.max(0, Math.ceil((fromMs - startMs) / bucketMs));
    if (skipped >= count) return [];
    return [{ startMs: startMs + skipped * bucketMs, bucketMs, count: count - skipped }];
  });
}

/** The runs to read at once: as many as are needed for `rows` if each bucket has a row. */
function firstRuns(runs: readonly BucketRun[], rows: number): BucketRun[] {
  let [taken, buckets] = [0, 0];
  for (; taken < Math.min(runs.length, runsAtOnce) && buckets < rows; taken += 1)
    buckets += runs[taken]!.count;
  return runs.slice(0, taken);
}

/** The first rows of all parts. A single part stays as it is. */
function joined(parts: readonly AggregateColumns[], limit: number): AggregateColumns {
  const [first, ...others] = parts;
  if (!first) return { times: new Float64Array(), columns: [] };
  if (others.length === 0) return first;
  const count = Math.min(
    limit,
    parts.reduce((sum, { times }) => sum + times.length, 0),
  );
  const join = (columnOf: (part: AggregateColumns) => Float64Array) => {
    const target = new Float64Array(count);
    let at = 0;
    for (const part of parts) {
      const column = columnOf(part).subarray(0, count - at);
      target.set(column, at);
      at += column.length;
    }
    return target;
  };
  return {
    times: join(({ times }) => times),
    columns: first.columns.map((_, index) => join(({ columns }) => columns[index]!)),
  };
}
