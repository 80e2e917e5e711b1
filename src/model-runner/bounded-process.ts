// A process of foreign code: started with nothing of ours, its output bounded, its whole group ended in time.
import { type ChildProcess, spawn } from "node:child_process";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limits } from "../limits.ts";

/** Other than that of the server. */
export interface RunUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ProcessWanted<Answer> {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: RunUser | undefined;
  /** What it reads from its standard input. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Reads what it writes to descriptor 3; the process is ended when this does not read to the end. */
  readonly read: (answer: Readable) => Promise<Answer | undefined>;
  /** What it reads from descriptor 4 and those after it. */
  readonly attached: readonly Uint8Array[];
  readonly msMax: number;
}

/** How a process ended. */
export interface Ended<Answer> {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it printed. */
  readonly output: Gathered;
  /** It was ended because its time was over. */
  readonly isLate: boolean;
  /** What the reader made of it; absent when it is late. */
  readonly answer: Answer | undefined;
}

/** Keeps the first bytes that come, and counts the others. */
export class Gathered {
  readonly #chunks: Uint8Array[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Uint8Array): void {
    const room = Math.max(0, this.#bytesMax - this.#bytes);
    if (room > 0) this.#chunks.push(chunk.subarray(0, room));
    this.#bytes += chunk.length;
  }

  get bytesLost(): number {
    return Math.max(0, this.#bytes - this.#bytesMax);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/**
 * Resolves when the process and all that holds its output have ended. Rejects when the signal is aborted, and
 * with what the input or the reader throws.
 */
export async function runProcess<Answer>(
  wanted: ProcessWanted<Answer>,
  signal: AbortSignal,
): Promise<Ended<Answer>> {
  const child = start(wanted);
  const [stdin, stdout, stderr, answers] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
  const output = new Gathered(limits.modelLogBytesMax);
  for (const source of [stdout, stderr]) source.on("data", (chunk: Buffer) => output.add(chunk));
  const closed = closing(child);
  const stop = () => end(child, [stdout, stderr, answers]);
  const late = AbortSignal.timeout(wanted.msMax);
  const over = AbortSignal.any([signal, late]);
  over.addEventListener("abort", stop, { once: true });
  if (over.aborted) stop();
  const reading = wanted.read(answers).finally(() => {
    if (!answers.readableEnded) endGroup(child);
    answers.destroy();
  });
  const answered = reading.catch((problem) => {
    if (!over.aborted) throw problem; // Else it was cut short.
    return undefined;
  });
  try {
    const [[code, killedBy], answer] = await Promise.all([closed, answered, feed(stdin, wanted.input)]);
    signal.throwIfAborted();
    return { code, signal: killedBy, output, isLate: late.aborted, answer };
  } catch (problem) {
    stop();
    await closed.catch(() => undefined);
    signal.throwIfAborted();
    throw problem;
  } finally {
    over.removeEventListener("abort", stop);
  }
}

function start({ command, folder, environment, user, attached }: ProcessWanted<unknown>): ChildProcess {
  const [program, ...words] = command;
  const child = spawn(program, words, {
    ...user,
    cwd: folder,
    env: environment,
    detached: true, // The leader of a group, which is ended as a whole.
    stdio: ["pipe", "pipe", "pipe", "pipe", ...attached.map(() => "pipe" as const)],
  });
  // It may end before it has read all of it.
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  for (const [index, bytes] of attached.entries()) (child.stdio[4 + index] as Writable).end(bytes);
  return child;
}

/** Resolves with the exit code and the signal when all that holds its output has ended as well. */
function closing(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  // Children that it has left behind would hold its output open.
  child.once("exit", () => endGroup(child));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code, signal) => resolve([code, signal]));
  });
}

/** Throws what the source throws; a process that does not read all of it is no fault. */
async function feed(stdin: Writable, input: AsyncIterable<Uint8Array>): Promise<void> {
  let fault: { readonly problem: unknown } | undefined;
  const source = async function* () {
    try {
      yield* input;
    } catch (problem) {
      fault = { problem };
    }
  };
  await pipeline(Readable.from(source()), stdin).catch(() => undefined);
  if (fault) throw fault.problem;
}

/** A process that has left the group can hold the output open; nobody waits for it. */
function end(child: ChildProcess, outputs: readonly Readable[]): void {
  endGroup(child);
  const destroy = () => {
    for (const output of outputs) output.destroy();
  };
  setTimeout(destroy, limits.modelOutputMsMax).unref();
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of the group have ended.
  }
}
