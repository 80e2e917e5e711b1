// Runs models in processes of the host's Python: sends the task to the bootstrap, and reads the outcome.
//
// The task, artifacts and outcome go through pipes. The server opens no file in a folder that the code of a
// model can write, so the server never follows a link of the code.
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseJson } from "../lib/json.ts";
import { Semaphore } from "../lib/semaphore.ts";
import { limits } from "../limits.ts";
import { ReceivedArtifacts } from "./artifacts.ts";
import { type Ended, Gathered, runProcess } from "./bounded-process.ts";
import { BadEntry, decodeEntries, encodeEntries, type SentEntry } from "./entries.ts";
import { forwardTo } from "./forward.ts";
import type { ModelOutcome, ModelRunner, ModelTask } from "./model-runner.ts";
import { processLimits } from "./process-limits.ts";
import type { Sandbox } from "./sandbox.ts";

export interface Host {
  readonly sandbox: Sandbox;
  /** Where the server listens, once it does. */
  readonly platform: () => URL | undefined;
  /** What the names of the folders of its runs begin with; no other server on this machine has the same. */
  readonly folderPrefix: string;
}

export function pythonRunner({ sandbox, platform, folderPrefix }: Host): ModelRunner {
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

/** Takes away what runs have left that a crash of this server has ended. */
export async function removeLeftFolders({ folderPrefix }: Host): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((one) => one.startsWith(folderPrefix))) {
    const path = join(tmpdir(), name);
    // Another user could put links into a folder of its own while it is removed.
    const found = await lstat(path);
    if (found.isDirectory() && found.uid === process.geteuid?.()) await rm(path, { recursive: true });
  }
}

interface Place {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly platform: URL | undefined;
}

async function runIn(place: Place, task: ModelTask, signal: AbortSignal): Promise<ModelOutcome> {
  const ended = await execute(place, task, signal);
  const log = linesOf(ended);
  const told = problemOr(ended, task);
  if (!("problem" in told)) return { log, predictions: (told.value as unknown[] | null) ?? [] };
  return { log, problem: told.problem, predictions: [] };
}

/** Numeric libraries start a thread for each processor, which count against the memory. */
const oneThread = { OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

async function execute(place: Place, task: ModelTask, signal: AbortSignal): Promise<Ended<Told>> {
  const { folder, sandbox, platform } = place;
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
    read: (answer: AsyncIterable<Uint8Array>) => readAnswer(answer, task),
  };
  return await runProcess(wanted, signal);
}

interface Surroundings {
  readonly msMax: number;
  readonly platform: URL | undefined;
  readonly socket: string | undefined;
  readonly apiKey: string | undefined;
}

/** The entries that the bootstrap reads from its standard input. */
async function* inputOf(task: ModelTask, surroundings: Surroundings): AsyncGenerator<SentEntry> {
  yield { name: "task", bytes: [Buffer.from(taskText(task, surroundings))] };
  yield { name: "package", bytes: await task.code() };
  if (task.operation === "train") return;
  for (const { name, open } of task.artifacts) yield { name: `artifacts/${name}`, bytes: await open() };
  if (task.operation === "load") return;
  for (const { name, open } of task.files ?? []) yield { name: `files/${name}`, bytes: await open() };
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

type Told = { readonly value: unknown } | { readonly problem: string };

/**
 * Reads the artifacts of a training, then the outcome; undefined when there is no outcome. The bootstrap
 * writes both, but the code of the model can write to the same descriptor.
 */
async function readAnswer(stream: AsyncIterable<Uint8Array>, task: ModelTask): Promise<Told | undefined> {
  const artifacts = task.operation === "train" ? new ReceivedArtifacts(task) : undefined;
  let told: Told | undefined;
  try {
    for await (const { name, bytes } of decodeEntries(stream)) {
      if (told) throw new BadEntry(`${name} comes after the outcome`);
      if (name === "outcome") told = await readOutcome(bytes);
      else if (artifacts && name.startsWith(artifactPrefix))
        await artifacts.receive({ name: name.slice(artifactPrefix.length), bytes });
      else throw new BadEntry(`${name} is nothing that a run answers`);
    }
    return told;
  } catch (problem) {
    if (problem instanceof BadEntry) return { problem: problem.message };
    throw problem;
  }
}

const artifactPrefix = "artifacts/";

async function readOutcome(bytes: AsyncIterable<Uint8Array>): Promise<Told> {
  const gathered = new Gathered(limits.modelAnswerBytesMax);
  for await (const chunk of bytes) {
    gathered.add(chunk);
    if (gathered.bytesLost > 0)
      throw new BadEntry(`The predictions are longer than ${limits.modelAnswerBytesMax} bytes as JSON`);
  }
  const told = toldIn(gathered.text);
  if (!told) throw new BadEntry("The outcome of the code is not of the form that the server reads");
  return told;
}

function linesOf({ output }: Ended<unknown>): string[] {
  const text = output.text.replaceAll("\0", "\ufffd").trimEnd();
  const lost = output.bytesLost > 0 ? [`... and ${output.bytesLost} bytes more`] : [];
  return [...(text === "" ? [] : text.split("\n")), ...lost];
}

function problemOr({ code, signal, isLate, answer }: Ended<Told>, { operation }: ModelTask): Told {
  const msMax = operation === "train" ? limits.modelTrainMsMax : limits.modelRunMsMax;
  if (isLate) return { problem: `The code was ended after ${msMax / 1000} s` };
  if (answer) return answer;
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
