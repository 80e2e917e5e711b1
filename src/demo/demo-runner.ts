// Port: loads the demo plant into a project and writes its live values, as a client of the public API.
//
// Contract. A run has a thread of its own, so that it does not block requests. It tells its progress, and
// once that the load is complete. It ends when it is stopped, after a load without live values, or by a
// failure.

/** The task of a run. */
export interface DemoJob {
  /** The address of the server, and a key with the rights of an administrator. */
  readonly server: string;
  readonly key: string;
  /** The end of the history, in whole minutes. Faults of the plant have their times relative to it. */
  readonly endMs: number;
  /** Days of history. */
  readonly days: number;
  /** An earlier run has loaded the history: only the time since its last live value is missing. */
  readonly isLoaded: boolean;
}

export type DemoNews =
  | { readonly kind: "progress"; readonly percent: number; readonly step: string }
  | { readonly kind: "loaded" }
  | { readonly kind: "failed"; readonly problem: string };

export interface DemoRun {
  /** Stops the run, and resolves when it writes nothing more. */
  stop(): Promise<void>;
}

export type StartDemo = (job: DemoJob, tell: (news: DemoNews) => void) => DemoRun;
