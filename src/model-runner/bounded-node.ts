// The command of a Node process with limits of the kernel and the permission model: it may read its own
// source and some packages, and nothing else.

export interface NodeBounds {
  /** The memory of the process beside the addresses that V8 reserves. */
  readonly memoryBytes: number;
  /** The part of it for JavaScript. */
  readonly heapBytes: number;
  readonly cpuMs: number;
  /** The size of each file that it writes. */
  readonly fileBytes: number;
}

/** Windows has no limits of the kernel that a shell could set, so nothing is run there. */
export const noBoundsHere = process.platform === "win32" ? "it needs a server on Linux or macOS" : undefined;

/** V8 reserves addresses for code, which the kernel counts as data although they take no memory. */
const reservedBytes = 512 * 2 ** 20;
/** A process that does not end at the limit of its processor time is killed after this time. */
const cpuMsSpare = 5_000;

/** The shell sets limits of the kernel. One that is lower already stays as it is. */
export function boundedNode(
  program: string,
  readable: readonly string[],
  bounds: NodeBounds,
): [string, ...string[]] {
  const cpuSeconds = Math.ceil(bounds.cpuMs / 1000);
  const limitsOfProcess = [
    "-c 0",
    `-d ${Math.ceil((bounds.memoryBytes + reservedBytes) / 1024)}`,
    `-f ${Math.ceil(bounds.fileBytes / 512)}`,
    `-S -t ${cpuSeconds}`,
    `-H -t ${cpuSeconds + Math.ceil(cpuMsSpare / 1000)}`,
    "-n 256",
  ];
  const script = [
    "echo 1000 2> /dev/null > /proc/self/oom_score_adj",
    ...limitsOfProcess.map((one) => `ulimit ${one} 2> /dev/null`),
    // On a machine with few cores, requests to the server come before queries.
    'command -v nice > /dev/null && set -- nice -n 10 "$@"',
    // A process that computes does not see that a killed server has closed its input.
    'command -v setpriv > /dev/null && exec setpriv --pdeathsig KILL "$@"',
    'exec "$@"',
  ];
  const options = [
    "--permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--max-old-space-size=${Math.floor(bounds.heapBytes / 2 ** 20)}`,
    ...["--v8-pool-size=1", "--no-warnings"],
  ];
  return ["/bin/sh", "-c", script.join("; "), "sh", process.execPath, ...options, program];
}
