// Limits of hosted models and their processes.
import { limit } from "./limit.ts";

export const modelsLimits = {
  modelJsonLengthMax: limit(65_536, "characters", "Arguments, fields or the data spec of a model, as JSON."),
  modelBodyBytesMax: limit(
    4 * 2 ** 20,
    "bytes",
    "A request body, as sent and inflated, for models: a few times `modelJsonLengthMax`.",
  ),
  modelsListDefault: limit(
    250,
    "items",
    "A page of models, versions, packages or schedules without `limit`.",
  ),
  modelPackageBytesMax: limit(256 * 2 ** 20, "bytes", "A source package, compressed and also uncompressed."),
  modelPackageFilesMax: limit(10_000, "files", "Files and folders of a source package."),
  modelArtifactsMax: limit(1_000, "files", "Artifacts of one version of a model."),
  modelRunsAtOnce: limit(2, "runs", "Predictions and deployments at the same time. Others wait."),
  modelTrainingsAtOnce: limit(1, "runs", "Trainings at the same time. Others wait."),
  modelRunMsMax: limit(
    60_000,
    "ms",
    "The time of a prediction, and the processor time of each of its threads. Then it ends.",
  ),
  modelTrainMsMax: limit(3_600_000, "ms", "As `modelRunMsMax`, for a training."),
  modelMemoryBytesMax: limit(2 * 2 ** 30, "bytes", "Address space of a model's process."),
  modelFileBytesMax: limit(512 * 2 ** 20, "bytes", "A file or an artifact that the code of a model writes."),
  modelDiskBytesMax: limit(
    2 ** 30,
    "bytes",
    "The working folder of a model's process: code, artifacts and temporary files. It is in memory.",
  ),
  modelSharedMemoryBytesMax: limit(64 * 2 ** 20, "bytes", "Shared memory of a model's processes."),
  modelProcessesMax: limit(
    128,
    "threads",
    "Processes and threads of a model. Numeric libraries start some for each processor.",
  ),
  modelArtifactNameBytesMax: limit(1_024, "bytes", "The name of an artifact, with its folders."),
  modelChunkBytesMax: limit(65_536, "bytes", "A chunk of data between the server and a model's process."),
  modelOutputMsMax: limit(1_000, "ms", "How long the server reads the output of an ended model."),
  modelOpenFilesMax: limit(256, "files", "Open files and connections of a model's process."),
  modelLogBytesMax: limit(256 * 2 ** 10, "bytes", "Output that a model run prints. The rest is not stored."),
  modelLogsKeptMax: limit(100, "runs", "Runs of a version whose log is stored, the latest ones."),
  modelResultBytesMax: limit(16 * 2 ** 20, "bytes", "The predictions of one run, as JSON."),
  modelWindowsMissedMax: limit(
    1_000,
    "windows",
    "Missed windows that a schedule runs later. Older ones are skipped.",
  ),
  modelRunsKeptMax: limit(1_000, "runs", "Runs of a schedule that are listed, the latest ones."),
  modelTickMs: limit(1_000, "ms", "How often the server checks schedules for windows that are due."),
} as const;
