// Starts the thread of a demo plant.
import { Worker } from "node:worker_threads";
import type { DemoNews, StartDemo } from "./demo-runner.ts";

export const startDemoThread: StartDemo = (job, tell) => {
  const worker = new Worker(new URL("./demo-worker.ts", import.meta.url), { workerData: job });
  worker.on("message", (news: DemoNews) => tell(news));
  worker.once("error", (problem) => tell({ kind: "failed", problem: String(problem) }));
  return {
    async stop() {
      await worker.terminate();
    },
  };
};
