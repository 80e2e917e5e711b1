// Runs a process of untrusted code: with no state of the server, bounded output, and a time limit for its
// group.
import { type ChildProcess, spawn } from "node:child_process";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limits } from "../limits.ts";

/** A user other than the server's. */
export interface RunUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ProcessOptions<Output> {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: RunUser | undefined;
  /** The bytes for its standard input. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Reads the output of descriptor 3. If it stops before the end, the process is killed. */
  readonly read: (output: Readable) => Promise<Output | undefined>;
  /** The bytes for descriptor 4 and those after it. */
  readonly attached: readonly Uint8Array[];
  readonly msMax: number;
  /** Receives its standard output and standard error. */
  readonly log?: BoundedOutput;
}

/** The end of a process. */
export interface ProcessResult<Output> {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its standard output and standard error. */
  readonly log: BoundedOutput;
  /** The process was killed at its time limit. */
  readonly isLate: boolean;
  /** The result of the reader; absent if the process is late. */
  readonly result: Output | undefined;
}

/** Stores the first bytes and counts the others. */
export class BoundedOutput {
  readonly #chunks: Uint8Array[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Uint8Array): void {
    const free = Math.max(0, this.#bytesMax - this.#bytes);
    if (free > 0) this.#chunks.push(chunk.subarray(0, free));
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
 * Resolves when the process and all processes that hold its output have ended. Rejects when the signal is
 * aborted, and when the input or the reader throws.
 */
export async function runProcess<Output>(
  options: ProcessOptions<Output>,
  signal: AbortSignal,
): Promise<ProcessResult<Output>> {
  const child = start(options);
  const [stdin, stdout, stderr, results] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
  const { log = new BoundedOutput(limits.modelLogBytesMax) } = options;
  for (const source of [stdout, stderr]) source.on("data", (chunk: Buffer) => log.add(chunk));
  const closed = closing(child);
  const stop = () => end(child, [stdout, stderr, results]);
  const late = AbortSignal.timeout(options.msMax);
  const over = AbortSignal.any([signal, late]);
  over.addEventListener("abort", stop, { once: true });
  if (over.aborted) stop();
  const reading = options.read(results).finally(() => {
    if (!results.readableEnded) endGroup(child);
    results.destroy();
  });
  const read = reading.catch((problem) => {
    if (!over.aborted) throw problem; // Otherwise the output was cut off.
    return undefined;
  });
  try {
    const [[code, killedBy], result] = await Promise.all([closed, read, feed(stdin, options.input)]);
    signal.throwIfAborted();
    return { code, signal: killedBy, log, isLate: late.aborted, result };
  } catch (problem) {
    stop();
    await closed.catch(() => undefined);
    signal.throwIfAborted();
    throw problem;
  } finally {
    over.removeEventListener("abort", stop);
  }
}

function start({ command, folder, environment, user, attached }: ProcessOptions<unknown>): ChildProcess {
  const [program, ...words] = command;
  const child = spawn(program, words, {
    ...user,
    cwd: folder,
    env: environment,
    detached: true, // Makes it the leader of a group, which is killed as a whole.
    stdio: ["pipe", "pipe", "pipe", "pipe", ...attached.map(() => "pipe" as const)],
  });
  // The process may end before it has read all input.
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  for (const [index, bytes] of attached.entries()) (child.stdio[4 + index] as Writable).end(bytes);
  return child;
}

/** Resolves with the exit code and the signal, when all processes that hold its output have ended. */
function closing(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  // Children that outlive it would keep its output open.
  child.once("exit", () => endGroup(child));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code, signal) => resolve([code, signal]));
  });
}

/** Rethrows errors of the input. It is no error if the process does not read all of it. */
async function feed(stdin: Writable, input: AsyncIterable<Uint8Array>): Promise<void> {
  let failure: { readonly problem: unknown } | undefined;
  const chunks = input[Symbol.asyncIterator]();
  const next = async () => {
    try {
      return await chunks.next();
    } catch (problem) {
      failure = { problem };
      return undefined;
    }
  };
  const source = async function* () {
    try {
      // An error of the standard input is thrown at `yield`, and is none of the input.
      for (let one = await next(); one && !one.done; one = await next()) yield one.value;
    } finally {
      await chunks.return?.();
    }
  };
  await pipeline(Readable.from(source()), stdin).catch(() => undefined);
  if (failure) throw failure.problem;
}

/** Destroys the outputs after a delay, because a process that left the group can keep them open. */
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
    // All processes of the group have ended.
  }
}
