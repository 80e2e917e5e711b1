// Syncs the file system of a folder for systems that acknowledge writes before they are on disk.
//
// Node has no syncfs, and a process for each sync would take longer than most syncs. One Perl process, which
// every Debian has, does them all.
import { spawn } from "node:child_process";
import type { Running } from "./system.ts";

/** The number of the system call syncfs. */
const systemCalls: Readonly<Record<string, number>> = { x64: 306, arm64: 267 };

const script = (call: number) => `
$| = 1;
open(my $folder, "<", $ARGV[0]) or die $!;
while (<STDIN>) {
  syscall(${call}, fileno($folder)) == 0 or die $!;
  print "\\n";
}`;

/**
 * Returns a function that resolves when every write that was acknowledged before its call is on disk. Calls
 * that wait at the same time share one flush, as the transactions of a group commit do.
 */
export function groupedSync(
  { started }: Pick<Running, "started">,
  flush: () => Promise<void>,
): () => Promise<void> {
  const call = systemCalls[process.arch];
  if (call === undefined) throw new Error(`the number of syncfs on ${process.arch} is not known`);
  const helper = spawn("perl", ["-e", script(call), started.folder], { stdio: ["pipe", "pipe", "inherit"] });
  started.child.once("exit", () => helper.stdin.end());
  let done: { resolve: () => void; reject: (problem: Error) => void } | undefined;
  helper.stdout.on("data", () => done?.resolve());
  helper.once("exit", () => done?.reject(new Error("the process that syncs has ended")));
  const syncOnce = async () => {
    await flush();
    const synced = Promise.withResolvers<void>();
    done = synced;
    helper.stdin.write("\n");
    await synced.promise;
  };
  return grouped(syncOnce);
}

/** A run begins after the call; calls during a run share the next one. */
function grouped(run: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      last = run();
      return last;
    });
    return next;
  };
}
