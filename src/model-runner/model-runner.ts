// Port: runs the Python code of a model in a process with few rights.
//
// Contract. A run has its own folder, which is removed at its end. The number of concurrent runs is bounded;
// others wait. For any code, the promise resolves with its result or with the reason why there is
// none. It rejects when the signal is aborted, and for errors of the server itself.

import type { KeyedTaskRunner } from "../lib/keyed-task-runner.ts";
import { limits } from "../limits.ts";

export type HostingRefusal = "off" | "python-missing" | "root-without-sandbox";

/** The model hosting of a server. */
export interface ModelHosting {
  /** Why the server runs no code; absent if it does. */
  readonly refusal?: HostingRefusal;
  readonly runner: ModelRunner;
  /** Background runs, by the id of their version or schedule. */
  readonly jobs: KeyedTaskRunner;
  /** The output so far of running trainings and deployments, by the id of their version. */
  readonly liveLogs: Map<number, () => readonly string[]>;
  /** Receives errors of background runs. */
  readonly report: (problem: unknown) => void;
}

/** Whether the name is a valid path below the folder of the artifacts. */
export const isArtifactName = (name: string): boolean =>
  !/[\\\0]/.test(name) &&
  Buffer.byteLength(name) <= limits.modelArtifactNameBytesMax &&
  name.split("/").every((part) => !["", ".", ".."].includes(part) && Buffer.byteLength(part) < 256);

/** A file for a run. */
export interface RunFile {
  /** A path with `/` between folders and without `..`. */
  readonly name: string;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

interface Task {
  /** The package in the archive whose `model.py` has the class. */
  readonly packageName: string;
  /** A tar.gz. */
  readonly code: RunFile["open"];
  readonly args: Readonly<Record<string, unknown>>;
  /** The URL name of the project. */
  readonly project: string;
  /** Returns the API key of the code; the key is valid from the start of the run to its end. */
  readonly lendKey: () => Promise<LentKey>;
  /** Receives a function that returns the lines which the code has printed so far. */
  readonly onStart?: (linesSoFar: () => readonly string[]) => void;
}

export type LentKey = { readonly key?: string } & Disposable;

export interface Training extends Task {
  readonly operation: "train";
  /** Receives the artifacts one after the other. They count only if the run succeeds. */
  readonly keep: (artifact: {
    readonly name: string;
    readonly bytes: AsyncIterable<Uint8Array>;
  }) => Promise<void>;
}

export interface Loading extends Task {
  readonly operation: "load";
  readonly artifacts: readonly RunFile[];
}

export interface Prediction extends Task {
  readonly operation: "predict";
  readonly artifacts: readonly RunFile[];
  readonly instances: readonly unknown[];
  /** The data of the window of a schedule. */
  readonly data?: unknown;
  /** Files of a schedule; the code finds them as `files/<name>`. */
  readonly files?: readonly RunFile[];
}

export type ModelTask = Training | Loading | Prediction;

export interface ModelOutcome {
  /** The output of the code, with the traceback of a failure. */
  readonly log: readonly string[];
  /** Why the run failed, in one line; absent if it succeeded. */
  readonly problem?: string;
  /** One for each instance of a prediction. */
  readonly predictions: readonly unknown[];
}

export interface ModelRunner {
  run(task: ModelTask, signal: AbortSignal): Promise<ModelOutcome>;
}
