// The tables of model hosting: models, source packages, versions, artifacts and logs.
import type { Stored, Table, TableColumn } from "../../storage/catalog.ts";

/** The members that models, versions, source packages and schedules share. */
export interface Described extends Stored {
  readonly name: string;
  readonly description?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly isDeprecated: boolean;
  readonly createdTime: number;
}

export interface PredictionModel extends Described {
  /** The version that predicts for the model. */
  readonly activeVersionId?: number;
  /** Descriptions of input and output: any JSON. */
  readonly inputFields?: unknown;
  readonly outputFields?: unknown;
}

export const sourceOperations = ["TRAIN", "PREDICT"] as const;

export interface SourcePackage extends Described {
  /** The Python package in the archive whose `model.py` has the class. */
  readonly packageName: string;
  readonly availableOperations: readonly (typeof sourceOperations)[number][];
  readonly runtimeVersion: string;
  /** The attachment with the archive; absent if it was deleted. */
  readonly codeId?: number;
  /** The author's account; absent if the author has logged in without an account. */
  readonly accountId?: number;
}

/** A version trains or waits, deploys, and is ready; training and deployment can fail. */
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
  /** The accounts whose changes the code runs; 0 is any author without an account. */
  readonly authors: readonly number[];
  /** The account of the running job. */
  readonly jobAccountId?: number;
  /** When the job started, if it did. A job that was running when the server stopped has failed. */
  readonly jobStartedTime?: number;
  /** The server that has the job. */
  readonly owner?: number;
}

/** A file of a version; its id is the id of its attachment. */
export interface Artifact extends Stored {
  readonly versionId: number;
  readonly name: string;
}

export type LogOperation = "train" | "predict";

/** The output that one run of a version printed. */
export interface Log extends Stored {
  readonly versionId: number;
  readonly operation: LogOperation;
  readonly lines: readonly string[];
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

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
    owner: optional("integer"),
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
