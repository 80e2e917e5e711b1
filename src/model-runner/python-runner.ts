// Runs models in processes of the host's Python: sends the task to the bootstrap, and reads the outcome.
//
// The task, artifacts and outcome go through pipes. The server opens no file in a folder that the code of a
// model can write, so the server never follows a link of the code.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseJson } from "../lib/json.ts";
import { Semaphore } from "../lib/semaphore.ts";
import { limits } from "../limits.ts";
import { ReceivedArtifacts } from "./artifacts.ts";
import { BoundedOutput, type ProcessResult, runProcess } from "./bounded-process.ts";
import { BadEntry, decodeEntries, encodeEntries, type OutgoingEntry } from "./entries.ts";
import { forwardTo } from "./forward.ts";
import type { ModelOutcome, ModelRunner, ModelTask } from "./model-runner.ts";
import { processLimits } from "./process-limits.ts";
import type { Sandbox } from "./sandbox.ts";

export interface PythonHost {
  readonly sandbox: Sandbox;
  /** The address of the server, once it listens. */
  readonly platform: () => URL | undefined;
  /** The prefix of the folders of its runs, unique among the servers of this machine. */
  readonly folderPrefix: string;
}

export function pythonRunner({ sandbox, platform, folderPrefix }: PythonHost): ModelRunner {
  const trainings = semaphoreOf(limits.modelTrainingsAtOnce);
  const others = semaphoreOf(limits.modelRunsAtOnce);
  return {
    run: (task, signal) =>
      (task.operation === "train" ? trainings : others).use(task.project, signal, async () => {
        const folder = await mkdtemp(join(tmpdir(), folderPrefix));
        try {
          return await runIn({ folder, sandbox, platform: platform() }, task, signal);
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
  };
}

/** One project may take all places, but a project with fewer runs goes first. */
const semaphoreOf = (places: number) => new Semaphore({ places, perCaller: places });

interface RunHost {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly platform: URL | undefined;
}

async function runIn(host: RunHost, task: ModelTask, signal: AbortSignal): Promise<ModelOutcome> {
  const result = await execute(host, task, signal);
  const log = linesOf(result);
  const outcome = problemOr(result, task);
  if (!("problem" in outcome)) return { log, predictions: (outcome.value as unknown[] | null) ?? [] };
  return { log, problem: outcome.problem, predictions: [] };
}

/** Numeric libraries start a thread for each processor, which uses memory. */
const oneThread = { OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

async function execute(host: RunHost, task: ModelTask, signal: AbortSignal): Promise<ProcessResult<Outcome>> {
  const { folder, sandbox, platform } = host;
  using lent = await task.lendKey();
  const socket = sandbox.socket && platform && join(folder, "platform.sock");
  await using _forwarder = socket ? await forwardTo({ platform, socket, user: sandbox.user }) : undefined;
  const { home = folder, attached, user } = sandbox;
  const msMax = task.operation === "train" ? limits.modelTrainMsMax : limits.modelRunMsMax;
  const wanted = {
    ...{ command: sandbox.command(socket ? { socket } : {}), attached, user, msMax },
    folder: sandbox.isIsolated ? "/" : folder,
    environment: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", HOME: home, TMPDIR: home, ...oneThread },
    input: encodeEntries(
      inputOf(task, { msMax, platform, socket: socket && sandbox.socket, apiKey: lent.key }),
    ),
    read: (output: AsyncIterable<Uint8Array>) => readOutput(output, task),
    log: new BoundedOutput(limits.modelLogBytesMax),
  };
  task.onStart?.(() => linesOf(wanted));
  return await runProcess(wanted, signal);
}

interface Surroundings {
  readonly msMax: number;
  readonly platform: URL | undefined;
  readonly socket: string | undefined;
  readonly apiKey: string | undefined;
}

/** The entries that the bootstrap reads from its standard input. */
function* inputOf(task: ModelTask, surroundings: Surroundings): Generator<OutgoingEntry> {
  yield { name: "task", open: async () => [Buffer.from(taskText(task, surroundings))] };
  yield { name: "package", open: task.code };
  if (task.operation === "train") return;
  for (const { name, open } of task.artifacts) yield { name: `artifacts/${name}`, open };
  if (task.operation === "load") return;
  for (const { name, open } of task.files ?? []) yield { name: `files/${name}`, open };
}

function taskText(task: ModelTask, { msMax, platform, socket, apiKey }: Surroundings): string {
  const { operation, packageName, args, project } = task;
  return JSON.stringify({
    ...{ operation, packageName, args, project },
    apiKey: apiKey ?? null,
    instances: operation === "predict" ? task.instances : [],
    data: operation === "predict" ? (task.data ?? null) : null,
    platformUrl: platform?.origin ?? null,
    platformSocket: socket ?? null,
    limits: processLimits(msMax),
  });
}

type Outcome = { readonly value: unknown } | { readonly problem: string };

/**
 * Reads the artifacts of a training, then the outcome; undefined when there is no outcome. The bootstrap
 * writes both, but the code of the model can write to the same descriptor.
 */
async function readOutput(stream: AsyncIterable<Uint8Array>, task: ModelTask): Promise<Outcome | undefined> {
  const artifacts = task.operation === "train" ? new ReceivedArtifacts(task) : undefined;
  let outcome: Outcome | undefined;
  try {
    for await (const { name, bytes } of decodeEntries(stream)) {
      if (outcome) throw new BadEntry(`${name} comes after the outcome`);
      if (name === "outcome") outcome = await readOutcome(bytes);
      else if (artifacts && name.startsWith(artifactPrefix))
        await artifacts.receive({ name: name.slice(artifactPrefix.length), bytes });
      else throw new BadEntry(`A run does not return ${name}`);
    }
    return outcome;
  } catch (problem) {
    if (problem instanceof BadEntry) return { problem: problem.message };
    throw problem;
  }
}

const artifactPrefix = "artifacts/";

async function readOutcome(bytes: AsyncIterable<Uint8Array>): Promise<Outcome> {
  const received = new BoundedOutput(limits.modelResultBytesMax);
  for await (const chunk of bytes) {
    received.add(chunk);
    if (received.bytesLost > 0)
      throw new BadEntry(`The predictions are longer than ${limits.modelResultBytesMax} bytes as JSON`);
  }
  const outcome = outcomeIn(received.text);
  if (!outcome) throw new BadEntry("The outcome of the code is not in the format that the server reads");
  return outcome;
}

function linesOf({ log }: Pick<ProcessResult<unknown>, "log">): string[] {
  const text = log.text.replaceAll("\0", "\ufffd").trimEnd();
  const lost = log.bytesLost > 0 ? [`... and ${log.bytesLost} bytes more`] : [];
  return [...(text === "" ? [] : text.split("\n")), ...lost];
}

function problemOr(
  { code, signal, isLate, result }: ProcessResult<Outcome>,
  { operation }: ModelTask,
): Outcome {
  const msMax = operation === "train" ? limits.modelTrainMsMax : limits.modelRunMsMax;
  if (isLate) return { problem: `The code was stopped after ${msMax / 1000} s` };
  if (result) return result;
  const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
  return { problem: `The code ended ${how} and without a result` };
}

function outcomeIn(text: string): Outcome | undefined {
  try {
    const outcome = parseJson(text) as Partial<Record<"problem" | "value", unknown>>;
    if (typeof outcome.problem === "string") return { problem: outcome.problem };
    const isValue = outcome.value === null || Array.isArray(outcome.value);
    return isValue ? { value: outcome.value } : undefined;
  } catch {
    return undefined;
  }
}
