// Chooses the backend of the datapoints by the settings: the data folder, or a ClickHouse database.
import { mkdir } from "node:fs/promises";
import type { Logger } from "pino";
import { isShared } from "./catalog-backend.ts";
import { pointsFolderOf } from "./data-parts.ts";
import type { System } from "./lib/system.ts";
import { CannotOpen } from "./storage/cannot-open.ts";
import type { Catalog } from "./storage/catalog.ts";
import type { ClickHouseShards } from "./storage/clickhouse-points/location.ts";
import { recordLocation, refuseRecordedLocation } from "./storage/clickhouse-points/location-record.ts";
import { hasStore, openEmbeddedPoints, requireStore } from "./storage/embedded-points/embedded-points.ts";
import type { PointsStore } from "./storage/points.ts";

export interface PointsBackend {
  /** Throws `CannotOpen` unless the data folder of an earlier start fits this backend. */
  requireFolder(): Promise<void>;
  /** Records in the data folder where the datapoints are. */
  record(): Promise<void>;
  /** `isUsed` says whether an earlier start of the installation has opened its datapoints. */
  open(system: System, log: Logger, isUsed: boolean): Promise<PointsStore>;
}

export interface PointsPlace {
  /** The ClickHouse database of the datapoints; undefined when they are in the folder. */
  readonly shards: ClickHouseShards | undefined;
  /** Number of the catalog that has the series. */
  readonly owner: number;
  /** The catalog, if other servers use it too. */
  readonly shared: Catalog | undefined;
  /** Of each shard, in the folder or in ClickHouse; undefined for the default. */
  readonly aggregateCacheBytes: number | undefined;
}

export function pointsBackend(data: string, place: PointsPlace): PointsBackend {
  const { shards, owner, shared, aggregateCacheBytes } = place;
  const folder = pointsFolderOf(data);
  const record = () => recordLocation(folder, shards);
  if (shards === undefined)
    return {
      record,
      async requireFolder() {
        await refuseRecordedLocation(folder);
        await requireStore(folder);
      },
      open: () =>
        openEmbeddedPoints({ folder, ...(aggregateCacheBytes !== undefined && { aggregateCacheBytes }) }),
    };
  return {
    record,
    async requireFolder() {
      if (hasStore(folder))
        throw new CannotOpen("the data folder has datapoints, but MILLRACE_POINTS names a database", "here");
    },
    async open({ nowMs, monotonicMs }, log, isUsed) {
      // The folder has a mark of the data folder, the record of the location, and nothing else.
      await mkdir(folder, { recursive: true });
      // Loaded only if the settings choose it.
      const { openClickHouseShards } = await import("./storage/clickhouse-points/sharded-points.ts");
      const versions = shared && isShared(shared) && { takeVersions: shared.takeVersions };
      const onSweepFailure = (problem: unknown) =>
        log.error({ err: problem }, "Could not remove deleted points from ClickHouse");
      const clocks = { nowMs, monotonicMs };
      const settings = { owner, isUsed, ...clocks, onSweepFailure, aggregateCacheBytes, ...versions };
      return openClickHouseShards(shards, settings);
    },
  };
}
