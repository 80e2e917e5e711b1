// The limits that the process of a model sets for itself before it runs the code of the package.
import { limits } from "../limits.ts";

export const processLimits = (msMax: number) => ({
  cpuSeconds: Math.ceil(msMax / 1000),
  memoryBytes: limits.modelMemoryBytesMax,
  fileBytes: limits.modelFileBytesMax,
  openFiles: limits.modelOpenFilesMax,
  processes: limits.modelProcessesMax,
  packageBytes: limits.modelPackageBytesMax,
  packageFiles: limits.modelPackageFilesMax,
});
