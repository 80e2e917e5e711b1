// The thread of a demo plant: loads the history, or continues after an earlier run, and writes live values
// until the thread is stopped.
import { parentPort, workerData } from "node:worker_threads";
import { Connection, ServerProblem } from "../client/connection.ts";
import type { DemoJob, DemoNews } from "./demo-runner.ts";
import { LiveValues } from "./live-values.ts";
import { loadDemo } from "./loader.ts";

const tell = (news: DemoNews) => parentPort?.postMessage(news);

async function run(job: DemoJob): Promise<void> {
  const connection = new Connection(job, new AbortController().signal);
  await connection.login();
  const progress = (percent: number, step: string) => tell({ kind: "progress", percent, step });
  if (!job.isLoaded) await loadDemo(connection, job, progress);
  tell({ kind: "loaded" });
  const live = await LiveValues.resume(connection, job.endMs);
  await live.run();
}

try {
  await run(workerData as DemoJob);
} catch (problem) {
  if (!(problem instanceof ServerProblem)) throw problem;
  tell({ kind: "failed", problem: problem.message });
}
