// The front threads of a server, as its main thread sees them: starts them, serves their calls, ends them.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server as InnerServer } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, type Worker } from "node:worker_threads";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Authenticator } from "../access/authenticator.ts";
import type { Settings } from "../config.ts";
import type { Services } from "../context.ts";
import { StartRefused } from "../data-folder.ts";
import { innerServer } from "../http/inner-server.ts";
import type { ThreadCounts } from "../http/metrics.ts";
import type { ClientWork } from "../lib/client-work.ts";
import { startWorker } from "../lib/heap-limits.ts";
import { removeLeftFolders } from "../lib/left-folders.ts";
import { limits } from "../limits.ts";
import type { ListenAddress } from "../listening.ts";
import { routes } from "../resources.ts";
import { EmbeddedPoints } from "../storage/embedded-points/embedded-points.ts";
import type { PointsStore } from "../storage/points.ts";
import { serveCalls, ThreadCaller } from "./calls.ts";
import { ConnectionBalance, connectionCounts } from "./connection-balance.ts";
import { defaultCount } from "./default-count.ts";
import { hiddenRoutes } from "./front-routes.ts";
import type { CallsToFront, CallsToMain, FrontSettings, NewsForMain, SharedMemory } from "./messages.ts";
import { freeBatch } from "./transfer-batch.ts";

export type { SharedMemory } from "./messages.ts";

interface FrontParts {
  readonly count: number;
  /** Whether the server works without front threads if they cannot start. */
  readonly isOptional: boolean;
  readonly settings: FrontSettings;
  readonly services: Pick<Services, "points" | "disk">;
  readonly authenticator: Pick<Authenticator, "findForFront">;
  readonly cursorSecret: Uint8Array;
  readonly memory: SharedMemory;
  /** Counts the calls of the threads while they run. */
  readonly work: ClientWork;
  /** The store of `services.points`, without counters. */
  readonly store: Pick<EmbeddedPoints, "connect" | "flush">;
  readonly recordRefusal: (problem: string) => void;
  readonly log: Logger;
  /** A name of the data folder, for a temporary folder. */
  readonly folderName: string;
}

/** What decides whether a server can have front threads. */
interface Conditions {
  /** The store of `services.points`, without counters. */
  readonly store: PointsStore;
  readonly isReadOnly: boolean;
  readonly isTraced: boolean;
}

type OpeningParts = Omit<FrontParts, "count" | "isOptional" | "store" | "settings"> & {
  readonly settings: Settings;
};

/** The front threads of the settings; throws `StartRefused` if the server cannot have any. */
export async function openFrontThreads(
  parts: OpeningParts,
  { store, isReadOnly, isTraced }: Conditions,
): Promise<FrontThreads | undefined> {
  const { settings, log } = parts;
  const { frontThreads = 0 } = settings;
  const isAutomatic = frontThreads === "auto";
  const count = isAutomatic ? defaultCount(availableParallelism()) : frontThreads;
  if (count === 0 || isReadOnly) return undefined;
  const problem = problemOf(settings, isTraced);
  if (problem === undefined && store instanceof EmbeddedPoints) {
    const opening = FrontThreads.open({ ...parts, count, isOptional: isAutomatic, store });
    return isAutomatic ? opening.catch((reason: unknown) => noThreads(log, reason)) : opening;
  }
  const reason = problem ?? "the datapoints are in another place than the data folder";
  if (!isAutomatic) throw new StartRefused(`MILLRACE_FRONT_THREADS must be 0: ${reason}`);
  log.info({ reason }, "Starts without front threads");
  return undefined;
}

/** Without a temporary folder to write to, the server works as well. */
function noThreads(log: Logger, problem: unknown): undefined {
  const reason = "the temporary folder cannot be used";
  log.warn({ err: problem, reason }, "Starts without front threads");
}

/** The path of a socket has at most 107 bytes. */
const tmpdirLengthMax = 60;

/** Why a server with these settings has no front threads. */
function problemOf({ catalogUrl, audit }: Settings, isTraced: boolean): string | undefined {
  if (catalogUrl !== undefined) return "the catalog is in another place than the data folder";
  if (audit?.mode === "writes" || audit?.mode === "all")
    return `the audit log records ${audit.mode} (MILLRACE_AUDIT)`;
  if (isTraced) return "the server sends traces";
  if (tmpdir().length > tmpdirLengthMax) return "the path of the temporary folder is too long for a socket";
  return process.platform === "linux" ? undefined : "threads cannot share a port on this system";
}

/** Connections of front threads that wait for the main thread; the system may allow fewer. */
const innerBacklog = 4096;

/** Its number among the threads that count connections. */
const mainThread = 0;

interface Thread {
  readonly worker: Worker;
  readonly calls: ThreadCaller<CallsToFront>;
}

export class FrontThreads {
  readonly #parts: FrontParts;
  readonly #folder: string;
  #threads: readonly Thread[] = [];
  readonly #counts: Int32Array;
  readonly #balance: ConnectionBalance;
  #started: Promise<void> = Promise.resolve();
  #inner: InnerServer | undefined;
  #isClosing = false;
  readonly #diskTimer: NodeJS.Timeout;

  private constructor(parts: FrontParts, folder: string) {
    this.#parts = parts;
    this.#folder = folder;
    this.#counts = connectionCounts(1 + parts.count);
    this.#balance = new ConnectionBalance(this.#counts, mainThread);
    this.#noteDisk();
    this.#diskTimer = setInterval(() => this.#noteDisk(), limits.frontDiskEveryMs).unref();
  }

