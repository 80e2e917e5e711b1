// `millrace copy`: moves a whole installation to other backends, while this command serves its reads.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { count, duration, StatusLine } from "../client/progress.ts";
import { readSettingsAt } from "../config.ts";
import { type CopyComparison, type Copying, compareAll, copyAll, type Step, steps } from "../copy/copy.ts";
import { finishCopy, openSource, openTarget, releaseSource, type Side } from "../copy/installations.ts";
import { StartRefused } from "../data-folder.ts";
import { makeFilesPrivate } from "../file-modes.ts";
import { type Command, Misused } from "./command.ts";

const differencesFound = 3;
const interrupted = 130;

export const copy: Command = {
  usage: `Usage: millrace copy --from <installation> --to <installation>
       millrace copy --from <installation> --release

Moves everything of an installation to an empty one with other backends: records, ids, keys, sessions,
datapoints, files. Then reads both completely and compares numbers and checksums.
An installation is a data folder, or a file with settings as in millrace.env (MILLRACE_DATA, MILLRACE_CATALOG,
MILLRACE_POINTS, MILLRACE_BLOBS; paths are relative to the file).

Stop the servers of the source first. This command serves reads at its MILLRACE_HOST and MILLRACE_PORT until
it ends; changes get 503. Ctrl-C, a failure or kill -9 stop the copy; the same command continues it. Until it
is complete, no server starts on either side. After that, start servers on the target. The source stays as it
was, and refuses starts, until --release.

Exit codes: 0, complete; 1, refused; 3, the target differs; ${interrupted}, interrupted.`,
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: {
        from: { type: "string" },
        to: { type: "string" },
        release: { type: "boolean", default: false },
      },
    });
    const from = sideOf(values.from, "--from names the source");
    makeFilesPrivate();
    const log = pino({ level: from.settings.logLevel }, pino.destination({ fd: 2, sync: true }));
    if (values.release) {
      if (values.to !== undefined) throw new Misused("--release has no --to.");
      await releaseSource(from, log);
      console.log(`${from.name} can be started again`);
      return 0;
    }
    return await copyTo(from, sideOf(values.to, "--to names the target"), log);
  },
};

function sideOf(path: string | undefined, missing: string): Side {
  if (path === undefined) throw new Misused(`${missing}.`);
  return { name: resolve(path), settings: readSettingsAt(path, process.env) };
}

async function copyTo(from: Side, to: Side, log: pino.Logger): Promise<number> {
  if (from.settings.data === to.settings.data)
    throw new StartRefused("The source and the target need different data folders (MILLRACE_DATA)");
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.on("SIGINT", abort).on("SIGTERM", abort);
  const status = new Status();
  try {
    await using opened = new AsyncDisposableStack();
    const source = await openSource(from, { to, log }, opened);
    const { address } = await source.app.listen();
    console.log(`Copying ${from.name} to ${to.name}; reads are served at ${address}`);
    const target = await openTarget(source, { from, to }, { log, opened });
    const { signal } = stop;
    const report: Copying["report"] = (step, done) => status.show(step, done);
    const copying = { from: source.stores, to: target, signal, report };
    await copyAll(copying);
    const comparison = await compareAll(copying);
    status.end();
    if (comparison.differenceCount === 0) await finishCopy(source, target);
    return tell(comparison, to);
  } catch (problem) {
    status.end();
    if (!stop.signal.aborted) throw problem;
    console.log("The copy is interrupted. The same command continues it.");
    return interrupted;
  } finally {
    process.off("SIGINT", abort).off("SIGTERM", abort);
  }
}

function tell({ differences, differenceCount, ...total }: CopyComparison, to: Side): number {
  const { records, points, files, bytes } = total;
  const stored = `${count(records)} records, ${count(points)} points`;
  const compared = `${stored}, ${count(files)} files (${count(bytes)} bytes)`;
  if (differenceCount === 0) {
    console.log(`${compared} are equal in both. Start the servers of ${to.name}.`);
    return 0;
  }
  for (const difference of differences) console.log(difference);
  console.log(`Compared ${compared}. Differences: ${differenceCount}.
Remove the target and copy to an empty one; nothing has changed in the source.`);
  return differencesFound;
}

/** Shows the step, its progress, and its rate. */
class Status {
  readonly #line = new StatusLine(process.stderr);
  #step: Step | undefined;
  #begunMs = 0;
  #before = 0;

  show(step: Step, done: number): void {
    if (step !== this.#step) {
      this.#step = step;
      this.#begunMs = performance.now();
      this.#before = done;
    }
    this.#line.show(() => {
      const seconds = Math.max(0.001, (performance.now() - this.#begunMs) / 1000);
      const rate = count((done - this.#before) / seconds);
      const share = (steps.indexOf(step) + 0.5) / steps.length;
      return { share, text: `  ${step}: ${count(done)}  ${rate}/s  ${duration(seconds)}` };
    });
  }

  end(): void {
    this.#line.end();
  }
}
