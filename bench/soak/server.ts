// The server of the soak test: always at one address, with backups by itself.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runMillrace, serveMillrace } from "../../test/support/process.ts";
import { freePort, memoryMb, processorSeconds } from "../process.ts";
import { administratorKey } from "../systems/millrace.ts";

export class SoakServer {
  readonly folder: string;
  readonly data: string;
  readonly backups: string;
  readonly baseUrl: string;
  readonly #settings: Readonly<Record<string, string>>;
  #server: Awaited<ReturnType<typeof serveMillrace>> | undefined;

  private constructor(folder: string, port: number, schedule: string) {
    this.folder = folder;
    this.data = join(folder, "data");
    this.backups = join(folder, "backups");
    this.baseUrl = `http://127.0.0.1:${port}`;
    this.#settings = {
      ...{ MILLRACE_DATA: this.data, MILLRACE_PORT: String(port), MILLRACE_ADMIN_KEY: administratorKey },
      ...{ MILLRACE_LOG_LEVEL: "warn", TMPDIR: folder },
      ...{
        MILLRACE_BACKUP_TO: this.backups,
        MILLRACE_BACKUP_SCHEDULE: schedule,
        MILLRACE_BACKUP_KEEP: "1,1,1",
      },
    };
  }

  /** With its data and its backups in the folder. The first backup is made by hand, as a user does. */
  static async start(folder: string, schedule: string): Promise<SoakServer> {
    const server = new SoakServer(folder, await freePort(), schedule);
    mkdirSync(server.backups);
    await server.start();
    await server.command("backup");
    return server;
  }

  async start(): Promise<void> {
    this.#server = await serveMillrace(this.#settings, this.folder);
  }

  /** Seconds without a server. The signal ends it at once, or in order. */
  async restart(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    const startedMs = performance.now();
    await this.stop(signal);
    await this.start();
    return (performance.now() - startedMs) / 1000;
  }

  async stop(signal: "SIGKILL" | "SIGTERM" = "SIGTERM"): Promise<void> {
    const { child, ended } = this.#server!;
    child.kill(signal);
    const { status, errors } = await ended;
    if (signal === "SIGTERM" && status !== 0) throw new Error(`The server ended with ${status}: ${errors}`);
  }

  /** Runs a command of Millrace to its end; returns its output, or throws. */
  async command(...words: string[]): Promise<string> {
    const { status, output, errors } = await runMillrace(words, this.#settings, this.folder).ended;
    if (status !== 0) throw new Error(`millrace ${words.join(" ")} ended with ${status}: ${output}${errors}`);
    return output;
  }

  async figures() {
    const started = { child: this.#server!.child, folder: this.folder };
    return {
      memoryMb: memoryMb(started),
      processorSeconds: processorSeconds(started),
      openFiles: readdirSync(`/proc/${started.child.pid}/fd`).length,
      diskBytes: await diskBytesOf(this.data),
    };
  }

  /** The outcomes of the last backups that it made by itself. */
  get backupOutcomes(): string[] {
    const file = join(this.data, "backup-history.json");
    if (!existsSync(file)) return [];
    const { runs } = JSON.parse(readFileSync(file, "utf8")) as {
      runs: {
        outcome: string;
        problem?: string;
        check?: { findings?: readonly string[]; problem?: string };
      }[];
    };
    return runs.map(({ outcome, problem, check }) => {
      if (outcome !== "complete") return `failed: ${problem}`;
      if (!check) return "not verified yet";
      if (check.problem !== undefined) return `not verified: ${check.problem}`;
      return check.findings!.length > 0 ? `damaged: ${check.findings!.join()}` : "in order";
    });
  }
}

/** The command fails if a file is deleted while it counts, but it still prints the sum of the others. */
const diskBytesOf = (folder: string): Promise<number> =>
  new Promise((resolve) => {
    execFile("du", ["-s", "--block-size=1", folder], (_, output) => resolve(Number(output.split("\t")[0])));
  });
