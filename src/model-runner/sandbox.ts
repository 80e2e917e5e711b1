// How the process of a model is started: with bubblewrap around it where that works, else by itself.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseJson } from "../lib/json.ts";

const execute = promisify(execFile);
const bootstrap = fileURLToPath(new URL("bootstrap.py", import.meta.url));
const probeMsMax = 10_000;

/** A Python and what it needs of this machine. */
interface Python {
  readonly executable: string;
  /** Folders that hold its libraries. */
  readonly prefixes: readonly string[];
}

export interface Sandbox {
  /** Bubblewrap keeps the process from files, from other processes and from the network. */
  readonly isIsolated: boolean;
  /** The command for a run in `folder`, which the process sees as its working folder. */
  command(folder: string): Command;
  /** The same without bubblewrap. */
  plainCommand(): Command;
}

type Command = readonly [string, ...string[]];

/** Undefined when there is no `python3` on the path of this process. */
export async function findSandbox(): Promise<Sandbox | undefined> {
  const python = await findPython();
  if (!python) return undefined;
  const isolated = (folder: string, script = "/bootstrap.py") =>
    ["bwrap", ...wrapped(python, folder), python.executable, ...pythonOptions, script] as const;
  const isIsolated = await works(isolated("/tmp", "--version"));
  const plainCommand = () => [python.executable, ...pythonOptions, bootstrap] as const;
  return { isIsolated, plainCommand, command: isIsolated ? (folder) => isolated(folder) : plainCommand };
}

/** Neither the user's own packages nor the environment decide what is imported. */
const pythonOptions = ["-I", "-B"] as const;

async function findPython(): Promise<Python | undefined> {
  const code = "import sys, json; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix]))";
  try {
    const { stdout } = await execute("python3", ["-I", "-c", code], { timeout: probeMsMax });
    const [executable = "", ...prefixes] = parseJson(stdout) as string[];
    return { executable, prefixes: [...new Set(prefixes)] };
  } catch {
    return undefined;
  }
}

/** The system without its secrets, to be read alone; the folder of the run, to be written as well. */
function wrapped({ prefixes }: Python, folder: string): string[] {
  const system = ["/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"];
  const own = prefixes.filter((prefix) => prefix !== "/usr");
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "model"],
    ...["--ro-bind", "/usr", "/usr"],
    ...[...system, ...own].flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run"],
    ...["--ro-bind", bootstrap, "/bootstrap.py"],
    ...["--bind", folder, "/work", "--symlink", "/work", "/tmp", "--chdir", "/work"],
  ];
}

/** Containers often forbid what bubblewrap needs, though it is installed. */
async function works([program, ...words]: readonly string[]): Promise<boolean> {
  try {
    await execute(program!, words, { timeout: probeMsMax });
    return true;
  } catch {
    return false;
  }
}
