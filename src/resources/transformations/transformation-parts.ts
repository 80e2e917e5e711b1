// The part of the services that transformations need: the engine, and the runs of this process.
import type { RunningJobs } from "../../lib/running-jobs.ts";
import type { SqlRunner } from "../../sql-runner/sql-runner.ts";

export interface TransformationParts {
  readonly runner: SqlRunner;
  /** Runs of this process by the id of the run. */
  readonly jobs: RunningJobs;
}
