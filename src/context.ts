// The context of a request in every stage: the caller, the project, and the stores.

import type { ApiKeys } from "./access/api-keys.ts";
import type { Caller } from "./access/caller.ts";
import type { Generations } from "./access/generations.ts";
import type { Rights } from "./access/rights.ts";
import type { Sessions } from "./access/sessions.ts";
import type { AuditLog } from "./audit/audit-log.ts";
import type { Computing } from "./compute/computing.ts";
import type { DrawingReader } from "./drawing-reader/drawing-reader.ts";
import type { InfluxState } from "./influx/influx-state.ts";
import type { BufferPool } from "./lib/buffer-pool.ts";
import type { IdSource } from "./lib/ids.ts";
import type { KeyedTaskRunner } from "./lib/keyed-task-runner.ts";
import type { NumberRows } from "./lib/number-rows.ts";
import type { RunningJobs } from "./lib/running-jobs.ts";
import type { System } from "./lib/system.ts";
import type { ModelHosting } from "./model-runner/model-runner.ts";
import type { CursorSigner } from "./query/cursor.ts";
import type { ResponseMemory } from "./query/read-within.ts";
import type { InsertBuffers } from "./resources/datapoints/inserts/insert-buffers.ts";
import type { RunningDemos } from "./resources/demo/running-demos.ts";
import type { SeriesCache } from "./resources/timeseries/series-cache.ts";
import type { TransformationParts } from "./resources/transformations/transformation-parts.ts";
import type { BlobStore } from "./storage/blobs.ts";
import type { ProjectCatalog, ProjectId } from "./storage/catalog.ts";
import type { DiskSpace } from "./storage/disk-space.ts";
import type { PointsStore } from "./storage/points.ts";
import type { RowDeletions } from "./storage/row-deletions.ts";
import type { ServerLease } from "./storage/server-lease.ts";

/** The objects that all requests share. */
export interface Services {
  readonly system: System;
  readonly ids: IdSource;
  readonly catalog: ProjectCatalog;
  readonly points: PointsStore;
  readonly blobs: BlobStore;
  /** Runs long computations. */
  readonly computing: Computing;
  readonly disk: DiskSpace;
  /** The file of the catalog as its disk knows it: that of restored or copied data is another. */
  readonly catalogPlace: string;
  /** The uploads that a request is sending bytes to. */
  readonly uploads: KeyedTaskRunner;
  /** Deletes the rows of deleted raw tables and sequences. */
  readonly rowDeletions: RowDeletions;
  /** Analytics jobs of this process. */
  readonly jobs: RunningJobs;
  readonly cursors: CursorSigner;
  readonly keys: ApiKeys;
  readonly rights: Rights;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
  readonly models: ModelHosting;
  readonly transformations: TransformationParts;
  readonly drawings: DrawingReader;
  /** Decides which background work is that of this server. */
  readonly lease: ServerLease;
  /** Demo plants that run in this process. */
  readonly demos: RunningDemos;
  /** Numbers that tell caches when they are out of date. */
  readonly generations: Generations;
  /** Series and write plans, for datapoint operations. */
  readonly seriesCache: SeriesCache;
  /** Names and columns of writes in line protocol. */
  readonly influx: InfluxState;
  /** Buffers that the decoder of datapoint inserts uses again. */
  readonly insertBuffers: InsertBuffers;
  /** Buffers of long responses, used again once a response is sent, and the loop that writes numbers. */
  readonly responseBuffers: {
    readonly datapoints: BufferPool;
    readonly odata: BufferPool;
    readonly numberRows: NumberRows;
  };
  /** The server's public address, without a slash at its end; absent when it is where clients reach it. */
  readonly baseUrl?: string;
}

export interface RequestContext extends Services {
  readonly caller: Caller;
  readonly projectId: ProjectId;
  /** Aborted when the client goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /** Reads of many records or points reserve the memory of their response in it. */
  readonly memory: ResponseMemory;
}
