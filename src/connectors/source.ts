// The interface of a source: one kind of system that a connector reads.
import type { TSchema } from "typebox";
import type { Health } from "./health.ts";
import type { Intake } from "./intake.ts";
import type { SeriesDescription } from "./records.ts";

export interface LatestTimes {
  /** The time of the newest point of each series on the server, in ms; undefined without a point. */
  latest(series: readonly SeriesDescription[]): Promise<(number | undefined)[]>;
}

/** The services that a source uses while it runs. */
export interface SourceRun {
  /** The id of the installation, which restarts keep. */
  readonly instance: string;
  /** Nothing is written to the server: the source must stay as it is. */
  readonly isDryRun: boolean;
  readonly intake: Intake;
  readonly health: Health;
  readonly server: LatestTimes;
  /** Aborted to end the run: the source hands over its last records and returns. */
  readonly signal: AbortSignal;
}

export interface PlantSource {
  /** The address without secrets, for messages and the server's list of connectors. */
  readonly address: string;
  /** Connects to the system; returns a line that describes it. Throws with the reason if it cannot. */
  check(signal: AbortSignal): Promise<string>;
  /**
   * A proposal for the part `source` of the configuration, from the content of the system. `written` is this
   * part of the file, with the names of variables instead of their values and without secrets. Its rest
   * stays.
   */
  discover?(written: object, signal: AbortSignal): Promise<object>;
  /** Reads until the signal. Connects again by itself; throws only if no later attempt can succeed. */
  run(run: SourceRun): Promise<void>;
}

/** A kind of source: the schema of its part of the configuration, and its making. */
export interface SourceKind {
  readonly schema: TSchema;
  /** Refuses (`UsageError`) violations that a schema cannot express. */
  readonly make: (configuration: never) => PlantSource;
}
