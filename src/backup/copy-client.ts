// The server's side of the process that copies its data folder.
import { fileURLToPath } from "node:url";
import { BackgroundProcess } from "./background-process.ts";
import type {
  CopyProgress,
  CopyResult,
  CopyTask,
  FromCopyProcess,
  Snapshot,
  ToCopyProcess,
} from "./messages.ts";

const program = fileURLToPath(new URL("./copy-process.ts", import.meta.url));

interface StartOptions {
  readonly onProgress: (progress: CopyProgress) => void;
  /** Of this one backup. */
  readonly signal: AbortSignal;
}

export class CopyClient {
  readonly #process: BackgroundProcess<ToCopyProcess, FromCopyProcess>;

  private constructor(onProgress: (progress: CopyProgress) => void) {
    this.#process = new BackgroundProcess({
      ...{ program, name: "The process that copies" },
      isProgress(message) {
        if (message.kind !== "progress") return false;
        onProgress(message.progress);
        return true;
      },
    });
  }

  /**
   * Starts the process, which opens the folder of backups. Throws `StartRefused` if it cannot. From now on,
   * the signal ends the process, also while it waits for a disk.
   */
  static async start(task: CopyTask, { onProgress, signal }: StartOptions): Promise<CopyClient> {
    signal.throwIfAborted();
    const client = new CopyClient(onProgress);
    signal.addEventListener("abort", () => void client.#process.stop(), { once: true });
    try {
      await client.#process.request({ kind: "start", ...task });
      return client;
    } catch (problem) {
      await client.end();
      throw problem;
    }
  }

  /** Call while no other process can write the catalog. */
  async freezeCatalog(waitMs?: number): Promise<boolean> {
    const patience = waitMs === undefined ? {} : { waitMs };
    const reply = await this.#process.request({ kind: "freezeCatalog", ...patience });
    return reply.kind === "catalogFrozen" && reply.isFrozen;
  }

  async copy(snapshot: Snapshot): Promise<CopyResult> {
    const reply = await this.#process.request({ kind: "copy", ...snapshot });
    if (reply.kind !== "done") throw new Error(`broken invariant: ${reply.kind} is no end of a copy`);
    return reply.result;
  }

  /** Kills the process if it still runs, and waits for its end for a few seconds at most. */
  end(): Promise<void> {
    return this.#process.end();
  }
}
