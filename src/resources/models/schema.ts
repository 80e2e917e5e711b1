// What model hosting asks of the catalog: models, their versions and packages, schedules, and what ran.
import type { Column, Stored, Table } from "../../storage/catalog.ts";

/** What models, versions, source packages and schedules have in common. */
export interface Described extends Stored {
  readonly name: string;
  readonly description?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly isDeprecated: boolean;
  readonly createdTime: number;
}

export interface PredictionModel extends Described {
  /** The version that answers for the model. */
  readonly activeVersionId?: number;
  /** Any JSON: what the model takes and gives, for people. */
  readonly inputFields?: unknown;
  readonly outputFields?: unknown;
}

export const sourceOperations = ["TRAIN", "PREDICT"] as const;

export interface SourcePackage extends Described {
  /** The Python package in it whose `model.py` has the class. */
  readonly packageName: string;
  readonly availableOperations: readonly (typeof sourceOperations)[number][];
  readonly runtimeVersion: string;
  /** The attachment with the archive; absent when it was deleted. */
  readonly codeId?: number;
  /** The account that it is of; absent when its author has logged in otherwise. */
  readonly accountId?: number;
}

/** A version is trained or waits, then is deployed, then ready; training and deployment may fail. */
export const versionStates = [
  "TRAINING",
  "AWAITING_MANUAL_DEPLOYMENT",
  "DEPLOYING",
  "READY",
  "FAILED",
] as const;
export type VersionState = (typeof versionStates)[number];

export interface TrainingDetails {
  readonly sourcePackageId: number;
  readonly args: Readonly<Record<string, unknown>>;
  readonly scaleTier?: string;
  readonly machineType?: string;
  readonly completedTime?: number;
}

export interface Version extends Described {
  readonly modelId: number;
  readonly sourcePackageId: number;
  readonly status: VersionState;
  readonly problem?: string;
  readonly training?: TrainingDetails;
  /** The accounts that have decided what its code does; 0 stands for whoever has none. */
  readonly authors: readonly number[];
  /** The account whose job it is that is under way. */
  readonly jobAccountId?: number;
  /**
   * When that job began to run, as far as it has: one that was running when the server stopped has failed.
   */
  readonly jobStartedTime?: number;
}

/** A file of a version; the id is that of its attachment. */
export interface Artifact extends Stored {
  readonly versionId: number;
  readonly name: string;
}

export type LogOperation = "train" | "predict";

/** What one run of a version has printed. */
export interface Log extends Stored {
  readonly versionId: number;
  readonly operation: LogOperation;
  readonly lines: readonly string[];
}

const required = (type: Column["type"]): Column => ({ type, optional: false });
const optional = (type: Column["type"]): Column => ({ type, optional: true });

export const described = {
  id: required("integer"),
  name: required("text"),
  description: optional("text"),
  metadata: required("json"),
  isDeprecated: required("boolean"),
  createdTime: required("integer"),
} as const;

const plain = { belongsTo: "project", indexes: [], unique: [], wordsOf: [] } as const;

export const modelTable: Table<PredictionModel> = {
  ...plain,
  name: "models",
  columns: {
    ...described,
    activeVersionId: optional("integer"),
    inputFields: optional("json"),
    outputFields: optional("json"),
  },
};

export const sourcePackageTable: Table<SourcePackage> = {
  ...plain,
  name: "model_source_packages",
  columns: {
    ...described,
    packageName: required("text"),
    availableOperations: required("json"),
    runtimeVersion: required("text"),
    codeId: optional("integer"),
    accountId: optional("integer"),
  },
};

export const versionTable: Table<Version> = {
  ...plain,
  name: "model_versions",
  columns: {
    ...described,
    modelId: required("integer"),
    sourcePackageId: required("integer"),
    status: required("text"),
    problem: optional("text"),
    training: optional("json"),
    authors: required("json"),
    jobAccountId: optional("integer"),
    jobStartedTime: optional("integer"),
  },
  indexes: [["modelId", "id"], ["status"]],
};

export const artifactTable: Table<Artifact> = {
  ...plain,
  name: "model_artifacts",
  columns: { id: required("integer"), versionId: required("integer"), name: required("text") },
  unique: [["versionId", "name"]],
};

export const logTable: Table<Log> = {
  ...plain,
  name: "model_logs",
  columns: {
    id: required("integer"),
    versionId: required("integer"),
    operation: required("text"),
    lines: required("json"),
  },
  indexes: [["versionId", "operation", "id"]],
};