  static async open(parts: FrontParts): Promise<FrontThreads> {
    const prefix = `millrace-front-${parts.folderName}-`;
    await removeLeftFolders(prefix);
    // Only the user of the server may enter the folder.
    return new FrontThreads(parts, await mkdtemp(join(tmpdir(), prefix)));
  }

  /**
   * Call it before the server of the main thread listens: it gets the requests that are forwarded. Returns
   * false if that is not possible; then do not start the threads.
   */
  async attach(http: FastifyInstance): Promise<boolean> {
    this.#inner = innerServer(http);
    this.#inner.listen({ path: this.#innerSocket, backlog: innerBacklog });
    try {
      await once(this.#inner, "listening");
    } catch (problem) {
      this.#inner = undefined;
      this.#cannotStart("no socket can be made in the temporary folder (TMPDIR)", problem);
      return false;
    }
    this.#balance.watch(http);
    this.#balance.begin();
    return true;
  }

  /**
   * Starts the threads, which listen at the port of the main thread beside it. Does not wait for them: until
   * then, and if they cannot listen, the main thread serves all requests. The place is absent if the port
   * cannot be shared.
   */
  start(place: ListenAddress | undefined): void {
    if (place === undefined) {
      this.#cannotStart("threads cannot share a port on this system");
      return;
    }
    this.#started = this.#startAll(place);
    this.#started.catch((problem: unknown) => {
      if (!this.#isClosing) this.#parts.log.error({ err: problem }, "Front threads could not start");
    });
  }

  #cannotStart(reason: string, problem?: unknown): void {
    if (!this.#parts.isOptional) throw new StartRefused(`MILLRACE_FRONT_THREADS must be 0: ${reason}`);
    this.#parts.log.warn({ err: problem, reason }, "Starts without front threads");
  }

  /** Resolves when all threads serve. */
  get started(): Promise<void> {
    return this.#started;
  }

  async #startAll(place: ListenAddress): Promise<void> {
    const { count } = this.#parts;
    this.#threads = Array.from({ length: count }, (_, at) => this.#startThread(at));
    await Promise.all(this.#threads.map(({ calls }) => calls.call("listen", place)));
  }

  /** What the threads have counted for the metrics; nothing of a thread that closes. */
  async counts(): Promise<ThreadCounts[]> {
    const all = this.#threads.map(({ calls }) => calls.call("counts", undefined));
    return (await Promise.allSettled(all)).flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /** Call it before the server of the main thread closes its idle connections. */
  async prepareToClose(): Promise<void> {
    this.#isClosing = true;
    this.#balance.end();
    await this.#started.catch(() => undefined);
    await Promise.allSettled(this.#threads.map(({ calls }) => calls.call("prepareToClose", undefined)));
  }

  /** Completes accepted requests, but not for longer than `milliseconds`. */
  async close(milliseconds: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#diskTimer);
    await Promise.allSettled(this.#threads.map((one) => end(one, milliseconds)));
    this.#inner?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #innerSocket(): string {
    return join(this.#folder, "socket");
  }

  #startThread(at: number): Thread {
    const { count, settings, cursorSecret, memory, store } = this.#parts;
    const { data, trustedProxies, baseUrl, project, logLevel } = settings;
    const { port1, port2 } = new MessageChannel();
    const points = store.connect();
    const own = { data, trustedProxies, project, logLevel, ...(baseUrl !== undefined && { baseUrl }) };
    const start = {
      settings: own,
      threads: count,
      innerSocket: this.#innerSocket,
      hiddenRoutes: hiddenRoutes(routes),
      connections: { counts: this.#counts, thread: at + 1 },
      cursorSecret,
      memory,
      points,
    };
    this.#serve(port1);
    const worker = startWorker(new URL("./front-worker.ts", import.meta.url), { ...start, main: port2 }, [
      port2,
      ...points.shards.map(({ port }) => port),
    ]);
    // A fault in a front thread ends the server, as one in the main thread does.
    worker.on("error", (cause) => {
      throw new Error(`front thread ${at} failed: ${String(cause)}`, { cause });
    });
    worker.on("exit", () => {
      if (!this.#isClosing) throw new Error(`front thread ${at} has ended`);
    });
    return { worker, calls: new ThreadCaller(worker, `front thread ${at}`) };
  }

  #serve(port: MessageChannel["port1"]): void {
    const { services, authenticator, store, work, recordRefusal } = this.#parts;
    serveCalls<CallsToMain, NewsForMain>(
      port,
      {
        callerOf: ({ key, address }) => work.during(() => authenticator.findForFront(key, address)),
        append: async (batch) => {
          await work.during(() => services.points.append(batch));
          freeBatch(batch);
          return undefined;
        },
      },
      (news) => {
        if (news.kind === "flush") store.flush(news.shard);
        else recordRefusal(news.problem);
      },
    );
  }

  #noteDisk(): void {
    Atomics.store(this.#parts.memory.diskFull, 0, this.#parts.services.disk.isFull ? 1 : 0);
  }
}

/** Ends a thread after its accepted requests. It stores compiled code before its end. */
async function end({ worker, calls }: Thread, milliseconds: number): Promise<void> {
  try {
    await calls.call("close", { milliseconds });
    await calls.ended;
  } finally {
    await worker.terminate();
  }
}
