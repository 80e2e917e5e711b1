// Runs models in processes of the host's Python: prepares a folder, starts the bootstrap, reads the outcome.
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseJson } from "../lib/json.ts";
import { Slots } from "../lib/slots.ts";
import { limits } from "../limits.ts";
import { keepArtifacts } from "./artifacts.ts";
import { type Ended, runProcess } from "./bounded-process.ts";
import { forwardTo } from "./forward.ts";
import type { ModelOutcome, ModelRunner, ModelTask, RunFile } from "./model-runner.ts";
import type { Sandbox } from "./sandbox.ts";

export interface Host {
  readonly sandbox: Sandbox;
  /** Where the server listens, once it does. */
  readonly platform: () => URL | undefined;
  /** What the names of the folders of its runs begin with; no other server on this machine has the same. */
  readonly folderPrefix: string;
}

export function pythonRunner({ sandbox, platform, folderPrefix }: Host): ModelRunner {
  const trainings = new Slots(limits.modelTrainingsAtOnce);
  const others = new Slots(limits.modelRunsAtOnce);
  return {
    run: (task, signal) =>
      (task.operation === "train" ? trainings : others).use(signal, async () => {
        const folder = await mkdtemp(join(tmpdir(), folderPrefix));
        try {
          return await runIn({ folder, sandbox, platform: platform() }, task, signal);
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
  };
}

/** Takes away what runs have left that a crash of this server has ended. */
export async function removeLeftFolders({ folderPrefix }: Host): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((one) => one.startsWith(folderPrefix)))
    await rm(join(tmpdir(), name), { recursive: true, force: true });
}

interface Place {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly platform: URL | undefined;
}

const archiveName = "package.tar.gz";
const socketName = "platform.sock";

async function runIn(place: Place, task: ModelTask, signal: AbortSignal): Promise<ModelOutcome> {
  await fill(place.folder, task);
  const ended = await execute(place, task, signal);
  const log = linesOf(ended);
  const told = problemOr(ended, task);
  if ("problem" in told) return { log, problem: told.problem, predictions: [] };
  if (task.operation !== "train") return { log, predictions: (told.value as unknown[] | null) ?? [] };
  const problem = await keepArtifacts(join(place.folder, "artifacts"), task);
  return problem === undefined
    ? { log, predictions: [] }
    : { log: [...log, problem], problem, predictions: [] };
}

async function fill(folder: string, task: ModelTask): Promise<void> {
  await mkdir(join(folder, "artifacts"));
  await write(folder, { name: archiveName, open: task.code });
  if (task.operation === "train") return;
  for (const one of task.artifacts) await write(join(folder, "artifacts"), one);
  if (task.operation === "load") return;
  for (const one of task.files ?? []) await write(join(folder, "files"), one);
}

async function write(folder: string, { name, open }: RunFile): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await pipeline(Readable.from(await open()), createWriteStream(path, { flags: "wx" }));
}

/** Numeric libraries start a thread for each processor, which count against the memory. */
const oneThread = { OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

async function execute(place: Place, task: ModelTask, signal: AbortSignal): Promise<Ended> {
  const { folder, sandbox, platform } = place;
  using lent = await task.lendKey();
  await using forwarder =
    sandbox.isIsolated && platform ? await forwardTo(platform, folder, socketName) : undefined;
  const home = sandbox.isIsolated ? "/work" : folder;
  const msMax = task.operation === "train" ? limits.modelTrainMsMax : limits.modelRunMsMax;
  const wanted = {
    ...{ command: sandbox.command(folder), folder, msMax },
    environment: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", HOME: home, TMPDIR: home, ...oneThread },
    request: requestOf(task, { msMax, platform, socket: forwarder && socketName, apiKey: lent.key }),
  };
  return await runProcess(wanted, signal);
}

interface Surroundings {
  readonly msMax: number;
  readonly platform: URL | undefined;
  readonly socket: string | undefined;
  readonly apiKey: string | undefined;
}

/** What the bootstrap reads from its standard input: nothing of it is in the environment or on disk. */
function requestOf(task: ModelTask, { msMax, platform, socket, apiKey }: Surroundings): string {
  const { operation, packageName, args, project } = task;
  return JSON.stringify({
    ...{ operation, packageName, args, project },
    apiKey: apiKey ?? null,
    instances: operation === "predict" ? task.instances : [],
    data: operation === "predict" ? (task.data ?? null) : null,
    platformUrl: platform?.origin ?? null,
    platformSocket: socket ?? null,
    limits: {
      cpuSeconds: Math.ceil(msMax / 1000),
      memoryBytes: limits.modelMemoryBytesMax,
      fileBytes: limits.modelFileBytesMax,
      openFiles: limits.modelOpenFilesMax,
      packageBytes: limits.modelPackageBytesMax,
      packageFiles: limits.modelPackageFilesMax,
    },
  });
}

function linesOf({ output }: Ended): string[] {
  const text = output.text.replaceAll("\0", "\ufffd").trimEnd();
  const lost = output.bytesLost > 0 ? [`... and ${output.bytesLost} bytes more`] : [];
  return [...(text === "" ? [] : text.split("\n")), ...lost];
}

type Told = { readonly value: unknown } | { readonly problem: string };

/** What the bootstrap told; the code may have kept it from telling anything, or have written there itself. */
function problemOr({ code, signal, isLate, answer }: Ended, { operation }: ModelTask): Told {
  const msMax = operation === "train" ? limits.modelTrainMsMax : limits.modelRunMsMax;
  if (isLate) return { problem: `The code was ended after ${msMax / 1000} s` };
  if (answer.bytesLost > 0)
    return { problem: `The predictions are longer than ${limits.modelAnswerBytesMax} bytes as JSON` };
  const told = answer.text === "" ? undefined : toldIn(answer.text);
  if (told) return told;
  const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
  return { problem: `The code ended ${how} and without an answer` };
}

function toldIn(text: string): Told | undefined {
  try {
    const told = parseJson(text) as Partial<Record<"problem" | "value", unknown>>;
    if (typeof told.problem === "string") return { problem: told.problem };
    const isValue = told.value === null || Array.isArray(told.value);
    return isValue ? { value: told.value } : undefined;
  } catch {
    return undefined;
  }
}
