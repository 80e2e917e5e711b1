// The context of the insert decoder, for tests without a server.
import { Generations } from "../../src/access/generations.ts";
import { everything } from "../../src/query/filter.ts";
import type {
  IncomingPoints,
  InsertContext,
} from "../../src/resources/datapoints/inserts/incoming-points.ts";
import { InsertBuffers } from "../../src/resources/datapoints/inserts/insert-buffers.ts";
import { SeriesCache } from "../../src/resources/timeseries/series-cache.ts";

export const insertContext = (): InsertContext => ({
  insertBuffers: new InsertBuffers(),
  seriesCache: new SeriesCache(new Generations()),
  projectId: 1,
});

/** Stores the plan of these keys, as an insert does whose series all exist. */
export function storePlan({ seriesCache, projectId }: InsertContext, { keys }: IncomingPoints): void {
  const series = keys.map((key, id) => ({ id, name: String(key), isString: false, isStep: false }));
  const ids = Float64Array.from(series, ({ id }) => id);
  const state = seriesCache.of(projectId).stateFor(everything);
  seriesCache.store(projectId, { keys, series, ids, isNumeric: true, state });
}

/** Columns without a point, for kinds of values that an insert has none of. */
export const emptyColumns = ({ keys }: Pick<IncomingPoints, "keys">) => ({
  times: new Float64Array(),
  values: [] as readonly string[],
  ends: new Uint32Array(keys.length),
});
