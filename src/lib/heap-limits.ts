// Limits the memory that garbage takes in the heaps of a server: of its main thread and of its workers.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Transferable, Worker } from "node:worker_threads";

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

/** Limits the growth of the heaps of all threads. Call it when the server has started. */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
}

/** The same while the server starts: from 15 to 60 MB, which is the bound after later collections. */
const garbagePercentAtStart = 300;

/**
 * Collects all objects now, while they are few, which takes 10 ms. V8 lowers its first bound of the heap with
 * each collection of new objects. Without this call the start reaches it, and the first requests compete for
 * the processor with a collection that takes 45 ms of all threads.
 */
export function allowGrowthAtStart(): void {
  setFlagsFromString(`--heap-growing-percent=${garbagePercentAtStart}`);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}
