// Runs a measured system as a separate process on loopback, with its data in a temporary folder.
import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const readySecondsMax = 120;
/** Between two probes of a starting system: W20 measures the start. */
const probeMs = 10;
const stopSecondsMax = 60;
const quietSeconds = 6;
const quietSecondsMax = 300;

export interface Started {
  readonly child: ChildProcess;
  readonly folder: string;
}

/** Starts a command that logs into its folder; resolves when `probe` succeeds. */
export async function startProcess(
  command: readonly [string, ...string[]],
  settings: { folder: string; env?: Readonly<Record<string, string>>; probe: string },
): Promise<Started> {
  const log = openSync(join(settings.folder, "output.log"), "a");
  const [program, ...words] = command;
  const child = spawn(program, words, {
    stdio: ["ignore", log, log],
    env: { ...process.env, ...settings.env },
    cwd: settings.folder,
  });
  const killWithUs = () => child.kill("SIGKILL");
  // First: the folders of servers are deleted at the exit too.
  process.prependOnceListener("exit", killWithUs);
  let ended: string | undefined;
  child.once("exit", () => process.off("exit", killWithUs));
  child.once("error", (problem) => (ended = problem.message));
  child.once("exit", (code, signal) => (ended = `ended with ${code ?? signal}`));
  const deadline = Date.now() + readySecondsMax * 1000;
  while (!(await responds(settings.probe))) {
    if (ended === undefined && Date.now() < deadline) {
      await pause(probeMs);
      continue;
    }
    child.kill("SIGKILL");
    throw new Error(`${program} did not start (${ended ?? "no response"}): ${tailOf(settings.folder)}`);
  }
  return { child, folder: settings.folder };
}

/** Ends it in an orderly way, or by force when it does not end. */
export async function stopProcess({ child }: Started): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopSecondsMax * 1000);
  await ended;
  clearTimeout(timer);
}

async function responds(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

const tailOf = (folder: string): string => readFileSync(join(folder, "output.log"), "utf8").slice(-1500);

/** Highest resident memory of the process so far, in MiB. */
export const peakMemoryMb = (one: Pick<Started, "child">): number => memoryOf(one, "VmHWM");

/** Resident memory of the process now, in MiB. */
export const memoryMb = (one: Started): number => memoryOf(one, "VmRSS");

function memoryOf({ child }: Pick<Started, "child">, what: string): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Processor time of the process so far, in seconds (Linux counts it in hundredths). */
export const processorSeconds = ({ child }: Pick<Started, "child">): number =>
  secondsIn(readFileSync(`/proc/${child.pid}/stat`, "utf8"))[0];

/** That of the processes with this parent, also of those that have ended. */
export function processorSecondsOfChildren(parent: number): number {
  const [own, withEnded] = secondsIn(readFileSync(`/proc/${parent}/stat`, "utf8"));
  let sum = withEnded - own;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const state = readFileSync(`/proc/${name}/stat`, "utf8");
      if (Number(fieldsOf(state)[1]) === parent) sum += secondsIn(state)[0];
    } catch {
      // The process has ended.
    }
  }
  return sum;
}

/** From the state of the process on. */
const fieldsOf = (state: string): readonly string[] => state.slice(state.lastIndexOf(") ") + 2).split(" ");

/** Of the process alone, and together with its children that have ended. */
function secondsIn(state: string): [number, number] {
  const [user = 0, system = 0, ofUsers = 0, ofSystems = 0] = fieldsOf(state).slice(11, 15).map(Number);
  return [(user + system) / 100, (user + system + ofUsers + ofSystems) / 100];
}

/** Bytes that the files below a folder take on disk. */
export function bytesOnDisk(folder: string): number {
  let sum = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += bytesOnDisk(path);
    else if (entry.isFile()) sum += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return sum;
}

/** A folder that background work has just removed has no entries. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Resolves when the files below a folder have kept their size for a while: background work is done. */
export async function untilQuiet(folder: string): Promise<void> {
  let size = bytesOnDisk(folder);
  for (let second = 0, quiet = 0; second < quietSecondsMax && quiet < quietSeconds; second++) {
    await pause(1000);
    const now = bytesOnDisk(folder);
    quiet = now === size ? quiet + 1 : 0;
    size = now;
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
