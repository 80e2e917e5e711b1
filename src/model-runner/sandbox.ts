// How the process of a model is started: in a sandbox of bubblewrap, or by itself where that does not work.
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { type RunUser, runProcess } from "./bounded-process.ts";
import { decodeEntries, encodeEntries } from "./entries.ts";
import type { HostingRefusal } from "./model-runner.ts";
import { processLimits } from "./process-limits.ts";
import { seccompFilter } from "./seccomp.ts";

const execute = promisify(execFile);
const bootstrap = fileURLToPath(new URL("bootstrap.py", import.meta.url));
const probeMsMax = 10_000;

/** A Python and what it needs of this machine. */
export interface Python {
  readonly executable: string;
  /** Folders that hold its libraries. */
  readonly prefixes: readonly string[];
}

export interface Sandbox {
  /** Bubblewrap keeps the process from files, from other processes and from the network. */
  readonly isIsolated: boolean;
  /** Why it does not, for the log. */
  readonly flaw?: string;
  /** The user of the process; that of the server when absent. */
  readonly user: RunUser | undefined;
  /** The working folder of the process; that of the run when absent. */
  readonly home?: string;
  /** Where the process sees that socket; absent when the process has a network. */
  readonly socket?: string;
  command(run: Run): Command;
  /** What the command reads from descriptor 4 and those after it. */
  readonly attached: readonly Uint8Array[];
}

interface Run {
  /** A Unix socket of the host that leads to the platform; absent while the server does not listen. */
  readonly socket?: string;
}

type Command = readonly [string, ...string[]];

/** Why no model is run here. */
export interface Refusal {
  readonly refusal: HostingRefusal;
  readonly flaw?: string;
}

/** `data` is the folder that no model may see. Refuses to run models as root without bubblewrap. */
export async function findSandbox(data?: string): Promise<Sandbox | Refusal> {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? userOfRuns : undefined;
  const python = await findPython(user);
  if (!python) return { refusal: "python-missing" };
  const isolated = await bubblewrapped(python, user, data);
  const flaw = typeof isolated === "string" ? isolated : await flawOf(isolated);
  if (flaw === undefined) return isolated as Sandbox;
  return isRoot ? { refusal: "root-without-sandbox", flaw } : { ...plainSandbox(python), flaw };
}

/**
 * The user of the processes when the server is root: the kernel does not bound the processes of root, not
 * even in a user namespace. No service has these ids, and containers that map 65,536 ids have them.
 */
const userOfRuns: RunUser = { uid: 65_533, gid: 65_533 };

/** Runs processes as the server is, with all that its user may do. */
export const plainSandbox = (python: Python): Sandbox => ({
  ...{ isIsolated: false, user: undefined, attached: [] },
  command: () => [...firstToDie, python.executable, ...pythonOptions, bootstrap],
});

/** Neither the user's own packages nor the environment decide what is imported. */
const pythonOptions = ["-I", "-B"] as const;

/** When memory runs out, the system ends the model and not the server. */
const firstToDie = [
  ...["/bin/sh", "-c"],
  '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; exec "$@"',
  "sh",
] as const;

/** The first `python3` on the path that this user may run. */
export async function findPython(user?: RunUser): Promise<Python | undefined> {
  const code = "import sys, json; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix]))";
  try {
    const options = { timeout: probeMsMax, cwd: "/", ...user };
    const { stdout } = await execute("python3", ["-I", "-c", code], options);
    const [executable = "", ...prefixes] = parseJson(stdout) as string[];
    return { executable, prefixes: [...new Set(prefixes)] };
  } catch {
    return undefined;
  }
}

/** Returns a text when something is missing. */
async function bubblewrapped(
  python: Python,
  user: RunUser | undefined,
  data: string | undefined,
): Promise<Sandbox | string> {
  const filter = seccompFilter();
  if (!filter) return `system calls cannot be filtered on ${process.arch}`;
  const program = await execute("/bin/sh", ["-c", "command -v bwrap"]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (program === undefined) return "bubblewrap is not installed";
  const script = [python.executable, ...pythonOptions, "/bootstrap.py"];
  return {
    ...{ isIsolated: true, user, home: "/work", socket: "/run/platform.sock" },
    attached: [filter, await readFile(bootstrap)],
    command: (run) => [...firstToDie, program, ...wrapped(python, data, run), ...script],
  };
}

/** Nothing that the process can write is a file of the host; all of it is bounded and gone when it ends. */
function wrapped({ prefixes }: Python, data: string | undefined, { socket }: Run): string[] {
  const own = prefixes.filter((prefix) => prefix !== "/usr");
  const readable = ["/usr", "/bin", "/lib", "/lib64", ...own];
  const system = [...readable, "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"];
  const folder = (path: string, size: number) => ["--size", String(size), "--tmpfs", path];
  const readOnly = (path: string) => ["--remount-ro", path];
  return [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"],
    ...["--cap-drop", "ALL", "--seccomp", "4"],
    ...["--die-with-parent", "--new-session", "--hostname", "model"],
    ...system.flatMap((path) => ["--ro-bind-try", path, path]),
    ...placesOf(data, readable).flatMap((path) => [...folder(path, 4096), ...readOnly(path)]),
    ...["--proc", "/proc", ...readOnly("/proc"), "--dev", "/dev", ...readOnly("/dev")],
    ...folder("/dev/shm", limits.modelSharedMemoryBytesMax),
    ...["--ro-bind-data", "5", "/bootstrap.py"],
    ...(socket === undefined ? [] : ["--ro-bind", socket, "/run/platform.sock"]),
    ...folder("/work", limits.modelDiskBytesMax),
    ...["--symlink", "/work", "/tmp", ...readOnly("/"), "--chdir", "/work"],
  ];
}

/** The places below these folders, which may be links, where the process would see the data folder. */
function placesOf(data: string | undefined, readable: readonly string[]): string[] {
  if (data === undefined) return [];
  return readable.flatMap((path) => {
    const way = relative(realPath(path), realPath(data));
    return way === ".." || way.startsWith(`..${sep}`) ? [] : [join(path, way)];
  });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Tries it: containers often forbid user namespaces, and older versions lack options. */
async function flawOf(sandbox: Sandbox): Promise<string | undefined> {
  const task = { operation: "check", limits: processLimits(probeMsMax) };
  const wanted = {
    ...{ command: sandbox.command({}), folder: "/", environment: {}, msMax: probeMsMax },
    ...{ user: sandbox.user, attached: sandbox.attached },
    input: encodeEntries(oneEntry("task", JSON.stringify(task))),
    read: async (answer: AsyncIterable<Uint8Array>) => {
      for await (const { bytes } of decodeEntries(answer)) return Buffer.concat(await Array.fromAsync(bytes));
      return Buffer.alloc(0);
    },
  };
  try {
    const { output, answer = "" } = await runProcess(wanted, new AbortController().signal);
    if (String(answer) === '{"value": null}') return undefined;
    return (output.text.trim() || String(answer)).slice(0, 1_000);
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

async function* oneEntry(name: string, text: string) {
  yield { name, bytes: [Buffer.from(text)] };
}
