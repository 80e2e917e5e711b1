// The demo plants that run in this process, by project: their threads and how far their loads are.
import type { DemoJob, DemoNews, DemoRun, StartDemo } from "../../demo/demo-runner.ts";

export interface DemoProgress {
  readonly percent: number;
  readonly step: string;
}

/** A key for the time of a run. */
export type RunKey = { readonly key: string } & Disposable;

export type DemoOutcome = Exclude<DemoNews, { kind: "progress" }>;

interface Running extends DemoProgress {
  readonly run: DemoRun;
  readonly key: RunKey;
}

interface NewRun extends Omit<DemoJob, "server" | "key"> {
  readonly key: RunKey;
}

export class RunningDemos {
  readonly #start: StartDemo;
  readonly #running = new Map<number, Running>();
  readonly #report: (problem: string) => void;
  #address: string | undefined;

  /** `report` receives failures for the log. */
  constructor(start: StartDemo, report: (problem: string) => void) {
    this.#start = start;
    this.#report = report;
  }

  /** The address of this server. Demo plants run once it is known. */
  listenAt(address: string): void {
    this.#address = address;
  }

  /** Undefined if no thread runs for the project. */
  progressOf(projectId: number): DemoProgress | undefined {
    return this.#running.get(projectId);
  }

  /** Starts the thread of a project that has none. Calls `onOutcome` when its load is complete or fails. */
  start(projectId: number, { key, ...job }: NewRun, onOutcome: (news: DemoOutcome) => Promise<void>): void {
    const server = this.#address;
    if (server === undefined || this.#running.has(projectId)) {
      key[Symbol.dispose]();
      return;
    }
    const run = this.#start({ ...job, server, key: key.key }, (news) => {
      if (this.#running.get(projectId)?.run !== run) return;
      if (news.kind === "progress") this.#running.set(projectId, { run, key, ...news });
      else onOutcome(news).catch((problem: unknown) => this.#report(String(problem)));
      if (news.kind !== "failed") return;
      this.#report(news.problem);
      void this.stop(projectId);
    });
    this.#running.set(projectId, { run, key, percent: 0, step: "start" });
  }

  async stop(projectId: number): Promise<void> {
    const running = this.#running.get(projectId);
    if (!running) return;
    this.#running.delete(projectId);
    await running.run.stop();
    running.key[Symbol.dispose]();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((projectId) => this.stop(projectId)));
  }
}
