// The server as a separate process, started like by an operator, for tests of process behaviour.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const entry = new URL("../../src/start.js", import.meta.url).pathname;

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Its standard output so far. */
  output(): string;
  /** Its standard error so far. */
  errors(): string;
}

const running = new Set<ChildProcess>();

/** Ends every process that a test has left running. */
export function endLeftProcesses(): void {
  for (const child of running) child.kill("SIGKILL");
}

type Environment = Readonly<Record<string, string>>;

/** A machine of two cores has none by default. */
export const withFront: Environment = { MILLRACE_FRONT_THREADS: "1" };

/**
 * Runs `millrace` with these words, as the last of what `within` runs; no MILLRACE_ setting of the
 * surroundings gets through.
 */
export function runMillrace(
  words: readonly string[],
  environment: Environment,
  folder: string,
  within: readonly string[] = [],
): RunningProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(MILLRACE_|NODE_TEST)/.test(name));
  const [command = process.execPath, ...first] = within;
  const program = within.length > 0 ? [...first, process.execPath, entry] : [entry];
  const child = spawn(command, [...program, ...words], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const ended = once(child, "close").then(([status, signal]) => ({ status, signal, output, errors }));
  return { child, ended, output: () => output, errors: () => errors };
}

/** Starts the server on a free port and waits until it serves. */
export async function serveMillrace(
  environment: Environment,
  folder: string,
  within: readonly string[] = [],
) {
  const server = runMillrace(["serve"], { MILLRACE_PORT: "0", ...environment }, folder, within);
  const failed = server.ended.then(({ output, errors }) => {
    throw new Error(`the server ended before it served: ${output}${errors}`);
  });
  const serves = async () => {
    for (;;) {
      const address = /^Millrace serves (\S+)/m.exec(server.output())?.[1];
      if (address) return address;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const baseUrl = await Promise.race([serves(), failed]);
  failed.catch(() => {});
  return { ...server, baseUrl };
}
