// Port: runs the Python code of a model, in a process of its own that can do little harm.
//
// Contract. A run has a folder of its own, which is gone when it has ended; no more runs are under way at
// once than the machine is to bear, others wait for their turn. Whatever the code does, the promise resolves:
// with what it answered, or with why there is no answer. It rejects when the signal is aborted, and for
// faults of the server itself.

import type { KeyedTaskRunner } from "../lib/keyed-task-runner.ts";
import { limits } from "../limits.ts";

export type HostingRefusal = "off" | "python-missing" | "root-without-sandbox";

/** What model hosting has on a server. */
export interface ModelHosting {
  /** Why no code is run here; absent when it is. */
  readonly refusal?: HostingRefusal;
  readonly runner: ModelRunner;
  /** What runs in the background, by the id of its version or schedule. */
  readonly jobs: KeyedTaskRunner;
  /** Hears of what goes wrong there. */
  readonly report: (problem: unknown) => void;
}

/** Whether the name of an artifact is a path below the folder of the artifacts. */
export const isArtifactName = (name: string): boolean =>
  !/[\\\0]/.test(name) &&
  Buffer.byteLength(name) <= limits.modelArtifactNameBytesMax &&
  name.split("/").every((part) => !["", ".", ".."].includes(part) && Buffer.byteLength(part) < 256);

/** Bytes that a run finds in a file. */
export interface RunFile {
  /** A path with `/` between folders, none of which is `..`. */
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
  /** What the code may ask the platform with: from when it is its turn until it has ended. */
  readonly lendKey: () => Promise<LentKey>;
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
  /** Data of a schedule's window. */
  readonly data?: unknown;
  /** Files of a schedule; the code finds them as `files/<name>`. */
  readonly files?: readonly RunFile[];
}

export type ModelTask = Training | Loading | Prediction;

export interface ModelOutcome {
  /** What the code has printed, with the traceback of what it failed with. */
  readonly log: readonly string[];
  /** A line on why it failed; absent when it has done its work. */
  readonly problem?: string;
  /** One for each instance of a prediction. */
  readonly predictions: readonly unknown[];
}

export interface ModelRunner {
  run(task: ModelTask, signal: AbortSignal): Promise<ModelOutcome>;
}
