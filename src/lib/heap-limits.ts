// Limits the memory that garbage takes in the heaps of a server: of its main thread and of its workers.
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { getEnvironmentData, setEnvironmentData, type Transferable, Worker } from "node:worker_threads";

/**
 * New objects of a worker, in MiB. V8 collects them when a third of this is full. With the default of 96 MiB,
 * each worker takes so much under load, and most of it afterwards too.
 */
const newObjectsMb = 24;

/**
 * Starts a worker with these limits. `file` is its module; it reads `workerData` under this name. Ports of
 * `transferList` move to it.
 */
export const startWorker = (file: URL, workerData?: unknown, transferList: Transferable[] = []): Worker =>
  new Worker(file, {
    workerData,
    transferList,
    resourceLimits: { maxYoungGenerationSizeMb: newObjectsMb },
  });

/**
 * Old objects are collected when they take so many percent more than those that were used at the last
 * collection. V8 waits for up to 300 percent in a busy process: an upload of large bodies then takes 150 MB
 * more, and the process keeps it.
 */
const garbagePercent = 50;

/** The same for the first collection of this thread: a heap of 15 MB grows to 60 MB. */
const firstGarbagePercent = 300;

const setGrowth = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`);

/** V8 chooses. */
const defaultGrowth = 0;

/**
 * Makes the first collection of old objects, so that the start makes none. Call it before the server starts.
 */
export function collectBeforeStart(): void {
  setGrowth(firstGarbagePercent);
  collectAll();
  setGrowth(defaultGrowth);
}

/**
 * Limits the growth of the heaps of all threads. Call it after the start: while a flag of V8 is changed, Node
 * compiles its own modules instead of using stored code, which takes 20 ms in the main thread alone.
 */
export const limitHeapGrowth = (): void => setGrowth(garbagePercent);

/**
 * Collects all objects of this thread while they are few, which takes 10 ms. Without this, V8 lowers its
 * first bound of the heap with each collection of new objects, until the start reaches it. Then the first
 * requests compete for the processor with a collection of up to 45 ms.
 */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}

/**
 * Runs work with the flags of V8 as they are before `limitHeapGrowth`. While they are changed for it, no
 * other thread has work.
 */
export class DefaultGrowth {
  /** 1 while a thread has its turn: flags are those of all threads. */
  readonly #turn: Int32Array;
  /** V8's mark of its version and of the flags of the start, which stored code has. */
  readonly tag: number;
  #waitMs = turnMsMax;

  /** Threads that the main thread starts later share its turns, and know the flags of its start. */
  constructor() {
    const { turn, tag } = (getEnvironmentData(sharedName) ?? {
      turn: new SharedArrayBuffer(4),
      tag: cachedDataVersionTag(),
    }) as Shared;
    setEnvironmentData(sharedName, { turn, tag });
    this.#turn = new Int32Array(turn);
    this.tag = tag;
  }

  /**
   * Undefined, without a call, if another thread does not end its turn: it may have been terminated. Only
   * the first call waits for such a thread.
   */
  run<Result>(work: () => Result): Result | undefined {
    if (Atomics.load(this.#turn, 0) === 0 && cachedDataVersionTag() === this.tag) return work();
    while (Atomics.compareExchange(this.#turn, 0, 0, 1) === 1)
      if (Atomics.wait(this.#turn, 0, 1, this.#waitMs) === "timed-out") {
        this.#waitMs = 0;
        return undefined;
      }
    const isChanged = cachedDataVersionTag() !== this.tag;
    try {
      if (isChanged) setGrowth(defaultGrowth);
      return work();
    } finally {
      if (isChanged) limitHeapGrowth();
      Atomics.store(this.#turn, 0, 0);
      Atomics.notify(this.#turn, 0, 1);
    }
  }
}

interface Shared {
  readonly turn: SharedArrayBuffer;
  readonly tag: number;
}

const sharedName = "millrace: flags of the start";

/** Far longer than it takes to write compiled code. */
const turnMsMax = 200;
