// Examines a catalog in PostgreSQL with its datapoints and files, for `millrace doctor`.
import { StartRefused } from "../data-folder.ts";
import type { DataPlace } from "../data-parts.ts";
import { ownerOfSecret } from "../data-stores.ts";
import { secretFor } from "../installation.ts";
import { attachmentTable, fileTable } from "../resources/files/schema.ts";
import { projectTable } from "../resources/projects/schema.ts";
import { pendingDeletionTable, timeSeriesTable } from "../resources/timeseries/schema.ts";
import { tables } from "../resources.ts";
import type { AnyTable } from "../storage/catalog.ts";
import { examineShards, seriesWithPoints } from "../storage/clickhouse-points/doctor.ts";
import { type ClickHouseShards, withoutPassword } from "../storage/clickhouse-points/location.ts";
import type { Finding } from "../storage/findings.ts";
import { ExaminedCatalog } from "../storage/sql/dialects/postgres/doctor.ts";
import { findingsOfBlobs } from "./doctor-blobs.ts";

export type ClusterPlace = DataPlace & { readonly catalogUrl: string };

/** Servers may use the stores meanwhile. Datapoints and files of a data folder are not examined. */
export async function examineCluster(place: ClusterPlace): Promise<Finding[]> {
  await using catalog = await opened(place.catalogUrl);
  const found = await catalog.findings({ all: tables, projects: projectTable as unknown as AnyTable });
  if (found.some(({ found: what }) => /^(no|layout) /.test(what))) return found;
  if (place.points) found.push(...(await findingsOfPoints(catalog, place.points)));
  const named = catalog.namedBlobs([fileTable, attachmentTable] as unknown as AnyTable[]);
  if (place.blobs) found.push(...(await findingsOfBlobs(place, named)));
  return found;
}

async function opened(url: string): Promise<ExaminedCatalog> {
  try {
    return await ExaminedCatalog.open(url);
  } catch (problem) {
    throw new StartRefused(`Cannot examine the catalog (MILLRACE_CATALOG): ${(problem as Error).message}`);
  }
}

async function findingsOfPoints(catalog: ExaminedCatalog, shards: ClickHouseShards): Promise<Finding[]> {
  const secret = await catalog.secret();
  const owner = secret && ownerOfSecret(secretFor("links", secret));
  const found = await examineShards(shards, owner);
  if (found.length > 0) return found;
  const withSeries = [timeSeriesTable, pendingDeletionTable] as unknown as AnyTable[];
  let [count, first]: [number, number | undefined] = [0, undefined];
  for (const shard of shards)
    for await (const series of seriesWithPoints(shard)) {
      const missing = await catalog.missingIds(withSeries, series);
      count += missing.length;
      first ??= missing[0];
    }
  if (count === 0) return [];
  const expected = "points of series in the catalog";
  return [
    {
      file: withoutPassword(...shards),
      offset: 0,
      expected,
      found: `${count} other series, such as ${first}`,
    },
  ];
}
