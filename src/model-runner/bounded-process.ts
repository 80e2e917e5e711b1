// A process of foreign code: started with nothing of ours, its output bounded, its whole group ended in time.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { limits } from "../limits.ts";

export interface ProcessWanted {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Written to its standard input. */
  readonly request: string;
  readonly msMax: number;
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was ended because its time was over. */
  readonly isLate: boolean;
  /** What it printed. */
  readonly output: Gathered;
  /** What it wrote to descriptor 3. */
  readonly answer: Gathered;
}

/** Keeps the first bytes that come, and counts the others. */
class Gathered {
  readonly #chunks: Buffer[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  from(source: Readable): void {
    source.on("data", (chunk: Buffer) => {
      const room = Math.max(0, this.#bytesMax - this.#bytes);
      if (room > 0) this.#chunks.push(chunk.subarray(0, room));
      this.#bytes += chunk.length;
    });
  }

  get bytesLost(): number {
    return Math.max(0, this.#bytes - this.#bytesMax);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Resolves when the process and all that holds its output have ended; rejects when the signal is aborted. */
export function runProcess(wanted: ProcessWanted, signal: AbortSignal): Promise<Ended> {
  const [program, ...words] = wanted.command;
  const child = spawn(program, words, {
    cwd: wanted.folder,
    env: wanted.environment,
    detached: true, // The leader of a group, which is ended as a whole.
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  const [input, stdout, stderr, answers] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
  const output = new Gathered(limits.modelLogBytesMax);
  const answer = new Gathered(limits.modelAnswerBytesMax);
  for (const source of [stdout, stderr]) output.from(source);
  answer.from(answers);
  // It may end before it has read what it is asked.
  input.on("error", () => undefined).end(wanted.request);
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => endGroup(child);
    const late = setTimeout(() => {
      isLate = true;
      giveUp();
    }, wanted.msMax);
    const over = () => {
      clearTimeout(late);
      signal.removeEventListener("abort", giveUp);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    child.once("error", (problem) => {
      over();
      reject(problem);
    });
    // Children that it has left behind would hold its output open.
    child.once("exit", giveUp);
    child.once("close", (code, killedBy) => {
      over();
      if (signal.aborted) reject(signal.reason);
      else resolve({ code, signal: killedBy, isLate, output, answer });
    });
    if (signal.aborted) giveUp();
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of the group have ended.
  }
}
