// Builds the command that starts the process of a model: in a bubblewrap sandbox if possible, else without.
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
/** A busy machine may need many seconds to start Python for the first time. */
const probeMsMax = 60_000;

/** A Python installation. */
export interface Python {
  readonly executable: string;
  /** Folders that hold its libraries. */
  readonly prefixes: readonly string[];
}

export interface Sandbox {
  /** Bubblewrap isolates the process from files, other processes and the network. */
  readonly isIsolated: boolean;
  /** Why it is not isolated, for the log. */
  readonly flaw?: string;
  /** The user of the process; by default that of the server. */
  readonly user: RunUser | undefined;
  /** The working folder of the process; by default that of the run. */
  readonly home?: string;
  /** The path of the socket in the sandbox; absent if the process has a network. */
  readonly socket?: string;
  command(run: Run): Command;
  /** The bytes for descriptor 4 and those after it. */
  readonly attached: readonly Uint8Array[];
}

interface Run {
  /** A Unix socket of the host that is forwarded to the server; absent while the server does not listen. */
  readonly socket?: string;
}

type Command = readonly [string, ...string[]];

/** Why the server runs no models. */
export interface SandboxRefusal {
  readonly refusal: HostingRefusal;
  readonly flaw?: string;
}

/** Hides the folder `data` from models. Refuses to run models as root without bubblewrap. */
export async function findSandbox(data?: string): Promise<Sandbox | SandboxRefusal> {
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
 * The user of the processes if the server is root: the kernel does not limit the number of processes of root,
 * not even in a user namespace. No service uses these ids, and containers that map 65,536 ids have them.
 */
const userOfRuns: RunUser = { uid: 65_533, gid: 65_533 };

/** Runs processes without isolation, with all rights of the server's user. */
export const plainSandbox = (python: Python): Sandbox => ({
  ...{ isIsolated: false, user: undefined, attached: [] },
  command: () => [...firstToDie, python.executable, ...pythonOptions, bootstrap],
});

/** Ignores the user's own packages and the environment for imports. */
const pythonOptions = ["-I", "-B"] as const;

/** When memory runs out, the system kills the model and not the server. */
const firstToDie = [
  ...["/bin/sh", "-c"],
  '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; exec "$@"',
  "sh",
] as const;

/** The first `python3` in PATH that this user may run. */
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

/** Returns the sandbox, or a string that names the missing part. */
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

/** The process can write no file of the host. Its own files are bounded and vanish at its end. */
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
    ...pathsOf(data, readable).flatMap((path) => [...folder(path, 4096), ...readOnly(path)]),
    ...["--proc", "/proc", ...readOnly("/proc"), "--dev", "/dev", ...readOnly("/dev")],
    ...folder("/dev/shm", limits.modelSharedMemoryBytesMax),
    ...["--ro-bind-data", "5", "/bootstrap.py"],
    ...(socket === undefined ? [] : ["--ro-bind", socket, "/run/platform.sock"]),
    ...folder("/work", limits.modelDiskBytesMax),
    ...["--symlink", "/work", "/tmp", ...readOnly("/"), "--chdir", "/work"],
  ];
}

/** The paths at which the process would see the data folder below these folders, which may be links. */
function pathsOf(data: string | undefined, readable: readonly string[]): string[] {
  if (data === undefined) return [];
  return readable.flatMap((path) => {
    const below = relative(realPath(path), realPath(data));
    return below === ".." || below.startsWith(`..${sep}`) ? [] : [join(path, below)];
  });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Tries the sandbox: containers often forbid user namespaces, and older versions lack options. */
async function flawOf(sandbox: Sandbox): Promise<string | undefined> {
  const task = { operation: "check", limits: processLimits(probeMsMax) };
  const options = {
    ...{ command: sandbox.command({}), folder: "/", environment: {}, msMax: probeMsMax },
    ...{ user: sandbox.user, attached: sandbox.attached },
    input: encodeEntries([{ name: "task", open: async () => [Buffer.from(JSON.stringify(task))] }]),
    read: async (entries: AsyncIterable<Uint8Array>) => {
      for await (const { bytes } of decodeEntries(entries))
        return Buffer.concat(await Array.fromAsync(bytes));
      return Buffer.alloc(0);
    },
  };
  try {
    const { log, result = "" } = await runProcess(options, new AbortController().signal);
    if (String(result) === '{"value": null}') return undefined;
    return (log.text.trim() || String(result)).slice(0, 1_000);
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}
