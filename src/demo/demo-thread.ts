// Starts the thread of a demo plant.
import { startWorker } from "../lib/heap-limits.ts";
import type { DemoNews, StartDemo } from "./demo-runner.ts";

export const startDemoThread: StartDemo = (job, tell) => {
  const worker = startWorker(new URL("./demo-worker.ts", import.meta.url), job);
  worker.on("message", (news: DemoNews) => tell(news));
  worker.once("error", (problem) => tell({ kind: "failed", problem: String(problem) }));
  return {
    async stop() {
      await worker.terminate();
    },
  };
};
