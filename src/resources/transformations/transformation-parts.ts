// The part of the services that transformations need: the engine, and the runs of this process.
import type { LruCache } from "../../lib/lru-cache.ts";
import type { RunningJobs } from "../../lib/running-jobs.ts";
import type { SqlRunner } from "../../sql-runner/sql-runner.ts";
import type { WebhookParts } from "./webhooks/webhook-parts.ts";

/** The column names of a raw table, as of a commit. */
interface KnownColumns {
  readonly names: ReadonlySet<string>;
  readonly commit: number;
}

export interface TransformationParts {
  readonly runner: SqlRunner;
  /** Runs of this process by the id of the run. */
  readonly jobs: RunningJobs;
  readonly webhooks: WebhookParts;
  /** The column names of raw tables, by the id of the table. */
  readonly columnNames: LruCache<number, KnownColumns>;
}
